import type { Finding } from "../model/finding.ts";

/** What comes after a spec was written: `do`, but not before a person mended what would stop it. */
export function nextOfSpec(spec: string, findings: readonly Finding[]): readonly [string, ...string[]] {
  return findings.some(({ severity }) => severity === "FAIL") ? [editCommand(spec), "orch do"] : ["orch do"];
}

export function editCommand(path: string): string {
  return `edit ${path}`;
}
