import { deepEqual } from "node:assert/strict";
import { createTerminalEditor } from "../../../shared/cli/editor.ts";
import type { Finding } from "../../../shared/model/finding.ts";

const eval_: Finding = {
  rule: "py.eval",
  severity: "FAIL",
  path: "src/a.py",
  line: 3,
  message: "eval runs text as code",
  evidence: "eval(a)",
  remedy: "Parse it, or call what you mean",
};
const unknown: Finding = { rule: "other", severity: "WARN", message: "said", evidence: "", remedy: "" };

describe("the editor of a terminal", () => {
  it("says what mends a finding once for each rule", () => {
    const lines: string[] = [];
    const editor = createTerminalEditor({ interactive: false, write: (line) => void lines.push(line) });
    editor.showFindings([eval_, { ...eval_, line: 9 }, unknown]);
    editor.showFindings([{ ...eval_, line: 12 }]);
    deepEqual(lines, [
      "FAIL py.eval src/a.py:3: eval runs text as code",
      "  Parse it, or call what you mean",
      "FAIL py.eval src/a.py:9: eval runs text as code",
      "WARN other: said",
      "FAIL py.eval src/a.py:12: eval runs text as code",
    ]);
  });
});
