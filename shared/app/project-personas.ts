import { inRoot, repoPath } from "../base/paths.ts";
import { loadPersonas, type Persona, type PersonaSource } from "../prompts/persona.ts";
import type { RepoContext } from "./context.ts";

/** The installed personas, and the project's own where exactly those bytes are trusted. */
export async function projectPersonas(
  context: Pick<RepoContext, "files" | "machine" | "root" | "trust">,
): Promise<ReadonlyMap<string, Persona>> {
  const { files, root } = context;
  const sources: PersonaSource[] = [...(await installedPersonas(context))];
  for (const { name, kind } of (await files.list(inRoot(root, ".orch/personas"))) ?? []) {
    const path = kind === "file" && name.endsWith(".md") ? repoPath(`.orch/personas/${name}`) : undefined;
    const bytes = path === undefined ? undefined : await context.trust.trustedFile(path);
    if (path !== undefined && bytes !== undefined) {
      sources.push({ path, text: new TextDecoder().decode(bytes), project: true });
    }
  }
  return loadPersonas(sources);
}

/** Those that come with Orch. */
export async function installedPersonas({
  files,
  machine,
}: Pick<RepoContext, "files" | "machine">): Promise<readonly PersonaSource[]> {
  const sources: PersonaSource[] = [];
  const installed = inRoot(machine.installRoot, "personas");
  for (const { name, kind } of (await files.list(installed)) ?? []) {
    const text = kind === "file" && name.endsWith(".md") ? await files.readText(inRoot(installed, name)) : undefined;
    if (text !== undefined) sources.push({ path: `personas/${name}`, text, project: false });
  }
  return sources;
}
