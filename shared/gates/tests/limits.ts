import type { Finding } from "../../model/finding.ts";
import { finding } from "../gate-finding.ts";
import type { TestFile } from "./test-file.ts";

/** A test that waits longer, or that is tried more often, hides what got slow or shaky. */
export function limitFindings({ path, changed, language, before }: TestFile): Finding[] {
  if (before === undefined) return [];
  return language.raw.limits.flatMap((pattern) => {
    const value = (line: string): number | undefined => {
      const found = new RegExp(pattern).exec(line)?.groups?.["value"];
      return found === undefined ? undefined : Number(found.replaceAll("_", ""));
    };
    return changed.hunks.flatMap(({ added, removed, newStart }) => {
      const old = Math.max(0, ...removed.flatMap((line) => value(line) ?? []));
      return added.flatMap((line, at) => {
        const now = value(line);
        if (now === undefined || now <= old || removed.includes(line)) return [];
        return [raised(path, newStart + at, line)];
      });
    });
  });
}

function raised(path: string, line: number, evidence: string): Finding {
  return finding("timeout_raised", "WARN", "a limit of the tests was raised", {
    path,
    line,
    evidence: evidence.trim(),
    remedy: "Make the code fast and steady enough for the limit that was there",
  });
}
