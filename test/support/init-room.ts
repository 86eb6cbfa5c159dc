import { join } from "node:path";
import { composeInit } from "../../shared/app/compose-init.ts";
import { init } from "../../shared/app/handlers/init.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import type { CommandArgs } from "../../shared/app/context.ts";
import { args } from "./bench.ts";
import { RecordingSink } from "./recording-sink.ts";
import { sourceRoot } from "./source-root.ts";
import type { TempRepo } from "./temp-repo.ts";

/** Runs `init` with everything wired, in the environment of a temporary repository. */
export async function initIn(repo: TempRepo, cwd: AbsPath, given: Partial<CommandArgs>): Promise<CommandResult> {
  const nobody = (): never => {
    throw new TypeError("init starts no runs");
  };
  const context = composeInit({
    places: {
      installRoot: absPath(sourceRoot),
      version: "0.0.0",
      configDir: absPath(join(repo.home, ".config/orch")),
      stateDir: absPath(join(repo.home, ".state/orch")),
      cacheDir: absPath(join(repo.home, ".cache/orch")),
      platform: "posix",
    },
    env: repo.env,
    nodePath: process.execPath,
    cwd,
    editor: {
      host: "cli",
      interactive: false,
      activeFile: async () => undefined,
      ask: async () => undefined,
      notify: () => undefined,
      progress: () => undefined,
      showDiff: async () => undefined,
      showFindings: () => undefined,
      open: async () => undefined,
    },
    host: { resume: nobody, changed: nobody },
    signal: new AbortController().signal,
    run: {
      folder: { run: "r-20260101-000000-init", dir: absPath(join(repo.base, "run")) },
      sink: new RecordingSink(),
      history: [],
    },
  });
  return await init(context, args(given), new AbortController().signal);
}
