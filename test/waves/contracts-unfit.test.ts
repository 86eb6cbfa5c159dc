import assert from "node:assert/strict";
import type { ContractInput } from "../../shared/model/contract.ts";
import { type ContractRepo, makeContractRepo, steps } from "../support/contract-repo.ts";
import { type CliDocument, orch, orchJson } from "../support/orch-cli.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

/** What `check` fails, beside a worker that cannot be used where the fault is not the worker itself. */
const faults: readonly [rule: string, Partial<ContractInput>][] = [
  ["contract.unfilled", { goal: "<what is different afterwards>" }],
  ["contract.acceptance-missing", { acceptance: [] }],
  ["contract.worker-unknown", { worker: "nobody" }],
  ["contract.worker-features", { worker: "builtin/template" }],
  ["contract.scope-conflict", { protected: ["src/slug.py"] }],
  ["contract.reference-missing", { pattern_refs: ["src/gone.py:1-3"] }],
  ["contract.check-shell", { checks: [{ name: "trim", argv: ["true", "&&", "false"] }] }],
  ["contract.hidden-missing", { hidden_files: [{ from: "/nowhere/hidden.py", to: "tests/hidden.py" }] }],
];

describe("e2e: what check fails is not dispatched @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;
  let work: ContractRepo;

  before(async () => {
    server = await startScriptedModelServer({ steps });
    work = await makeContractRepo(server.baseUrl, { absent: { client: "codex", command: "/nowhere/codex" } });
    await work.trust();
  });
  after(async () => {
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  const json = (...args: readonly string[]): Promise<CliDocument> => orchJson(work.place, ...args);
  const untouched = async (): Promise<void> => {
    assert.equal(server.calls.length, 0);
    assert.equal(await work.repo.read(".orch/wt/T1/src/slug.py"), undefined);
  };

  for (const [rule, change] of faults)
    it(`${rule}: BLOCKED by run, dispatch and prepare, no worker or worktree touched`, async () => {
      await work.put("T1", { worker: "absent", ...change });
      assert.equal((await json("check", "T1")).code, 1);
      for (const words of [["run", "--title", "One"], ["dispatch"], ["prepare"]]) {
        const end = await json(...words, "T1");
        assert.equal(end.code, 3, JSON.stringify(end));
        assert.deepEqual(
          end.data.findings.map((one: { rule: string }) => one.rule),
          [rule],
        );
        assert.deepEqual(
          end.data.contracts.map((row: Record<string, unknown>) => [row["phase"], row["attempts"]]),
          [["blocked", 0]],
        );
      }
      await untouched();
    });

  it("what has no result is neither merged nor accepted, and the way to one is named", async () => {
    for (const words of [
      ["merge", "T1"],
      ["review", "T1", "--accept"],
    ]) {
      const end = await json(...words);
      assert.deepEqual([end.code, end.error?.code], [5, "contract.no-result"], JSON.stringify(end));
      assert.match(end.summary, /^T1 {2}BLOCKED: .*: there is no result yet$/);
      assert.deepEqual(end.next, ["orch run .orch/contracts/T1.json", "orch dispatch .orch/contracts/T1.json"]);
    }
  });

  it("a review without an attempt shows no files that are not there, and the way to a result", async () => {
    const shown = await json("review", "T1");
    assert.equal(shown.code, 0, JSON.stringify(shown));
    assert.deepEqual([shown.data.diff, shown.data.guard], [undefined, undefined]);
    assert.doesNotMatch(shown.data.text.join("\n"), /attempt-0|guard\.json/);
    assert.deepEqual(shown.next, ["orch run .orch/contracts/T1.json", "orch dispatch .orch/contracts/T1.json"]);
  });

  it("every fault is told with its place, in the lines of a terminal", async () => {
    await work.put("T1", { goal: "<what is different afterwards>", acceptance: [] });
    // Written here meanwhile, and named by nobody: nothing to warn about.
    await work.put("T3", { title: "Other words" });
    const end = await orch(work.place, "run", "--title", "One", "T1");
    assert.equal(end.code, 3);
    assert.doesNotMatch(end.stdout, /not trusted|without effect/);
    assert.match(
      end.stdout,
      /FAIL contract\.unfilled \.orch\/contracts\/T1\.json:\d+: goal is as the template left it/,
    );
    assert.match(end.stdout, /FAIL contract\.acceptance-missing \.orch\/contracts\/T1\.json/);
    await untouched();
  });

  it("a dry run foretells it", async () => {
    await work.put("T1", { acceptance: [] });
    const end = await json("run", "--dry-run", "T1", "T2");
    assert.equal(end.code, 3);
    assert.equal(end.summary, "Would run T2, and block T1; nothing was changed");
  });

  it("contracts beside it go on", async () => {
    await work.put("T1", { acceptance: [] });
    const end = await json("run", "--title", "Two", "T1", "T2");
    assert.equal(end.code, 3, JSON.stringify(end));
    assert.deepEqual(
      end.data.contracts.map((row: Record<string, unknown>) => row["phase"]),
      ["blocked", "awaiting-review"],
    );
  });

  it("--worker that names nobody is refused, with those there are, and nothing waits for it", async () => {
    const end = await json("dispatch", "T2", "--worker", "sonet");
    assert.deepEqual([end.code, end.error?.code], [2, "worker.unknown"], JSON.stringify(end));
    assert.equal(end.summary, "there is no worker sonet; did you mean sonnet?");
    assert.match(end.error?.hint ?? "", /^Known are .*sonnet.*, absent, and provider\/model/);
    assert.equal((await json("dispatch", "T2", "--worker", "ID")).code, 2);
    assert.match((await json("status")).summary, /^nothing runs$/);
  });

  it("a dry run of what is not trusted ends as the command does without a person", async () => {
    assert.equal((await json("trust", "--revoke")).code, 0);
    const end = await json("run", "--dry-run", "T2");
    assert.deepEqual([end.code, end.error?.code, end.next], [7, "trust.needed", ["orch trust"]], JSON.stringify(end));
  });
});
