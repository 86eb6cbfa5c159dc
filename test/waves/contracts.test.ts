import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { type ContractRepo, makeContractRepo, net, steps } from "../support/contract-repo.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

describe("e2e: contracts from run to final @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;
  let work: ContractRepo;
  let wave: CliDocument;

  before(async () => {
    server = await startScriptedModelServer({ steps });
    work = await makeContractRepo(server.baseUrl);
    await work.trust();
  });
  after(async () => {
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const orch = (...args: readonly string[]): Promise<CliDocument> => orchJson(work.place, ...args);

  it("a wave: passes, passes on feedback, escalates after tampering, BLOCKED, SKIP, built on another", async () => {
    const files = work.paths("T1", "T2", "T3", "T4", "T5", "T6");
    wave = await orch("run", "--title", "Tools", "--parallel", "3", ...files);
    assert.equal(wave.code, 3, JSON.stringify(wave));
    const rows = Object.fromEntries(
      wave.data.contracts.map((row: Record<string, unknown>) => [
        row["id"],
        [row["phase"], row["attempts"], row["workers"]],
      ]),
    );
    assert.deepEqual(rows, {
      T1: ["awaiting-review", 1, ["direct/cheap"]],
      T2: ["awaiting-review", 2, ["direct/cheap"]],
      T3: ["awaiting-review", 2, ["direct/cheap", "direct/strong"]],
      T4: ["blocked", 0, []],
      T5: ["awaiting-review", 1, ["direct/cheap"]],
      T6: ["skipped", 0, []],
    });
    assert.match(wave.summary, /^Tools: 6 contracts, 4 passed, 1 blocked, 1 skipped$/);
    const text: string[] = wave.data.text;
    assert.ok(text.some((line) => line.includes("fix the contract and re-run: orch run")));
    assert.ok(text.some((line) => line.includes("orch dispatch .orch/contracts/T4.json --worker ID")));
    assert.ok(text.some((line) => line.includes("take over: orch review T4 --take-over")));
  });

  it("nothing of it is in the tree, and nothing is left running", async () => {
    assert.equal(await work.repo.git("status", "--porcelain"), "?? .orch/");
    assert.equal(await work.repo.git("stash", "list"), "");
    assert.deepEqual(processesIn(work.repo.base), []);
  });

  it("merge refuses before a logged review, naming the next keystroke", async () => {
    const refused = await orch("merge", "T1");
    assert.deepEqual([refused.code, refused.error?.code], [4, "review.missing"]);
    assert.match(refused.error?.hint ?? "", /orch review T1 --accept/);
    assert.equal(await work.repo.git("status", "--porcelain"), "?? .orch/");
  });

  it("a review shows the change, the gates and the checklist, then closes with reviewer and hash", async () => {
    const shown = await orch("review", "T1");
    assert.equal(shown.code, 0, JSON.stringify(shown));
    assert.match(shown.data.checklist, /review-checklist\.md$/);
    assert.match(shown.data.diff, /^\.orch\/runs\/r-.*\/T1\/attempt-1\/diff\.patch$/);
    const text: string[] = shown.data.text;
    assert.ok(
      text.some((line) => line.startsWith("    +") && line.includes("text.strip()")),
      text.join("\n"),
    );
    assert.ok(text.some((line) => /^ {2}gates: .*guard\.json$/.test(line)));
    const accepted = await orch("review", "T1", "--accept");
    assert.equal(accepted.code, 0, JSON.stringify(accepted));
    assert.equal(accepted.data.reviewer, "Test Person <test@example.com>");
    assert.equal(accepted.data.diffHash, wave.data.contracts[0].diffHash);
    for (const id of ["T2", "T3", "T5"]) assert.equal((await orch("review", id, "--accept")).code, 0);
  });

  it("a conflict leaves all as it was", async () => {
    const mine = "def net(gross: int) -> int:\n    return gross - 1\n";
    await work.repo.write("src/price.py", mine);
    const before = await work.repo.git("status", "--porcelain");
    const refused = await orch("merge", "T1", "T2");
    assert.deepEqual([refused.code, refused.error?.code], [4, "contract.conflict"], JSON.stringify(refused));
    assert.equal(await work.repo.git("status", "--porcelain"), before);
    assert.equal(await work.repo.read("src/price.py"), mine);
    await work.repo.git("checkout", "-q", "--", "src/price.py");
  });

  it("checks that go red after a merge take that one back, what was merged before it stays", async () => {
    await work.repo.write("src/__init__.py", 'raise RuntimeError("broken meanwhile")\n');
    const red = await orch("merge", "T1");
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.match(red.summary, /^T1 was taken back: trim failed/);
    assert.equal(await work.repo.git("status", "--porcelain"), " M src/__init__.py\n?? .orch/");
    await work.repo.git("checkout", "-q", "--", "src/__init__.py");
  });

  it("a change that the red checks wrote over stays in the tree, and that is said", async () => {
    const at = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
    const settings = await readFile(at, "utf8");
    await writeFile(at, JSON.stringify({ ...JSON.parse(settings), sandbox: "off" }));
    const writes = 'import pathlib\n\npathlib.Path("src/slug.py").write_text("over")\nraise RuntimeError("red")\n';
    await work.repo.write("src/__init__.py", writes);
    const red = await orch("merge", "T1");
    await writeFile(at, settings);
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.match(red.summary, /^T1 could not be taken back \(.*src\/slug\.py.*\) and still lies in the tree: /);
    assert.deepEqual([red.data.left, red.data.takenBack], ["T1", undefined]);
    assert.ok(red.next.includes("git diff"), red.next.join());
    assert.equal(await work.repo.read("src/slug.py"), "over");
    await work.repo.git("checkout", "-q", "--", "src");
  });

  it("checks that overwrite what is not committed take the change back, and restore has it", async () => {
    const at = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
    const settings = await readFile(at, "utf8");
    // In a sandbox it could not be written.
    await writeFile(at, JSON.stringify({ ...JSON.parse(settings), sandbox: "off" }));
    await work.repo.write("src/__init__.py", 'import pathlib\n\npathlib.Path("notes.txt").write_text("wiped")\n');
    await work.repo.write("notes.txt", "mine\n");
    const red = await orch("merge", "T1");
    await writeFile(at, settings);
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.match(red.summary, /^T1 was taken back: notes\.txt, which is not committed, changed while the checks ran/);
    assert.match(red.next[0] ?? "", /^orch restore t-/);
    assert.equal(await work.repo.git("status", "--porcelain"), " M src/__init__.py\n?? .orch/\n?? notes.txt");
    await rm(work.repo.path("notes.txt"));
    const back = await orch("restore", String(red.next[0]).split(" ")[2] ?? "");
    assert.deepEqual([back.code, await work.repo.read("notes.txt")], [0, "mine\n"], JSON.stringify(back));
    await rm(work.repo.path("notes.txt"));
    await work.repo.git("checkout", "-q", "--", "src/__init__.py");
  });

  it("checks that put a file back which git is told not to look at cannot drop the edit in it", async () => {
    const at = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
    const settings = await readFile(at, "utf8");
    await writeFile(at, JSON.stringify({ ...JSON.parse(settings), sandbox: "off" }));
    await work.repo.write("src/__init__.py", 'import pathlib\n\npathlib.Path("README.md").write_text("# tools\\n")\n');
    await work.repo.git("update-index", "--skip-worktree", "README.md");
    await work.repo.write("README.md", "# tools, mine\n");
    const red = await orch("merge", "T1");
    await writeFile(at, settings);
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.match(red.summary, /^T1 was taken back: README\.md, which is not committed, changed while the checks ran/);
    await rm(work.repo.path("README.md"));
    const back = await orch("restore", String(red.next[0]).split(" ")[2] ?? "");
    assert.deepEqual([back.code, await work.repo.read("README.md")], [0, "# tools, mine\n"], JSON.stringify(back));
    await work.repo.git("update-index", "--no-skip-worktree", "README.md");
    await work.repo.git("checkout", "-q", "--", "README.md", "src/__init__.py");
  });

  it("merged unstaged, one at a time, dependents on top; then final, once, over all of it", async () => {
    const merged = await orch("merge", "T1", "T2", "T3", "T5");
    assert.equal(merged.code, 0, JSON.stringify(merged));
    assert.equal(await work.repo.git("diff", "--cached", "--name-only"), "");
    assert.equal(await work.repo.git("diff", "--name-only"), "src/price.py\nsrc/slug.py\nsrc/table.py");
    assert.equal(await work.repo.read("src/price.py"), net);
    assert.match(String(await work.repo.read("src/slug.py")), /strip\(\).*replace\("\.", ""\)/);
    assert.equal((await orch("merge", "T1")).error?.code, "review.nothing");
    const done = await orch("final");
    assert.equal(done.code, 0, JSON.stringify(done));
    assert.deepEqual(done.data.checks, [{ name: "all tests", ok: true }]);
    assert.ok(done.data.checklist.length >= 4);
    assert.equal((await orch("final")).error?.code, "review.nothing");
  });

  it("status, log and report say what was done, what was rejected and why, and what is left", async () => {
    const status = await orch("status");
    const lines: string[] = status.data.text;
    assert.ok(
      lines.some((line) => /T1 {2}merged, 1 attempt by direct\/cheap/.test(line)),
      lines.join("\n"),
    );
    const report = await orch("report");
    const text: string[] = report.data.text;
    assert.ok(
      text.some((line) => /T2 attempt 1 by direct\/cheap: FAIL out_of_scope.*; then retry/.test(line)),
      text.join("\n"),
    );
    assert.ok(
      text.some((line) =>
        /T3 attempt 1 .*existing_test_touched tests\/test_table\.py.*escalate to direct\/strong/.test(line),
      ),
    );
    assert.ok(text.some((line) => /T4 {2}BLOCKED/.test(line)) && text.some((line) => /green over/.test(line)));
    const page = await orch("report", "--html");
    assert.match(String(await work.repo.read(".orch/runs/report.html")), /<h1>Orch report<\/h1>[\s\S]*T3/);
    assert.equal(page.code, 0);
    const log = await orch("log", wave.data.run);
    assert.ok(log.data.text.some((line: string) => /decision: escalate to direct\/strong/.test(line)));
  });
});
