import type { AbsPath } from "../base/paths.ts";
import type { Process } from "../ports/process.ts";
import { runAlone } from "./git-alone.ts";
import { failed } from "./git-call.ts";
import { gitEnvironment, userEnvironment } from "./git-environment.ts";
import { findGit } from "./git-place.ts";

/**
 * Makes an empty repository whose branch is `main`. The user's own template folder counts, as with their own git; a
 * repository that is there already stays as it is.
 *
 * @throws OrchError `git.missing`, `git.too-old`, `git.failed`
 */
export async function initRepository(
  folder: AbsPath,
  deps: { readonly process: Process; readonly env: Readonly<Record<string, string | undefined>> },
  signal: AbortSignal,
): Promise<void> {
  const base = userEnvironment(deps.env);
  const binary = await findGit(deps.process, base, signal);
  const args = ["init", "--quiet", "--initial-branch=main"];
  const answer = await runAlone(binary, folder, args, gitEnvironment(base, {}), undefined, signal);
  if (answer.code !== 0) throw failed(args, answer);
}
