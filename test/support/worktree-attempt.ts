import type { WorkerReport } from "../../shared/model/attempt.ts";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { Worker } from "../../shared/ports/worker.ts";
import type { Workspace } from "../../shared/ports/workspace.ts";
import type { RunWorktrees } from "../../shared/ports/worktrees.ts";
import { contractOf } from "./worktree-ground.ts";

/** One attempt of T1 by a worker that does `work` in its worktree and says `transcript`. */
export async function attempt(
  worktrees: RunWorktrees,
  workspace: Workspace,
  work: (root: string) => void,
  transcript = "",
): Promise<void> {
  const report: WorkerReport = {
    kind: "done",
    summary: "",
    claims: [],
    concerns: [],
    refused: [],
    problems: [],
    usage: unknownUsage,
    durationMs: 0,
    transcript,
  };
  const worker: Worker = {
    id: "scripted",
    can: { resume: false, supervise: false, write: true },
    run: async () => {
      work(workspace.root);
      return report;
    },
  };
  const order = { contract: contractOf("T1"), attempt: 1, messages: [], workspace, replyDir: "" };
  await worktrees.watched(worker).run(order, new AbortController().signal);
}
