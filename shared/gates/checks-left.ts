import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import { isInBuildFolder, isToolOutput } from "../model/tool-output.ts";
import type { GateInput } from "../ports/gate.ts";
import { finding } from "./gate-finding.ts";

const maxFindings = 50;
const maxNamed = 5;

/**
 * What the checks did to the tree, and with them the code that they ran: what was judged is the tree from before. Code
 * that changes files while it is checked can make the next check green, so that fails; a file more is only told, and so
 * is what a build writes. Caches and reports of tools are nobody's matter.
 */
export async function leftByChecks(input: Pick<GateInput, "changedSince">, signal: AbortSignal): Promise<Finding[]> {
  const files = ((await input.changedSince?.(signal)) ?? []).filter(({ path }) => !isToolOutput(path));
  const added = files.filter(({ status }) => status === "added");
  const others = files.filter(({ status }) => status !== "added");
  return [...others.slice(0, maxFindings).map(changed), ...(added.length === 0 ? [] : [left(added)])];
}

function changed({ path, status, newMode }: ChangedFile): Finding {
  const how = newMode === "120000" ? "was replaced by a link" : status === "deleted" ? "was removed" : "was changed";
  return finding("check_changed_tree", isInBuildFolder(path) ? "WARN" : "FAIL", `${path} ${how} while the checks ran`, {
    path,
    evidence: path,
    remedy:
      "Put it back, and change no file of the tree from code or tests; a check that does it by itself is to be mended",
  });
}

function left(added: readonly ChangedFile[]): Finding {
  const paths = added.map(({ path }) => path);
  const more = paths.length > maxNamed ? ` and ${paths.length - maxNamed} more` : "";
  const named = `${paths.slice(0, maxNamed).join(", ")}${more}`;
  return finding("check_left_file", "WARN", `the checks left in the tree: ${named}`, {
    evidence: paths.slice(0, maxFindings).join("\n"),
    remedy:
      "Have code and tests write to a temporary folder; what a check makes by itself belongs into .gitignore of the base",
  });
}
