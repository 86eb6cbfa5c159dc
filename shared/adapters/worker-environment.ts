import type { AbsPath } from "../base/paths.ts";
import { everyClientVariables } from "./client-variables.ts";

/** Of the environment Orch was started with: nothing else reaches a worker but the keys that its recipe names. */
const always = [...everyClientVariables, "Path"] as const;

export interface WorkerPlaces {
  readonly home: AbsPath;
  readonly tmp: AbsPath;
}

/** The whole environment of a worker. No variable of git's, of an agent that Orch runs under, or of an editor is in it. */
export function workerEnvironment(
  env: Readonly<Record<string, string>>,
  keys: readonly string[],
  { home, tmp }: WorkerPlaces,
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of [...always, ...keys]) {
    const value = env[name];
    if (value !== undefined && value !== "") kept[name] = value;
  }
  return {
    ...kept,
    HOME: home,
    USERPROFILE: home,
    TMPDIR: tmp,
    TMP: tmp,
    TEMP: tmp,
    TERM: "dumb",
    NO_COLOR: "1",
    PAGER: "cat",
    GIT_PAGER: "cat",
    GIT_EDITOR: "true",
    GIT_TERMINAL_PROMPT: "0",
    // An agent that tries its tests would leave their caches in the tree, and nobody could tell them from hidden work.
    PYTHONDONTWRITEBYTECODE: "1",
    PYTEST_ADDOPTS: "-p no:cacheprovider",
  };
}
