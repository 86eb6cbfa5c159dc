import { isAbort } from "../base/abort.ts";
import { tellingLine } from "../base/telling-line.ts";
import type { Git } from "../ports/git.ts";

/**
 * Deletes the remote branch while it is at `expected`; undefined when it is gone, else why it was kept. The last step
 * of a command whose work is done by then, so also a stop is only told.
 */
export async function deleteRemoteBranch(
  git: Pick<Git, "deleteRemote">,
  at: { readonly remote: string; readonly branch: string; readonly expected: string },
): Promise<string | undefined> {
  try {
    const gone = await git.deleteRemote(at.remote, at.branch, at.expected);
    return gone.kind === "pushed" ? undefined : `the remote did not delete it: ${tellingLine(gone.output)}`;
  } catch (error) {
    if (!isAbort(error)) throw error;
    return "stopped before it was deleted";
  }
}
