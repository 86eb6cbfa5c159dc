import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type ContractRepo, makeContractRepo, steps, trimmed } from "../support/contract-repo.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const commented = trimmed.replace("    return", '    """Lower case, dashes for spaces."""\n    return');
const revised = {
  match: { user: "sends the change back" },
  reply: { text: JSON.stringify({ files: { "src/slug.py": commented } }) },
};

describe("e2e: reviews, revisions and prepared workers @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;

  before(async () => {
    server = await startScriptedModelServer({
      steps: [
        revised,
        ...steps.map((step) => ({ ...step, reply: { ...step.reply, usage: { input: 10, output: 10 } } })),
      ],
    });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  async function made(workers: Readonly<Record<string, unknown>> = {}): Promise<{
    readonly work: ContractRepo;
    readonly orch: (...args: readonly string[]) => Promise<CliDocument>;
  }> {
    const work = await makeContractRepo(server.baseUrl, workers);
    await work.trust();
    return { work, orch: (...args) => orchJson(work.place, ...args) };
  }

  it("REVISE: numbered items or nothing, at most two, and the next attempt goes on from the change", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    assert.equal((await orch("run", "--title", "One", "T1")).code, 0);
    await work.repo.write("items.md", "please mend it");
    const bad = await orch("review", "T1", "--revise", "items.md");
    assert.deepEqual([bad.code, bad.error?.code], [2, "review.items"]);
    await work.repo.write("items.md", "1. src/slug.py:2: no word about what it does. Done: one line says it\n");
    const first = await orch("review", "T1", "--revise", "items.md");
    assert.equal(first.code, 0, JSON.stringify(first));
    assert.match(String(await work.repo.read(".orch/runs/T1/feedback.md")), /1\. src\/slug\.py:2\n {3}Fault: no word/);
    assert.equal((await orch("merge", "T1")).error?.code, "review.closed");
    const again = await orch("dispatch", "T1", "--feedback", ".orch/runs/T1/feedback.md");
    assert.equal(again.code, 0, JSON.stringify(again));
    assert.deepEqual(
      again.data.contracts.map((row: Record<string, unknown>) => [row["phase"], row["added"], row["removed"]]),
      [["awaiting-review", 2, 1]],
    );
    assert.equal((await orch("review", "T1", "--revise", "items.md")).code, 0);
    assert.equal((await orch("dispatch", "T1", "--feedback", ".orch/runs/T1/feedback.md")).code, 0);
    const rejected = "  T1: revise by Test Person <test@example.com>: src/slug.py:2: no word about what it does.";
    const text: string[] = (await orch("report")).data.text;
    assert.deepEqual(
      text.filter((line) => line.includes("T1: revise")),
      [rejected, rejected],
    );
    const third = await orch("review", "T1", "--revise", "items.md");
    assert.deepEqual([third.code, third.error?.code], [4, "review.limit"]);
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.equal((await orch("merge", "T1")).code, 0);
    assert.equal(await work.repo.read("src/slug.py"), commented);
  });

  it("take-over closes the task as the lead's, and its last change can be had again", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    assert.equal((await orch("run", "--title", "One", "T1")).code, 0);
    const taken = await orch("review", "T1", "--take-over");
    assert.equal(taken.code, 0, JSON.stringify(taken));
    assert.equal((await orch("merge", "T1")).error?.code, "review.closed");
    const apply =
      taken.next
        .find((command) => command.startsWith("orch apply "))
        ?.split(" ")
        .slice(1) ?? [];
    assert.equal((await orch(...apply)).code, 0);
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
    assert.equal((await orch("restore")).data.entries.length > 0, true);
  });

  it("take-over after an accept stores the change, too, though its worktree was given back", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    assert.equal((await orch("run", "--title", "One", "T1")).code, 0);
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.deepEqual((await orch("restore")).data.entries, []);
    const taken = await orch("review", "T1", "--take-over");
    assert.equal(taken.code, 0, JSON.stringify(taken));
    const back = taken.next.find((command) => command.startsWith("orch restore ")) ?? "";
    assert.equal((await orch(...back.split(" ").slice(1))).code, 0, JSON.stringify(taken));
    assert.equal(await work.repo.read(".orch/wt/T1/src/slug.py"), trimmed);
    assert.equal(await work.repo.git("for-each-ref", "refs/orch/kept", "refs/orch/wt"), "");
  });

  it("a prepared place: worktree, prompt, a place of the machine; the guard judges what was left there", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    assert.deepEqual((await orch("guard", "T1")).error?.code, "contract.not-prepared");
    const prepared = await orch("prepare", "T1");
    assert.equal(prepared.code, 0, JSON.stringify(prepared));
    const { agent_prompt: prompt, folder } = prepared.data;
    assert.match(fs.readFileSync(prompt, "utf8"), /# Task: Trim slugs/);
    const slots = path.join(work.repo.env["XDG_STATE_HOME"] ?? "", "orch", "slots");
    const held = (): number =>
      fs
        .readdirSync(slots)
        .filter(
          (name) => name.endsWith(".json") && fs.readFileSync(path.join(slots, name), "utf8").includes('"prepared"'),
        ).length;
    assert.equal(held(), 1);
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    fs.writeFileSync(path.join(folder, "stray.txt"), "x");
    const red = await orch(
      "guard",
      "T1",
      "--reply",
      '{"status": "done", "summary": "did it", "files_changed": ["src/slug.py"]}',
    );
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.match(red.data.text[0], /FAIL.*stray\.txt is outside the allowed files/);
    assert.equal(held(), 0);
  });

  it("guard --reply - reads the final JSON from stdin; a pass waits for review", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    const guard = async (stdin: string): Promise<CliDocument> => {
      const { folder } = (await orch("prepare", "T1")).data;
      fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
      return await orchJson({ ...work.place, stdin }, "guard", "T1", "--reply", "-");
    };
    const blocked = await guard('{"status": "blocked", "summary": "the spec contradicts itself"}');
    assert.notEqual(blocked.code, 0, JSON.stringify(blocked));
    assert.match(blocked.data.text[0], /the spec contradicts itself/);
    const done = await guard('{"status": "done", "summary": "trims", "files_changed": ["src/slug.py"]}\n');
    assert.equal(done.code, 0, JSON.stringify(done));
    assert.deepEqual(
      done.data.contracts.map((row: Record<string, unknown>) => [row["id"], row["phase"]]),
      [["T1", "awaiting-review"]],
    );
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.equal((await orch("merge", "T1")).code, 0);
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
    assert.deepEqual(processesIn(work.repo.base), []);
  });

  it("a budget for the run stops before the call that would be too much: exit 6", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    const wave = await orch("run", "--title", "Dear", "--parallel", "1", "--budget", "0.3", "T1", "T2");
    assert.equal(wave.code, 6, JSON.stringify(wave));
    const rows = wave.data.contracts.map((row: Record<string, unknown>) => [row["id"], row["phase"], row["attempts"]]);
    assert.deepEqual(rows, [
      ["T1", "awaiting-review", 1],
      ["T2", "needs-lead", 0],
    ]);
    assert.match(wave.data.contracts[1].why, /the limit of 0\.3 USD is reached/);
  });

  it("two contracts that could meet in a file are not run beside each other: exit 3, nothing begun", async () => {
    const { work, orch } = await made();
    await using _repo = work;
    await work.put("T2", { allowed: ["src/**"] });
    const refused = await orch("run", "--title", "Two", "T1", "T2");
    assert.deepEqual([refused.code, refused.error?.code], [3, "scope.overlap"], JSON.stringify(refused));
    assert.match(refused.error?.message ?? "", /T1 and T2 may both change src\/slug\.py/);
    assert.equal(await work.repo.read(".orch/wt/T1/src/slug.py"), undefined);
  });

  it("a worker that cannot be used: at once for the lead, the run waits, and goes on once it is mended", async () => {
    const { work, orch } = await made({ absent: { client: "codex", command: "/nowhere/codex" } });
    await using _repo = work;
    await work.put("T1", { worker: "absent" });
    const wave = await orch("run", "--title", "Missing", "T1");
    assert.equal(wave.code, 4, JSON.stringify(wave));
    assert.match(
      wave.error?.hint ?? "",
      /^Install the client of absent: npm install -g \S+, or name another .*orch doctor --verbose\. Then go on with: orch resume r-/,
    );
    const { run } = (await orch("status")).data.runs[0];
    const log: string[] = (await orch("log", run)).data.text;
    assert.ok(
      log.some((line) => /take over: orch review T1 --take-over/.test(line)),
      log.join("\n"),
    );
    assert.ok(log.some((line) => /orch resume r-/.test(line)));
    assert.equal((await orch("cancel", run)).code, 0);
  });
});
