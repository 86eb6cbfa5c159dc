import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { openSandbox } from "../../shared/app/open-sandbox.ts";
import { absPath } from "../../shared/base/paths.ts";
import { agentSteps } from "../support/agent-steps.ts";
import { eventually } from "../support/eventually.ts";
import { type FeatureRepo, makeFeatureRepo } from "../support/feature-repo.ts";
import { goodFiles, invoiceSpec, redReply } from "../support/invoice-replies.ts";
import { killRunner, type Moment, readText } from "../support/kill-moment.ts";
import { type CliDocument, orchJson, startCli } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { sourceRoot } from "../support/source-root.ts";
import { treeOf } from "../support/tree-of.ts";

const slice = "features/Billing/Invoice";
const handler = `${slice}/Handler.py`;
const specStep: Step = { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } };
const task = "Implement features/Billing/Invoice/spec\\.md";
const sentBack = "What was wrong with the last attempt";

const good = inSlice(goodFiles);
const red = inSlice(JSON.parse(redReply).files);

function inSlice(files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`${slice}/${name}`, text]));
}

/** Worker and tests may only run in the sandbox, wherever this machine has one. */
async function confinement({ repo }: FeatureRepo): Promise<"required" | "preferred"> {
  const env = Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
  const places = { installRoot: absPath(sourceRoot), stateDir: absPath(path.join(repo.base, "probe")) };
  await using sandbox = openSandbox({ process: createProcess(), places, env });
  return (await sandbox.state(new AbortController().signal)).kind === "on" ? "required" : "preferred";
}

/** A feature as `new` leaves it, uncommitted, and an agent that asks the scripted server. */
async function agentRepo(baseUrl: string): Promise<FeatureRepo> {
  const work = await makeFeatureRepo(baseUrl);
  const sandbox = await confinement(work);
  const settings = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
  const workers = { cheap: { client: "pi", model: "direct/scripted" } };
  fs.writeFileSync(settings, JSON.stringify({ sandbox, models: { providers: { direct: { baseUrl } } }, workers }));
  const made = await orchJson(work.place, "new", "Billing/Invoice", "Totals");
  assert.equal(made.code, 0, JSON.stringify(made));
  await work.trust();
  return work;
}

const doIt = (work: FeatureRepo, ...more: string[]): Promise<CliDocument> =>
  orchJson(work.place, "do", "--worker", "cheap", ...more);

/** What a person sees: every byte outside of Orch's own folder, branches, index and HEAD. */
async function checkout({ repo }: FeatureRepo): Promise<readonly string[]> {
  return (await treeOf(repo)).filter((line) => !line.startsWith(".orch"));
}

async function nothingLeft(work: FeatureRepo): Promise<void> {
  await eventually("nothing runs any more", () => processesIn(work.repo.base).length === 0, 60_000);
  const rows = await orchJson(work.place, "clean", "--dry-run");
  assert.doesNotMatch(JSON.stringify(rows.data), /Invoice/, "no worktree is left");
}

interface Watched extends AsyncDisposable {
  readonly work: FeatureRepo;
  readonly server: ScriptedModelServer;
  /** What happens to the checkout between the agent's writing and its last words. */
  meanwhile(what: () => Promise<unknown>): void;
}

