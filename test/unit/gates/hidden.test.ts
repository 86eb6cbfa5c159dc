import assert from "node:assert/strict";
import { absPath } from "../../../shared/base/paths.ts";
import { createHiddenFilesGate, createHiddenGate, type Grading } from "../../../shared/gates/hidden.ts";
import type { ContractInput } from "../../../shared/model/contract.ts";
import { OrchError } from "../../../shared/model/error.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import type { GateResult } from "../../../shared/model/gate-result.ts";
import type { Gate, GateInput } from "../../../shared/ports/gate.ts";
import { feedbackText } from "../../../shared/prompts/feedback.ts";
import { featureContract, found, gateInput } from "../../support/gate-input.ts";

const secret = "assert total == 4711";
const fail = (name: string): Finding => ({
  rule: "check_failed",
  severity: "FAIL",
  message: `test_${name} failed: ${secret}`,
  path: "tests/test_hidden.py",
  line: 3,
  evidence: `>   ${secret}`,
  remedy: "Mend the code; mend the test only where it contradicts the specification",
});

/** Says what is written for each check, with the secret in everything a test program would put it in. */
function checksSaying(results: Readonly<Record<string, GateResult>>): Gate & { readonly inputs: GateInput[] } {
  const inputs: GateInput[] = [];
  return {
    id: "checks",
    phase: "change",
    inputs,
    async run(input) {
      inputs.push(input);
      const [check] = input.contract.checks;
      input.sink.append({
        type: "process.started",
        contract: "T1",
        attempt: 1,
        pid: 7,
        startTime: "1",
        marker: "m",
        what: `check ${check?.name}`,
      });
      await input.sink.sidecar("T1/attempt-1/checks.log", `$ run\n${secret}\n`);
      return results[check?.name ?? ""] ?? { kind: "ran", findings: [] };
    },
  };
}

function grading(places: Readonly<Record<string, "outside" | "inside">> = {}): Grading & { closed: number } {
  return {
    closed: 0,
    open() {
      const close = (): Promise<void> => Promise.resolve(void (this.closed += 1));
      return Promise.resolve({
        root: absPath("/state/grading/tree"),
        reports: absPath("/state/grading/reports"),
        [Symbol.asyncDispose]: close,
      });
    },
    locate: (from) => Promise.resolve(places[from] ?? "missing"),
  };
}

const inputFor = (more: Partial<ContractInput>): ReturnType<typeof gateInput> =>
  gateInput({
    contract: featureContract({
      hidden_checks: [
        { name: "ledger", argv: ["true"] },
        { name: "rounding", argv: ["true"] },
      ],
      ...more,
    }),
  });
const red = (): Gate & { readonly inputs: GateInput[] } =>
  checksSaying({
    ledger: { kind: "ran", findings: [fail("a"), fail("b")] },
    rounding: { kind: "ran", findings: [fail("c")] },
  });
const never = new AbortController().signal;

/** Everything that leaves the gate and may reach a worker: findings, events, sidecars, the feedback made of them. */
async function leaving(mode: "full" | "names" | "none"): Promise<{ readonly all: string; readonly rules: unknown }> {
  const input = inputFor({ hidden_feedback: mode });
  const result = await createHiddenGate({ checks: red(), grading: grading() }).run(input, never);
  assert.equal(result.kind, "ran");
  const findings = result.kind === "ran" ? result.findings : [];
  const feedback = feedbackText({ attempt: 1, findings, hiddenFeedback: mode });
  const all = JSON.stringify([result, input.sink.events, [...input.sink.sidecars], feedback]);
  return { all, rules: findings.map(({ rule, message }) => [rule, message]) };
}

describe("hidden checks", () => {
  it("full: like any check, with its own rule, and a log", async () => {
    const { all, rules } = await leaving("full");
    assert.deepEqual(rules, [
      ["hidden_check_failed", `test_a failed: ${secret}`],
      ["hidden_check_failed", `test_b failed: ${secret}`],
      ["hidden_check_failed", `test_c failed: ${secret}`],
    ]);
    assert.ok(all.includes("hidden.log"));
  });

  it("names: which checks failed, and nothing of what they assert", async () => {
    const { all, rules } = await leaving("names");
    assert.deepEqual(rules, [
      ["hidden_check_failed", "the hidden check ledger failed"],
      ["hidden_check_failed", "the hidden check rounding failed"],
    ]);
    assert.doesNotMatch(all, /4711|test_hidden|test_a/);
  });

  it("none: that one failed, not even its name", async () => {
    const { all, rules } = await leaving("none");
    assert.deepEqual(rules, [["hidden_check_failed", "a hidden check failed; what it looks at is not told"]]);
    assert.doesNotMatch(all, /4711|test_hidden|test_a|ledger|rounding/);
  });

  it("they run in the copy, one by one, with reports out of the run folder, and the copy goes", async () => {
    const checks = red();
    const copies = grading();
    await createHiddenGate({ checks, grading: copies }).run(inputFor({}), never);
    assert.deepEqual(
      checks.inputs.map(({ root, attemptDir, contract }) => [root, attemptDir.absolute, contract.checks[0]?.name]),
      [
        ["/state/grading/tree", "/state/grading/reports", "ledger"],
        ["/state/grading/tree", "/state/grading/reports", "rounding"],
      ],
    );
    assert.equal(copies.closed, 1);
  });

  it("green ones find nothing; none at all is skipped; a missing tool breaks the gate and the copy goes", async () => {
    const green = checksSaying({});
    assert.deepEqual(
      await found(createHiddenGate({ checks: green, grading: grading() }), inputFor({ hidden_feedback: "names" })),
      [],
    );
    assert.deepEqual(await found(createHiddenGate({ checks: green, grading: grading() }), gateInput()), [
      "skipped: the contract has no hidden checks",
    ]);
    const copies = grading();
    const broken = checksSaying({
      ledger: { kind: "broken", error: new OrchError("env.missing-tool", "pytest is missing") },
    });
    assert.deepEqual(await found(createHiddenGate({ checks: broken, grading: copies }), inputFor({})), [
      "broken: pytest is missing",
    ]);
    assert.equal(copies.closed, 1);
  });
});

describe("hidden files", () => {
  const files = (...from: string[]): ReturnType<typeof gateInput> =>
    inputFor({ hidden_files: from.map((one) => ({ from: one, to: "tests/test_hidden.py" })) });
  const gate = createHiddenFilesGate({ grading: grading({ "/out/t.py": "outside", "in/t.py": "inside" }) });

  it("outside the repository is where they belong; missing ones and readable ones block", async () => {
    assert.deepEqual(await found(gate, files("/out/t.py")), []);
    assert.deepEqual(await found(gate, files("/gone.py", "in/t.py")), [
      "FAIL hidden_file_missing",
      "FAIL hidden_file_missing",
    ]);
    assert.deepEqual(await found(gate, gateInput()), ["skipped: the contract has no hidden files"]);
  });

  it("a place that leaves the tree blocks; files that no check uses are a warning", async () => {
    const out = inputFor({ hidden_files: [{ from: "/out/t.py", to: "../t.py" }], hidden_checks: [] });
    assert.deepEqual(await found(gate, out), ["FAIL hidden_file_missing", "WARN hidden_unused"]);
  });
});
