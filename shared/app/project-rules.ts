import { inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { RuleSettings, RuleSource } from "../ports/pool.ts";
import type { RepoContext } from "./context.ts";

/**
 * What the rules of this repository are made of: the installed sets, `.orch/rules/<set>/*.json` of the project where
 * exactly those bytes are trusted, and the switches of the settings. A pack.json is no rule file.
 */
export async function projectRules(
  context: Pick<RepoContext, "files" | "machine" | "root" | "trust" | "config">,
): Promise<RuleSettings> {
  const sources: RuleSource[] = [...(await installedRules(context))];
  for (const path of await projectFiles(context)) {
    const bytes = await context.trust.trustedFile(path);
    if (bytes !== undefined) sources.push({ path, text: new TextDecoder().decode(bytes), project: true });
  }
  return { sources, switches: context.config.rules };
}

/** The sets that come with Orch. */
export async function installedRules({
  files,
  machine,
}: Pick<RepoContext, "files" | "machine">): Promise<readonly RuleSource[]> {
  const sources: RuleSource[] = [];
  const installed = inRoot(machine.installRoot, "rules");
  for (const { name, kind } of (await files.list(installed)) ?? []) {
    if (kind !== "directory") continue;
    const text = await files.readText(inRoot(installed, name, "core.json"));
    if (text !== undefined) sources.push({ path: `rules/${name}/core.json`, text, project: false });
  }
  return sources;
}

async function projectFiles({ files, root }: Pick<RepoContext, "files" | "root">): Promise<readonly RepoPath[]> {
  const paths: RepoPath[] = [];
  for (const { name, kind } of (await files.list(inRoot(root, ".orch/rules"))) ?? []) {
    if (kind !== "directory") continue;
    for (const file of (await files.list(inRoot(root, ".orch/rules", name))) ?? []) {
      const path = repoPath(`.orch/rules/${name}/${file.name}`);
      if (path !== undefined && file.kind === "file" && file.name.endsWith(".json") && file.name !== "pack.json") {
        paths.push(path);
      }
    }
  }
  return paths;
}
