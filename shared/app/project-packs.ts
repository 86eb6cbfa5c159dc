import { inRoot, repoPath } from "../base/paths.ts";
import { type LoadedPack, loadPacks, type PackAddition } from "../features/packs.ts";
import { OrchError } from "../model/error.ts";
import type { RepoContext } from "./context.ts";

/**
 * The language packs that hold here: the installed ones, and `.orch/rules/<lang>/pack.json` of the project where exactly
 * those bytes are trusted.
 *
 * @throws OrchError `rules.invalid`
 */
export async function projectPacks(
  context: Pick<RepoContext, "files" | "machine" | "root" | "trust">,
): Promise<readonly [LoadedPack, ...LoadedPack[]]> {
  const additions: PackAddition[] = [];
  for (const { name, kind } of (await context.files.list(inRoot(context.root, ".orch/rules"))) ?? []) {
    const path = kind === "directory" ? repoPath(`.orch/rules/${name}/pack.json`) : undefined;
    const bytes = path === undefined ? undefined : await context.trust.trustedFile(path);
    if (path !== undefined && bytes !== undefined)
      additions.push({ lang: name, path, text: new TextDecoder().decode(bytes) });
  }
  const [first, ...others] = await loadPacks(context.files, inRoot(context.machine.installRoot, "rules"), additions);
  if (first === undefined)
    throw new OrchError("rules.invalid", `${context.machine.installRoot}/rules holds no language pack`, {
      data: { path: "rules" },
    });
  return [first, ...others];
}
