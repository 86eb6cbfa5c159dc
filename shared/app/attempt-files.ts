import { linesOf } from "../base/lines.ts";
import { inRoot } from "../base/paths.ts";
import type { ContractRow } from "../events/contract-ledger.ts";
import type { Finding } from "../model/finding.ts";
import { GuardReport } from "../model/gate-report.ts";
import { readJson } from "../model/json-text.ts";
import type { RunsContext } from "./run-look.ts";

/** What the last attempt of a contract left on disk, as far as it is there. */
export interface AttemptFiles {
  /** Relative to the repository. */
  readonly diff?: string;
  readonly patch?: string;
  readonly guard?: string;
  readonly findings: readonly Finding[];
}

export async function attemptFiles(
  { runs, files }: Pick<RunsContext, "runs" | "files">,
  { run, id, attempt }: Pick<ContractRow, "run" | "id" | "attempt">,
): Promise<AttemptFiles> {
  const folder = await runs.find(run);
  const own = `${id}/attempt-${attempt}`;
  const textOf = async (name: string): Promise<string | undefined> =>
    folder === undefined ? undefined : await files.readText(inRoot(folder.dir, own, name));
  const patch = await textOf("diff.patch");
  const report = await textOf("guard.json");
  const read = report === undefined ? undefined : readJson(report, GuardReport);
  const at = `.orch/runs/${run}/${own}`;
  return {
    ...(patch === undefined || patch === "" ? {} : { diff: `${at}/diff.patch`, patch }),
    ...(report === undefined ? {} : { guard: `${at}/guard.json` }),
    findings: read?.kind === "ok" ? read.value.findings : [],
  };
}

/** More than this is read in its file. */
const maxPatchLines = 200;

/** The patch for a terminal, which shows nothing side by side. */
export function patchLines({ patch, diff }: AttemptFiles): readonly string[] {
  const lines = patch === undefined ? [] : linesOf(patch);
  const more = lines.length - maxPatchLines;
  return more <= 0 ? lines : [...lines.slice(0, maxPatchLines), `and ${more} more lines: ${diff ?? ""}`];
}
