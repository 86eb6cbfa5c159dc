import type { Editor } from "../ports/editor.ts";

/** What undoes a step, noted right before the step is taken; a step that was not taken is nothing to undo. */
export type BackStep = () => Promise<void>;

/**
 * Undoes in reverse order. Every step is tried; one that fails is told and does not hide why the command failed. True
 * when all of them worked.
 */
export async function putBack(editor: Pick<Editor, "notify">, steps: readonly BackStep[]): Promise<boolean> {
  let whole = true;
  for (const step of steps.toReversed()) {
    try {
      await step();
    } catch (error) {
      whole = false;
      editor.notify({
        severity: "warning",
        text: `could not be put back: ${error instanceof Error ? error.message : String(error)}`,
        hint: "Look with: git status",
      });
    }
  }
  return whole;
}
