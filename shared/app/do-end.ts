import { createCommitPushFinisher } from "../adapters/finish-commit-push.ts";
import { giveBackWorktree } from "../adapters/workspace-beside.ts";
import { reopenWorkspace } from "../adapters/workspace-branch.ts";
import { baseName, inRoot } from "../base/paths.ts";
import { foldRun } from "../events/reduce.ts";
import type { AgentContext } from "./agent-parts.ts";
import { contractIn } from "./contract-rows.ts";
import type { DoContext } from "./do-context.ts";
import { storeKept } from "./kept-work.ts";
import { withRepositoryLock } from "./repository-lock.ts";

/**
 * Ends a `do` whose runner was killed and that is not to go on. Nobody's attempt stays in the tree: it is as it was
 * before, and what goes is stored for `restore`. A commit that was made stands, and is told.
 */
export async function endDo(context: AgentContext): Promise<void> {
  const never = new AbortController().signal;
  const { contracts, commits } = foldRun(context.run, context.history);
  if (commits.length > 0) {
    const worktrees = context.worktreesOf(context.run);
    for (const { id } of contracts) await giveBackWorktree({ worktrees, kept: context.kept }, context.run, id);
    return;
  }
  for (const { id } of contracts) {
    await withRepositoryLock(context, "cancel", never, async () => {
      await endContract(context, id, never);
      // An agent's worktree: what was not brought in goes where `restore` finds it.
      const contract = await contractIn(context.files, context.runDir, id);
      await storeKept(context, { run: context.run, id, contract }, never);
    });
    context.sink.append({ type: "contract.finished", contract: id, state: "cancelled" });
  }
}

async function endContract(context: DoContext, id: string, signal: AbortSignal): Promise<void> {
  const left = await reopenWorkspace(context, inRoot(context.runDir, id, "workspace.json"), id);
  if (left === undefined) return;
  const { contract, workspace, options } = left;
  const done = await workspace.rollback(signal);
  switch (done.kind) {
    case "rolled-back":
    case "left":
      return;
    case "person-edited":
      context.sink.append({
        type: "progress.noted",
        text: `left as they are, changed meanwhile: ${done.paths.join(", ")}`,
      });
      return;
    case "committed":
      if (workspace.accepted === undefined) return;
      await createCommitPushFinisher(context, {
        ...options,
        // As the commit is called: the id may hold the app, too.
        name: baseName(options.slice),
        push: false,
        trusted: () => context.trust.mayRunCode(),
      }).finish(contract, workspace, workspace.accepted.change, signal);
      return;
  }
}
