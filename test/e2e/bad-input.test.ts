import assert from "node:assert/strict";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { type FeatureRepo, makeFeatureRepo, projectFiles } from "../support/feature-repo.ts";
import { goodFiles, goodReply, invoiceSpec } from "../support/invoice-replies.ts";
import { type CliDocument, orch, orchJson, startCli } from "../support/orch-cli.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import type { TempRepoOptions } from "../support/temp-repo.ts";
import { treeOf } from "../support/tree-of.ts";

const specStep: Step = { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } };
const qaStep: Step = { match: { system: "reads specifications" }, reply: { text: "VALID" } };
const goodStep: Step = { match: { system: "backend engineer" }, reply: { text: goodReply } };

interface Bench extends AsyncDisposable {
  readonly work: FeatureRepo;
  readonly calls: readonly { readonly user: string }[];
}

async function bench(steps: readonly Step[] = [specStep, goodStep], options: TempRepoOptions = {}): Promise<Bench> {
  const server = await startScriptedModelServer({ steps: [qaStep, ...steps] });
  const work = await makeFeatureRepo(server.baseUrl, options);
  return {
    work,
    calls: server.calls,
    async [Symbol.asyncDispose]() {
      await work[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A feature that is ready for `do`, trusted. */
async function ready(steps?: readonly Step[], options?: TempRepoOptions): Promise<Bench> {
  const made = await bench(steps, options);
  const { work } = made;
  assert.equal((await orchJson(work.place, "new", "Billing/Invoice", "Totals")).code, 0);
  await work.trust();
  return made;
}

/** Refused as said, with a next step, and not a byte of tree, branches or index is another. */
async function refused(work: FeatureRepo, args: readonly string[], code: number, error: string): Promise<CliDocument> {
  const before = await treeOf(work.repo);
  const document = await orchJson(work.place, ...args);
  assert.deepEqual([document.code, document.error?.code], [code, error], JSON.stringify(document));
  assert.match(document.error?.hint ?? "", /\S/);
  assert.deepEqual(await treeOf(work.repo), before);
  return document;
}

describe("e2e: bad input is refused, and nothing is lost @slow", function () {
  this.timeout(600_000);

  it("a broken .features.json is named with its line", async () => {
    await using made = await bench();
    await made.work.repo.commit("registry", { ".features.json": '{\n  "known_features": {\n' });
    const { error } = await refused(made.work, ["new", "Billing/Invoice", "x"], 5, "registry.invalid");
    assert.match(error?.message ?? "", /\.features\.json:\d+/);
  });

  it("conflict markers in .features.json are named", async () => {
    await using made = await bench();
    await made.work.repo.commit("registry", { ".features.json": "{\n<<<<<<< HEAD\n}\n=======\n}\n>>>>>>> x\n" });
    const { error } = await refused(made.work, ["new", "Billing/Invoice", "x"], 5, "registry.invalid");
    assert.match(error?.message ?? "", /conflict markers/);
  });

  it("a spec that is missing", async () => {
    await using made = await ready();
    const { repo } = made.work;
    await repo.git("add", "-A");
    await repo.git("rm", "-qf", "--", "features/Billing/Invoice/spec.md");
    await refused(made.work, ["do"], 5, "spec.missing");
  });

  it("a target nobody knows, with what was meant", async () => {
    await using made = await ready();
    const { error } = await refused(made.work, ["do", "Billing/Invoise"], 2, "target.unknown");
    assert.match(error?.hint ?? "", /Billing\/Invoice/);
  });

  it("a dirty tree on main names its files", async () => {
    await using made = await bench();
    await made.work.repo.write("notes.txt", "mine\n");
    await made.work.repo.write("README.md", "# changed\n");
    const { error } = await refused(made.work, ["new", "Billing/Invoice", "x"], 5, "tree.dirty");
    assert.match(error?.message ?? "", /README\.md.*notes\.txt|notes\.txt.*README\.md/);
  });

  it("a detached HEAD, a branch without a commit, a rebase in the middle, no identity", async () => {
    await using detached = await bench();
    await detached.work.repo.git("checkout", "-q", "--detach");
    await refused(detached.work, ["new", "Billing/Invoice", "x"], 5, "tree.detached");

    await using unborn = await bench(undefined, { firstCommit: false, remote: false });
    await refused(unborn.work, ["new", "Billing/Invoice", "x"], 5, "tree.unborn");

    await using rebasing = await bench();
    const { repo } = rebasing.work;
    await repo.commit("ours", { "README.md": "# ours\n" });
    await repo.git("switch", "-qc", "side", "HEAD~1");
    await repo.commit("theirs", { "README.md": "# theirs\n" });
    assert.notEqual((await repo.tryGit("rebase", "main")).code, 0);
    await refused(rebasing.work, ["new", "Billing/Invoice", "x"], 5, "tree.in-progress");

    await using nameless = await ready();
    await writeFile(
      path.join(nameless.work.repo.home, ".gitconfig"),
      "[init]\n\tdefaultBranch = main\n[user]\n\tuseConfigOnly = true\n",
    );
    await refused(nameless.work, ["do"], 5, "git.no-identity");
  });

  it("no repository, and a bare one", async () => {
    await using made = await bench();
    const { repo, place } = made.work;
    const outside = await orchJson({ ...place, cwd: repo.home }, "new", "Billing/Invoice", "x");
    assert.deepEqual([outside.code, outside.error?.code], [5, "git.not-a-repository"]);
    const bare = await orchJson({ ...place, cwd: repo.remote ?? "" }, "new", "Billing/Invoice", "x");
    assert.deepEqual([bare.code, bare.error?.code], [5, "git.bare"]);
  });

  it("without a remote the work is committed and it says so", async () => {
    await using made = await ready(undefined, { remote: false });
    const done = await orchJson(made.work.place, "do");
    assert.deepEqual([done.code, done.data.pushed], [0, false], JSON.stringify(done));
    const merged = await orchJson(made.work.place, "merge");
    assert.deepEqual([merged.code, merged.data.merged, merged.data.pushed], [0, true, false], JSON.stringify(merged));
  });

  it("a remote that rejects the push leaves both branches, says so, and the next merge goes through", async () => {
    await using made = await ready();
    const { repo, place } = made.work;
    const hook = path.join(repo.remote ?? "", "hooks", "pre-receive");
    await mkdir(path.dirname(hook), { recursive: true });
    await writeFile(hook, "#!/bin/sh\necho not today >&2\nexit 1\n");
    await chmod(hook, 0o755);
    const done = await orchJson(place, "do");
    assert.deepEqual([done.code, done.data.pushed], [0, false], JSON.stringify(done));
    assert.deepEqual(done.next, ["git push origin Billing/Invoice", "orch merge"]);
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    const main = await repo.git("rev-parse", "main");
    const merged = await orchJson(place, "merge");
    assert.deepEqual([merged.ok, merged.error?.code], [false, "git.push-rejected"], JSON.stringify(merged));
    assert.deepEqual(
      [await repo.git("rev-parse", "main"), await repo.git("branch", "--show-current")],
      [main, "Billing/Invoice"],
    );
    await chmod(hook, 0o644);
    assert.equal((await orchJson(place, "merge")).code, 0);
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
  });

  it("spaces and unicode in the repository's path, CRLF in the registry", async () => {
    await using made = await bench(undefined, { folder: "mein Prüfstand ☂" });
    const { repo, place } = made.work;
    await repo.commit("registry", { ".features.json": '{\r\n  "features_dir": "features",\r\n  "mine": 1\r\n}\r\n' });
    assert.equal((await orchJson(place, "new", "Billing/Invoice", "Totals")).code, 0);
    assert.match((await repo.read(".features.json")) ?? "", /"mine": 1,?\r\n/);
    await made.work.trust();
    const done = await orchJson(place, "do");
    assert.equal(done.code, 0, JSON.stringify(done));
    assert.equal((await orchJson(place, "merge")).code, 0);
  });

  it("a binary file in the slice stays byte for byte", async () => {
    await using made = await ready();
    const { repo, place } = made.work;
    const bytes = Uint8Array.from({ length: 4096 }, (_, i) => (i * 7) % 256);
    await repo.write("features/Billing/Invoice/logo.bin", bytes);
    const done = await orchJson(place, "do");
    assert.equal(done.code, 0, JSON.stringify(done));
    assert.deepEqual(Uint8Array.from((await repo.bytes("features/Billing/Invoice/logo.bin")) ?? []), bytes);
    assert.equal(await repo.git("status", "--porcelain"), "");
  });

  it("a reply with paths outside the slice writes nothing there, and is sent back", async () => {
    const outside = { "../../../evil.py": "x = 1\n", "/etc/evil.py": "x = 1\n", "..\\evil.py": "x = 1\n" };
    const hostile = JSON.stringify({ files: { ...goodFiles, ...outside } });
    await using made = await ready([specStep, { match: { system: "backend engineer" }, reply: { text: hostile } }]);
    const { repo, place } = made.work;
    const before = await treeOf(repo);
    const done = await orchJson(place, "do", "--max-attempts", "2");
    assert.deepEqual([done.code, done.data.state], [1, "failed"], JSON.stringify(done));
    assert.deepEqual(await treeOf(repo), before);
    assert.equal(
      done.data.findings.some((one: { severity: string }) => one.severity === "FAIL"),
      true,
    );
  });

  it("a 5 MB reply is handled, and the tree is as it was", async () => {
    const huge = JSON.stringify({
      files: {
        ...goodFiles,
        "Handler.py": `${goodFiles["Handler.py"]}${"# padding of a reply that never ends\n".repeat(140_000)}`,
      },
    });
    await using made = await ready([specStep, { match: { system: "backend engineer" }, reply: { text: huge } }]);
    const before = await treeOf(made.work.repo);
    const done = await orchJson(made.work.place, "do", "--max-attempts", "1");
    assert.equal(done.ok, false);
    assert.deepEqual(await treeOf(made.work.repo), before);
  });

  it("a failed do leaves the tree as it was, and apply brings the last attempt's change", async () => {
    const red = JSON.stringify({
      files: { ...goodFiles, "Handler.py": (goodFiles["Handler.py"] ?? "").replace("line.quantity * ", "") },
    });
    await using made = await ready([specStep, { match: { system: "backend engineer" }, reply: { text: red } }]);
    const { repo, place } = made.work;
    const before = await treeOf(repo);
    const done = await orchJson(place, "do", "--max-attempts", "2");
    assert.deepEqual([done.code, done.data.state, done.data.attempts.length], [1, "failed", 2], JSON.stringify(done));
    assert.deepEqual(await treeOf(repo), before);
    assert.match(done.data.feedback, /feedback\.md$/);
    const applied = await orchJson(place, "apply", done.data.change);
    assert.equal(applied.code, 0, JSON.stringify(applied));
    assert.match((await repo.read("features/Billing/Invoice/Handler.py")) ?? "", /sum\(line\.unit_cents/);
  });

  it("a second run at once is refused with the run that holds the repository", async () => {
    await using made = await ready([specStep, { match: { system: "backend engineer" }, fail: { kind: "hang" } }]);
    const { work } = made;
    const first = startCli(work.place, "do");
    await first.seen(/asking direct\/scripted/);
    const second = await orchJson(work.place, "do");
    assert.deepEqual([second.code, second.error?.code], [5, "run.locked"], JSON.stringify(second));
    assert.match(second.error?.hint ?? "", /orch cancel r-/);
    const cancelled = await orchJson(work.place, "cancel");
    assert.equal(cancelled.ok, true, JSON.stringify(cancelled));
    assert.equal((await first.end).code, 130);
  });

  it("Ctrl-C once ends the attempt, leaves the tree as it was and the run resumable; resume finishes it", async () => {
    await using made = await ready([
      specStep,
      { match: { system: "backend engineer" }, times: 1, fail: { kind: "hang" } },
      goodStep,
    ]);
    const { repo, place } = made.work;
    const before = await treeOf(repo);
    const running = startCli(place, "do");
    await running.seen(/asking direct\/scripted/);
    running.kill("SIGINT");
    const end = await running.end;
    assert.equal(end.code, 130, `${end.stdout}\n${end.stderr}`);
    assert.deepEqual(await treeOf(repo), before);
    assert.match((await orch(place, "status")).stdout, /resume/);
    const resumed = await orchJson(place, "resume");
    assert.deepEqual([resumed.code, resumed.data?.state], [0, "accepted"], JSON.stringify(resumed));
    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
  });

  it("a rule file of the project that is broken is named, and the rest still runs", async () => {
    await using made = await bench(undefined, {
      files: { ...projectFiles, ".orch/rules/python/own.json": '{ "set": "python", "checks": [ { "id": 3 } ] }\n' },
    });
    const { work } = made;
    assert.equal((await orchJson(work.place, "new", "Billing/Invoice", "Totals")).code, 0);
    await work.trust();
    const done = await orch(work.place, "do");
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    assert.match(done.stdout, /\.orch\/rules\/python\/own\.json:\d+/);
  });
});
