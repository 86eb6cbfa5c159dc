import { throwIfAborted } from "../base/abort.ts";
import type { Verdict } from "../model/verdict.ts";
import { judgeFolder } from "./merge-journal.ts";
import type { MergeContext, TreeSubject } from "./tree-judge.ts";

/**
 * The gates' verdict on a tree that lies in a folder of its own outside the repository, so that its tests see nothing of the
 * checkout.
 */
export async function judgeOffTree(
  context: Pick<MergeContext, "files" | "git" | "machine" | "run" | "judgeTree">,
  subject: Omit<TreeSubject, "folder">,
  signal: AbortSignal,
): Promise<Verdict> {
  const { files, git } = context;
  const folder = judgeFolder(context);
  await files.remove(folder);
  await files.makeDir(folder, { mode: 0o700 });
  try {
    await git.checkoutTo(subject.tree, folder);
    throwIfAborted(signal);
    const verdict = await context.judgeTree({ ...subject, folder }, signal);
    throwIfAborted(signal);
    return verdict;
  } finally {
    await files.remove(folder);
  }
}
