import type { Finding } from "../../model/finding.ts";
import { finding } from "../gate-finding.ts";
import type { OutlineAssertion } from "./outline.ts";

export const remedies = {
  keep: "Keep what the tests check, and change the code instead",
  run: "Let the test run, and make the code pass it",
};

export function disabled(path: string, line: number, message: string, evidence: string): Finding {
  return finding("test_disabled", "FAIL", message, { path, line, evidence, remedy: remedies.run });
}

export function removed(path: string, { line, text }: OutlineAssertion): Finding {
  return finding("assertion_removed", "FAIL", "an assertion was removed", {
    path,
    line,
    side: "old",
    evidence: text,
    remedy: remedies.keep,
  });
}

export function weakened(path: string, line: number, message: string, evidence: string): Finding {
  return finding("assertion_weakened", "FAIL", message, { path, line, evidence, remedy: remedies.keep });
}

export function valueChanged(path: string, line: number, message: string, evidence: string): Finding {
  return finding("expected_value_changed", "WARN", message, {
    path,
    line,
    evidence,
    remedy: "Look whether the goal asks for this value",
  });
}
