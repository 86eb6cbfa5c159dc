import { repoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/**
 * Are the root files of the language as they were, and can they be read? Which of them must exist is an article of the
 * constitution. A removal by a person (a change nobody reported) is told; a worker's fails.
 */
export function createRootFilesGate(): Gate {
  return {
    id: "root-files",
    phase: "change",
    async run(input) {
      if (input.slice === undefined) return { kind: "skipped", why: "the contract is no feature" };
      const found: Finding[] = [];
      for (const name of input.slice.pack.rootFiles) found.push(...(await rootFindings(input, name)));
      return ran(found);
    },
  };
}

async function rootFindings(input: GateInput, name: string): Promise<Finding[]> {
  const path = repoPath(name);
  if (path === undefined) return [];
  const changed = input.change.files.some((file) => file.path === name || file.oldPath === name);
  const now = await input.read(path);
  if (now === undefined) {
    const severity = input.report === undefined ? "WARN" : "FAIL";
    const remedy = "Put it back as it was";
    return changed ? [finding("root_file_removed", severity, `${name} was removed`, { path, remedy })] : [];
  }
  const text = new TextDecoder("utf-8").decode(now);
  const conflict = text.split("\n").findIndex((line) => /^<{7} /.test(line));
  if (conflict === -1) return [];
  return [
    finding(
      "root_file_conflict",
      changed ? "FAIL" : "WARN",
      `${name} holds the conflict markers of an unfinished merge`,
      { path, line: conflict + 1, remedy: "Settle the merge in it first" },
    ),
  ];
}
