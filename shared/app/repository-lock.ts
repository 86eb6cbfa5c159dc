import { createHash } from "node:crypto";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, dirName, absPath, inRoot } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import type { LockHolder } from "../ports/lock.ts";
import type { RepoContext } from "./context.ts";

type LockContext = Pick<
  RepoContext,
  "machine" | "git" | "files" | "locks" | "run" | "editor" | "process" | "clock" | "root" | "trash"
>;

/** What a killed runner's git may still need: a hook, a checkout. */
const deadMs = 20_000;
const pollMs = 50;

/** One per repository on this machine: linked worktrees share it, because they share refs. */
export function repositoryLockPath(stateDir: AbsPath, commonDir: AbsPath): AbsPath {
  const key = createHash("sha256").update(commonDir).digest("hex").slice(0, 32);
  return inRoot(stateDir, "locks", `repository-${key}.db`);
}

/**
 * Runs `body` while holding the repository's lock; whatever changes the checkout, HEAD or refs does. Taken at once or
 * refused, never waited for. Not re-entrant: handlers take it, what they call does not. Freed also when `body` throws.
 *
 * @throws OrchError `run.locked` naming run, pid, host and the way to end it; `env.read-only`
 */
export async function withRepositoryLock<T>(
  context: LockContext,
  what: string,
  signal: AbortSignal,
  body: () => Promise<T>,
): Promise<T> {
  throwIfAborted(signal);
  const path = repositoryLockPath(context.machine.stateDir, context.git.place.commonDir);
  await context.files.makeDir(absPath(dirName(path)), { mode: 0o700 });
  const taken = context.locks.try(path, { run: context.run, host: context.editor.host, what });
  if (taken.kind === "busy") throw lockedError(taken.holder);
  using _lock = taken.lock;
  if (taken.dead?.run !== undefined) await outlive(context, taken.dead.run, signal);
  await requireWritable(context);
  await settle(context);
  try {
    return await body();
  } finally {
    // Why the body failed is the thing to tell; what cannot be settled now is by the next command.
    await settle(context).catch(() => undefined);
  }
}

/** Nothing is read before what a killed command was writing is back in its place. */
async function settle({ git, trash, editor }: LockContext): Promise<void> {
  const { putBack, stored } = await git.settleWrites(trash);
  if (putBack.length > 0) {
    editor.notify({
      severity: "warning",
      text: `put back, as a command was ended while it wrote: ${nameSome(putBack)}`,
    });
  }
  for (const item of stored) {
    editor.notify({
      severity: "warning",
      text: `stored, as something newer stands there: ${item.what}`,
      hint: `Bring it back beside that with: orch restore ${item.id}`,
    });
  }
}

/** Before anything begins: git has many words for a read-only disk, some of which do not name it. */
async function requireWritable({ files, git, run }: LockContext): Promise<void> {
  const probe = inRoot(git.place.commonDir, `orch-${run}`);
  await files.makeDir(probe);
  await files.removeEmptyDir(probe);
}

/**
 * A killed runner's last git goes on without it: two of them would meet in the same index and refs. It is not ended, for
 * half a checkout is worse than a moment's wait.
 */
async function outlive({ process, clock, root }: LockContext, run: string, signal: AbortSignal): Promise<void> {
  const until = clock.tick() + deadMs;
  for (let left = process.ofRun(run, root); left.length > 0; left = process.ofRun(run, root)) {
    if (clock.tick() >= until) {
      throw new OrchError("run.locked", `git of the interrupted run ${run} still works here, process ${left[0]}`, {
        data: { run, pid: left[0] },
      });
    }
    await clock.sleep(pollMs, signal);
  }
}

function lockedError(holder: LockHolder | undefined): OrchError {
  if (holder === undefined) return new OrchError("run.locked", "another orch command works on this repository");
  const run = holder.run === undefined ? "" : `, run ${holder.run}`;
  return new OrchError(
    "run.locked",
    `orch ${holder.what} works on this repository${run}, process ${holder.pid} on ${holder.host}`,
    { data: { ...(holder.run === undefined ? {} : { run: holder.run }), pid: holder.pid, host: holder.host } },
  );
}
