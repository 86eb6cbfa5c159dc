import { deepEqual } from "node:assert/strict";
import { OrchError } from "../../../shared/model/error.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import type { GateResult } from "../../../shared/model/gate-result.ts";
import { verdictOf } from "../../../shared/model/verdict.ts";

const fault: Finding = {
  rule: "git_state_changed",
  severity: "FAIL",
  message: "git's configuration was changed",
  evidence: "",
  remedy: "Leave it alone",
};
const failed: GateResult = { kind: "ran", findings: [fault] };
const broken: GateResult = { kind: "broken", error: new OrchError("git.missing", "git is missing") };
const seal: GateResult = {
  kind: "broken",
  error: new OrchError("repository.changed", "hooks/pre-commit changed"),
  decides: true,
};

const sum = (results: Readonly<Record<string, GateResult>>): unknown => {
  const verdict = verdictOf(Object.entries(results).map(([id, result]) => ({ id, result })));
  return verdict.kind === "inconclusive"
    ? [verdict.kind, verdict.broken, verdict.code, verdict.decides, verdict.findings]
    : verdict.kind;
};

describe("verdict", () => {
  it("a FAIL stands over a gate that broke, and a gate that decides over both", () => {
    deepEqual(
      [
        sum({ checks: broken }),
        sum({ checks: broken, observed: failed }),
        sum({ "repository-seal": seal, observed: failed }),
        sum({ checks: broken, "repository-seal": seal, observed: failed }),
      ],
      [
        ["inconclusive", ["checks"], "git.missing", undefined, []],
        "fail",
        ["inconclusive", ["repository-seal"], "repository.changed", true, [fault]],
        ["inconclusive", ["repository-seal", "checks"], "repository.changed", true, [fault]],
      ],
    );
  });
});
