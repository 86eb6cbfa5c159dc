import { type AbsPath, inRoot } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { RunOwnership } from "../ports/run-store.ts";

/** One small file for each run that is not over, in the user's own state: no repository can put one there. */
export function createRunOwnership(files: Files, dir: AbsPath): RunOwnership {
  return {
    async note(run, requestSha256) {
      await files.makeDir(dir, { mode: 0o700 });
      await files.write(inRoot(dir, run), `${requestSha256}\n`, { mode: 0o600 });
    },
    isOurs: async (run, requestSha256) => (await files.readText(inRoot(dir, run))) === `${requestSha256}\n`,
    forget: (run) => files.remove(inRoot(dir, run)),
  };
}
