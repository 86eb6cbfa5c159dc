import { clip, count } from "../base/lines.ts";
import type { Change } from "../model/change.ts";
import { OrchError } from "../model/error.ts";
import type { Editor } from "../ports/editor.ts";
import type { CommandArgs } from "./context.ts";

/**
 * Critical work is accepted hunk by hunk. With a person there each hunk is shown and asked about; without one the number
 * of hunks that were ticked must be given, so that nobody accepts such a change without having counted them.
 *
 * @throws OrchError `review.missing` when a hunk was not ticked
 */
export async function tickHunks(
  editor: Editor,
  change: Change,
  args: Pick<CommandArgs, "text">,
  signal: AbortSignal,
): Promise<void> {
  const hunks = change.files.flatMap(({ path, hunks: some, binary }) =>
    binary ? [{ path, line: 1, shown: "a binary file" }] : some.map((hunk) => ({ path, ...shownHunk(hunk) })),
  );
  if (!editor.interactive) {
    if (args.text === `ticked ${hunks.length}`) return;
    throw notTicked(
      `it is critical: every hunk is ticked, ${count(hunks.length, "hunk")} of them. Once done: --text "ticked ${hunks.length}"`,
    );
  }
  for (const [at, { path, line, shown }] of hunks.entries()) {
    const answer = await editor.ask(
      {
        kind: "confirm",
        weight: "decision",
        title: `Hunk ${at + 1} of ${hunks.length}, ${path}:${line}: read to its end, and right?`,
        detail: shown,
        choices: [
          { id: "yes", label: "Tick it" },
          { id: "no", label: "Stop here" },
        ],
      },
      signal,
    );
    if (answer?.choice !== "yes") throw notTicked(`the hunk at ${path}:${line} was not ticked`);
  }
}

const maxHunk = 4_000;

function shownHunk(hunk: Change["files"][number]["hunks"][number]): { readonly line: number; readonly shown: string } {
  const lines = [...hunk.removed.map((line) => `-${line}`), ...hunk.added.map((line) => `+${line}`)];
  return { line: Math.max(1, hunk.newStart), shown: clip(lines.join("\n"), maxHunk) };
}

function notTicked(why: string): OrchError {
  return new OrchError("review.missing", `Not accepted: ${why}`);
}