/** An agent that does the whole task, while something else happens to the checkout. */
async function workingAgent(): Promise<Watched> {
  let happens: () => Promise<unknown> = () => Promise.resolve();
  const [write, report] = agentSteps(task, good);
  assert.ok(write !== undefined && report !== undefined);
  const after = async (): Promise<void> => void (await happens());
  const server = await startScriptedModelServer({ steps: [specStep, write, { ...report, after }] });
  const work = await agentRepo(server.baseUrl);
  return {
    work,
    server,
    meanwhile: (what) => (happens = what),
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("e2e: do with an agent, offline @slow", function () {
  this.timeout(600_000);

  it("a red test goes back into its session, the second attempt is brought in, committed and pushed", async () => {
    await using server = await startScriptedModelServer({
      steps: [specStep, ...agentSteps(sentBack, { [handler]: good[handler] }), ...agentSteps(task, red)],
    });
    await using work = await agentRepo(server.baseUrl);
    const { repo, place } = work;
    await repo.write("README.md", "# mine, not committed\n");
    // Only the checkout has it: the tests of the worktree are started with it all the same.
    execFileSync("python3", ["-m", "venv", "--system-site-packages", "--without-pip", repo.path(".venv")]);

    const done = await doIt(work);
    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done, undefined, 1));
    assert.deepEqual(
      done.data.attempts.map((one: { worker: string; verdict: string }) => [one.worker, one.verdict]),
      [
        ["cheap", "fail"],
        ["cheap", "pass"],
      ],
    );
    const log = (await repo.read(`.orch/runs/${done.data.run}/events.jsonl`)) ?? "";
    assert.match(log, /"kind":"retry","sameSession":true/);
    const ran = (await repo.read(`.orch/runs/${done.data.run}/Invoice/attempt-2/checks.log`)) ?? "";
    assert.match(ran, new RegExp(`^\\$ ${repo.path(".venv/bin/python")} -m pytest`));
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.equal(await repo.git("status", "--porcelain"), " M README.md");
    assert.equal(await repo.git("show", `HEAD:${handler}`), (goodFiles["Handler.py"] ?? "").trimEnd());
    assert.equal(
      await repo.gitIn(repo.remote ?? "", "rev-parse", "Billing/Invoice"),
      await repo.git("rev-parse", "HEAD"),
    );
    await nothingLeft(work);
    assert.equal(await repo.git("for-each-ref", "refs/orch/kept", "refs/orch/wt", "refs/orch/base"), "");
    const again = await orchJson(place, "do");
    assert.equal(again.data?.state, "implemented", JSON.stringify(again));
  });

  it("a write outside the slice and an edited spec.md fail, and the checkout is as it was, byte for byte", async () => {
    const wrong = {
      ...good,
      "features/Billing/helper.py": "X = 1\n",
      [`${slice}/spec.md`]: "# Invoice\n\nAnything.\n",
    };
    await using server = await startScriptedModelServer({ steps: [specStep, ...agentSteps("", wrong)] });
    await using work = await agentRepo(server.baseUrl);
    const before = await checkout(work);

    const failed = await doIt(work, "--max-attempts", "1");
    assert.deepEqual([failed.code, failed.data?.state], [1, "failed"], JSON.stringify(failed, undefined, 1));
    const found = failed.data.findings.map((one: { rule: string; path: string }) => `${one.rule} ${one.path}`);
    assert.ok(found.includes("out_of_scope features/Billing/helper.py"), JSON.stringify(found));
    assert.ok(found.includes(`protected_touched ${slice}/spec.md`), JSON.stringify(found));
    assert.deepEqual(await checkout(work), before);
    assert.equal(failed.next[0], `orch apply ${failed.data.change}`);
    await nothingLeft(work);
    const tried = await orchJson(work.place, "apply", failed.data.change, "--dry-run");
    assert.equal(tried.code, 0, JSON.stringify(tried));
  });

  it("a person's edit parks it with nothing written; it parks again, and goes on once the edit is taken back", async () => {
    await using watched = await workingAgent();
    const { work, server } = watched;
    const { repo, place } = work;
    const old = (await repo.read(handler)) ?? "";
    const mine = `${old}\n# a thought of mine\n`;
    watched.meanwhile(() => repo.write(handler, mine));
    const before = await checkout(work);

    const parked = await doIt(work);
    assert.deepEqual([parked.code, parked.error?.code], [4, "run.parked"], JSON.stringify(parked, undefined, 1));
    assert.match(parked.error?.message ?? "", /Handler\.py/);
    assert.match(parked.error?.hint ?? "", /orch resume r-.*orch cancel r-/);
    const run: string = parked.data.run;
    const asked = server.calls.length;
    await repo.write(handler, old);
    assert.deepEqual(await checkout(work), before, "nothing but the edit was in the checkout");

    await repo.write(handler, mine);
    const still = await orchJson(place, "resume", run);
    assert.deepEqual([still.code, still.error?.code], [4, "run.parked"], JSON.stringify(still, undefined, 1));
    assert.equal(await repo.read(handler), mine);

    await repo.write(handler, old);
    const done = await orchJson(place, "resume", run);
    assert.equal(done.code, 0, JSON.stringify(done, undefined, 1));
    assert.equal(server.calls.length, asked, "what was accepted is not done again");
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.equal(await repo.git("show", `HEAD:${handler}`), (goodFiles["Handler.py"] ?? "").trimEnd());
    assert.equal(await repo.git("status", "--porcelain"), "");
    await nothingLeft(work);
  });

  it("a parked run that is cancelled leaves the edit, keeps the change, and do starts from the edit", async () => {
    await using watched = await workingAgent();
    const { work } = watched;
    const { repo, place } = work;
    const mine = `${slice}/Notes.md`;
    watched.meanwhile(() => repo.write(mine, "Ask about rounding.\n"));

    const parked = await doIt(work);
    assert.deepEqual([parked.code, parked.error?.code], [4, "run.parked"], JSON.stringify(parked, undefined, 1));
    const rows = await orchJson(place, "clean", "--dry-run");
    assert.match(JSON.stringify(rows.data), /of Invoice belongs to a run that can go on: orch resume r-/);
    const cancelled = await orchJson(place, "cancel", parked.data.run);
    assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
    assert.equal(await repo.read(mine), "Ask about rounding.\n");
    assert.match((await repo.read(handler)) ?? "", /NotImplementedError/, "the scaffold, as it was");
    await nothingLeft(work);
    const tried = await orchJson(place, "apply", `${parked.data.run}/Invoice/attempt-1`, "--dry-run");
    assert.equal(tried.code, 0, JSON.stringify(tried));

    const done = await doIt(work);
    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done, undefined, 1));
    assert.equal(await repo.git("show", `HEAD:${mine}`), "Ask about rounding.");
  });

  it("on another branch nothing is committed: it parks, resume says where to go, and goes on from there", async () => {
    await using watched = await workingAgent();
    const { work } = watched;
    const { repo, place } = work;
    watched.meanwhile(() => repo.git("switch", "-q", "main"));

    const parked = await doIt(work);
    const away = /Billing\/Invoice is not checked out any more, main is/;
    const back = /Go back with: git switch Billing\/Invoice, then: orch resume r-/;
    assert.deepEqual([parked.code, parked.error?.code], [4, "run.parked"], JSON.stringify(parked, undefined, 1));
    assert.match(parked.error?.message ?? "", away);
    assert.match(parked.error?.hint ?? "", back);
    const run: string = parked.data.run;
    await repo.write("other.txt", "of another task\n");
    const still = await orchJson(place, "resume", run);
    assert.deepEqual([still.code, still.error?.code], [4, "run.parked"], JSON.stringify(still, undefined, 1));
    assert.match(still.error?.message ?? "", away);
    assert.match(still.error?.hint ?? "", back);
    assert.equal(await repo.git("log", "--format=%s", "main"), await repo.git("log", "--format=%s", "Billing/Invoice"));

    await repo.git("switch", "-q", "Billing/Invoice");
    const done = await orchJson(place, "resume", run);
    assert.equal(done.code, 0, JSON.stringify(done, undefined, 1));
    assert.equal(await repo.git("show", `Billing/Invoice:${handler}`), (goodFiles["Handler.py"] ?? "").trimEnd());
    assert.equal(await repo.read("other.txt"), "of another task\n");
    await nothingLeft(work);
  });

  it("on another branch a parked run is cancelled, and the checkout there is as it was", async () => {
    await using watched = await workingAgent();
    const { work } = watched;
    const { repo, place } = work;
    watched.meanwhile(() => repo.git("switch", "-q", "main"));
    const parked = await doIt(work);
    await repo.write("other.txt", "of another task\n");
    // Its worktree goes first, with what is kept of it in a commit of nobody's.
    assert.equal((await orchJson(place, "clean", "--all", "--yes")).code, 0);
    const before = await checkout(work);
    const cancelled = await orchJson(place, "cancel", parked.data.run);
    assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
    assert.match(cancelled.summary, /^r-\S+ cancelled:/);
    assert.deepEqual(await checkout(work), before);
    await nothingLeft(work);
    const { entries } = (await orchJson(place, "restore")).data;
    const stored = entries.find(({ what }: { what: string }) => what.startsWith("worktree of Invoice"))?.id ?? "";
    assert.equal((await orchJson(place, "restore", stored)).code, 0, JSON.stringify(entries));
    assert.equal(await repo.read(`.orch/wt/Invoice/${handler}`), goodFiles["Handler.py"]);
  });

  it("cancelled while it works it leaves no process and the checkout as it was", async () => {
    await using server = await startScriptedModelServer({
      steps: [specStep, agentSteps(task, good)[0] ?? {}, { match: { user: task }, fail: { kind: "hang" } }],
    });
    await using work = await agentRepo(server.baseUrl);
    const before = await checkout(work);
    const asked = server.calls.length;

    const running = startCli(work.place, "do", "--worker", "cheap", "--json");
    await eventually("the agent has written and is asked again", () => server.calls.length === asked + 2, 60_000);
    const cancelled = await orchJson(work.place, "cancel");
    assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
    assert.equal((await running.end).code, 130);
    assert.deepEqual(await checkout(work), before);
    await nothingLeft(work);
  });

  /** The agent has written the first file, and waits for its model. */
  const whenAsked = (calls: () => number): Moment => ({
    name: "the agent is asked again",
    come: () => calls() > 0,
    laterMs: 0,
  });

  it("a runner killed while the agent works: resume takes its worktree up, and the feature is committed once", async () => {
    let asked = 0;
    const [write, report] = agentSteps(task, good);
    assert.ok(write !== undefined && report !== undefined);
    const again = async (): Promise<void> => void (asked += 1);
    await using server = await startScriptedModelServer({
      steps: [specStep, write, { match: { user: task }, times: 1, after: again, fail: { kind: "hang" } }, report],
    });
    await using work = await agentRepo(server.baseUrl);
    const { repo, place } = work;
    const before = await checkout(work);
    const killed = await killRunner(
      repo,
      place,
      ["do", "--worker", "cheap"],
      whenAsked(() => asked),
    );
    assert.equal(killed.killed, true);
    assert.deepEqual(await checkout(work), before);
    const done = await orchJson(place, "resume", killed.run);
    assert.equal(done.code, 0, JSON.stringify(done, undefined, 1));
    assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice");
    assert.equal(await repo.git("show", `HEAD:${handler}`), (goodFiles["Handler.py"] ?? "").trimEnd());
    const log = readText(path.join(killed.dir, "events.jsonl"));
    assert.deepEqual(
      log.match(/"type":"attempt\.started"/g)?.length,
      2,
      "the attempt that was cut short counts for its number only",
    );
    await nothingLeft(work);
  });

  it("a runner killed while the agent works: cancel leaves the checkout as it was, and nothing of the agent", async () => {
    let asked = 0;
    const [write] = agentSteps(task, good);
    assert.ok(write !== undefined);
    const again = async (): Promise<void> => void (asked += 1);
    await using server = await startScriptedModelServer({
      steps: [specStep, write, { match: { user: task }, after: again, fail: { kind: "hang" } }],
    });
    await using work = await agentRepo(server.baseUrl);
    const before = await checkout(work);
    const killed = await killRunner(
      work.repo,
      work.place,
      ["do", "--worker", "cheap"],
      whenAsked(() => asked),
    );
    assert.equal(killed.killed, true);
    const cancelled = await orchJson(work.place, "cancel", killed.run);
    assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
    assert.deepEqual(await checkout(work), before);
    await nothingLeft(work);
    const stored = await orchJson(work.place, "restore");
    assert.match(JSON.stringify(stored.data.entries), /Invoice/, "what the agent wrote can be had back");
  });

  it("a worker that is not there is refused before anything changes", async () => {
    await using server = await startScriptedModelServer({ steps: [specStep] });
    await using work = await agentRepo(server.baseUrl);
    const before = await checkout(work);
    const unknown = await orchJson(work.place, "do", "--worker", "nobody");
    assert.deepEqual([unknown.code, unknown.error?.code], [2, "worker.unknown"], JSON.stringify(unknown));
    assert.match(unknown.error?.message ?? "", /no worker nobody/);
    assert.match(unknown.error?.hint ?? "", /sonnet.*orch doctor/);
    const other = await orchJson(work.place, "do", "--worker", "haiku");
    assert.deepEqual([other.code, other.error?.code], [5, "worker.missing"], JSON.stringify(other));
    assert.match(other.error?.hint ?? "", /^Install it: npm install -g \S+, or name another with --worker$/);
    assert.deepEqual(await checkout(work), before);
  });
});
