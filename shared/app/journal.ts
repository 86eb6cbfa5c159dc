import { inRoot } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { JsonResult } from "../model/json-text.ts";
import type { RepoContext } from "./context.ts";

type JournalContext = Pick<RepoContext, "files" | "runDir">;

/** A journal of model/command-journal.ts, as the run's own folder holds it. */
export interface Journal<T> {
  /** Undefined in a run that has not come that far. @throws OrchError `file.invalid` */
  read(context: JournalContext): Promise<T | undefined>;
  write(context: JournalContext, value: T): Promise<void>;
  /** What was put back must not be put back again by a run that goes on. */
  remove(context: JournalContext): Promise<void>;
}

export function createJournal<T>(name: string, parse: (text: string) => JsonResult<T>): Journal<T> {
  return {
    async read({ files, runDir }) {
      const at = inRoot(runDir, name);
      const text = await files.readText(at);
      if (text === undefined) return undefined;
      const read = parse(text);
      if (read.kind === "ok") return read.value;
      const { line, message } = read.fault;
      throw new OrchError("file.invalid", `${at}:${line}: ${message}`, { data: { path: at, line } });
    },
    async write({ files, runDir }, value) {
      await files.makeDir(runDir, { mode: 0o700 });
      await files.write(inRoot(runDir, name), `${JSON.stringify(value)}\n`, { mode: 0o600 });
    },
    remove: ({ files, runDir }) => files.remove(inRoot(runDir, name)),
  };
}
