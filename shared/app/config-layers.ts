import { type AbsPath, inRoot, type RepoPath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { Trust } from "../ports/trust.ts";
import type { ConfigLayer } from "./config.ts";

/** A repository's settings, and which bytes of them count. */
export const projectConfigPath = ".orch/config.json" as RepoPath;

/** The user's settings, then the project's: those count only while exactly these bytes are trusted. */
export async function configLayers(
  files: Files,
  configDir: AbsPath,
  project?: { readonly root: AbsPath; readonly trust: Trust },
): Promise<readonly ConfigLayer[]> {
  const layers: ConfigLayer[] = [];
  const user = inRoot(configDir, "config.json");
  const text = await files.readText(user);
  if (text !== undefined) layers.push({ source: user, text });
  const bytes = await project?.trust.trustedFile(projectConfigPath);
  if (project !== undefined && bytes !== undefined) {
    layers.push({ source: inRoot(project.root, projectConfigPath), text: new TextDecoder().decode(bytes) });
  }
  return layers;
}
