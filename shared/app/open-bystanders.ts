import { createBystanders } from "../adapters/bystanders.ts";
import { nameSome } from "../features/branches.ts";
import type { Bystanders } from "../ports/bystanders.ts";
import type { RepoContext } from "./context.ts";

/** What tests that run in the checkout have no business with: stored before they start, compared when they have ended. */
export function openBystanders(context: RepoContext): Bystanders {
  const { git, trash, config, sandbox, editor, sink } = context;
  return createBystanders({
    git,
    trash,
    confined: async (signal) => config.sandbox !== "off" && (await sandbox.state(signal)).kind === "on",
    onLarge: (paths) =>
      editor.notify({
        severity: "warning",
        text: `too large to be kept before tests run here: ${nameSome(paths)}`,
        hint: "Commit them, have git ignore them, or keep a copy elsewhere",
      }),
    onUnseen: (folders) =>
      editor.notify({
        severity: "warning",
        text: `repositories in this checkout that cannot be kept before tests run here: ${nameSome(folders)}`,
        hint: "Commit what they hold, or move them elsewhere; git status in them says what is wrong",
      }),
    onStored: ({ id, what, files, bytes }) => sink.append({ type: "trash.stored", id, what, entries: files, bytes }),
  });
}
