import { inRoot } from "../../base/paths.ts";
import type { WorkerCommand, WorkerTask } from "./recipe.ts";

/** A prompt as an argument; one that is longer than an argument may be stands in a file that the argument names. */
export function byArgument({
  prompt,
  home,
  maxArgumentBytes,
}: Pick<WorkerTask, "prompt" | "home" | "maxArgumentBytes">): {
  readonly prompt: string;
  readonly files: WorkerCommand["files"];
} {
  if (new TextEncoder().encode(prompt).length <= maxArgumentBytes) return { prompt, files: [] };
  return byFile({ prompt, home });
}

export function byFile({ prompt, home }: Pick<WorkerTask, "prompt" | "home">): {
  readonly prompt: string;
  readonly path: string;
  readonly files: WorkerCommand["files"];
} {
  const path = inRoot(home, "task.md");
  return {
    prompt: `Your whole task stands in the file ${path}. Read all of it first, then do what it says.`,
    path,
    files: [{ path, text: prompt }],
  };
}
