import { createHookWatch, type HookWatch } from "../adapters/hook-watch.ts";
import { hooksNow } from "../adapters/repository-seal.ts";
import type { AbsPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import type { Editor } from "../ports/editor.ts";
import type { Files } from "../ports/files.ts";
import type { Git } from "../ports/git.ts";
import type { Trust } from "../ports/trust.ts";

/** The hooks of this repository, in its own folder and in the one that its configuration names. */
export function openHookWatch(files: Files, stateDir: AbsPath, git: Pick<Git, "place" | "programKeys">): HookWatch {
  return createHookWatch({
    files,
    stateDir,
    repository: git.place.commonDir,
    hooks: async () => {
      const keys = await git.programKeys();
      return hooksNow(git.place, keys.findLast(({ key }) => key === "core.hookspath")?.value);
    },
  });
}

/**
 * Asked where hooks would run. That none does is said once a command: whatever one of them guards is not guarded.
 */
export function heldHooks(editor: Pick<Editor, "notify">, trustNow: () => Trust | undefined): () => Promise<boolean> {
  let told = false;
  return async () => {
    const trust = trustNow();
    if (trust === undefined || !(await trust.hooksHeld())) return false;
    if (told) return true;
    told = true;
    const { gitKeys } = await trust.state();
    const names = gitKeys.flatMap(({ key, hook, trusted }) => (hook === undefined || trusted ? [] : [key]));
    editor.notify({
      severity: "warning",
      text: `no hook of git's runs, for ${nameSome(names)} changed while a worker could write there`,
      hint: "Look and decide with: orch trust",
    });
    return true;
  };
}
