import path from "node:path";
import { repoPath } from "../../shared/base/paths.ts";
import type { AttemptState } from "../../shared/events/run-state.ts";
import type { EventBody } from "../../shared/model/event.ts";
import { OrchError } from "../../shared/model/error.ts";
import { applyHunks, parsePatch, type PatchFile, reversed } from "../../shared/model/patch.ts";
import { readSmallText } from "../../shared/runner/host-files.ts";
import type { FollowedRun } from "../../shared/runner/run-feed.ts";

/** A file of a change for lua/orch/diff.lua. A side that does not exist is left out. */
export interface DiffFile {
  readonly path: string;
  /** Absolute, in the working tree. */
  readonly file: string;
  readonly old?: string;
  readonly new?: string;
}

export interface Diff {
  readonly title: string;
  readonly files: readonly DiffFile[];
  /** Files whose texts cannot be told: binary ones, and those that moved on since. */
  readonly left: readonly string[];
  /** The patch itself, to look at when no file can be shown. */
  readonly patch?: string;
}

/** The newest change of the run, or the one of `run/ID/attempt-N`. @throws OrchError `run.unknown` */
export async function attemptDiff(runs: readonly FollowedRun[], base: string, named: string): Promise<Diff> {
  for (const run of runs.filter(({ run: id }) => named === "" || named === id || named.startsWith(`${id}/`))) {
    for (const contract of run.state.contracts.toReversed()) {
      const attempt = contract.attempts.findLast(
        ({ attempt: n, change }) =>
          change?.patch !== undefined && (!named.includes("/") || named === `${run.run}/${contract.id}/attempt-${n}`),
      );
      if (attempt !== undefined) return textsOf(run, contract.id, attempt, base);
    }
  }
  throw new OrchError("run.unknown", named === "" ? "No run here changed anything yet" : `${named} kept no change`);
}

async function textsOf(run: FollowedRun, contract: string, attempt: AttemptState, base: string): Promise<Diff> {
  // A run folder may have come with the repository: nothing in it leads out of its folder or of the tree.
  const sidecar = repoPath(attempt.change?.patch?.path ?? "");
  if (sidecar === undefined)
    throw new OrchError("path.refused", `The change of ${contract} is not in the run's folder`);
  const at = path.join(run.dir, sidecar);
  const files: DiffFile[] = [];
  const left: string[] = [];
  for (const one of parsePatch((await readSmallText(at)) ?? "")) {
    const name = one.newPath ?? one.oldPath ?? "";
    const inside = [one.oldPath, one.newPath].every((side) => side === undefined || repoPath(side) !== undefined);
    const sides = one.binary || !inside ? undefined : await sidesOf(base, one);
    if (sides === undefined) left.push(name);
    else files.push({ path: name, file: path.join(base, name), ...sides });
  }
  return { title: `${contract}, attempt ${attempt.attempt}`, files, left, patch: at };
}

/** The working tree holds the new text, or the old one after a failed attempt was rolled back; else it moved on. */
async function sidesOf(base: string, file: PatchFile): Promise<Pick<DiffFile, "old" | "new"> | undefined> {
  if (file.oldPath === undefined) {
    const made = applyHunks("", file.hunks);
    return made === undefined ? undefined : { new: made };
  }
  const now = await readSmallText(path.join(base, file.newPath ?? file.oldPath));
  if (file.newPath === undefined) {
    const old = now ?? applyHunks("", reversed(file.hunks));
    return old === undefined ? undefined : { old };
  }
  if (now === undefined) return undefined;
  const made = applyHunks(now, file.hunks);
  if (made !== undefined) return { old: now, new: made };
  const old = applyHunks(now, reversed(file.hunks));
  return old === undefined ? undefined : { old, new: now };
}

/** A pair of texts that a run shows: the spec before and after. */
export async function shownDiff(run: FollowedRun, shown: EventBody<"diff.shown">, base: string): Promise<Diff> {
  const [old = "", made = ""] = await Promise.all(
    [shown.left, shown.right].map((side) => readSmallText(path.join(run.dir, side.path))),
  );
  return {
    title: shown.title,
    files: [{ path: shown.path, file: path.join(base, shown.path), old, new: made }],
    left: [],
  };
}
