import process from "node:process";
import { pathToFileURL } from "node:url";
import path from "node:path";
import { findMachine } from "../../shared/adapters/machine.ts";
import { type AnywhereContext, composeAnywhere } from "../../shared/app/anywhere.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { Answer, DiffView, Editor, Question } from "../../shared/ports/editor.ts";
import { sourceRoot } from "./source-root.ts";

/** What the commands that work anywhere get, over real adapters, with an editor that answers as a test says. */
export interface Anywhere {
  readonly context: AnywhereContext;
  readonly asked: Question[];
}

export interface AnywherePlace {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Absent: nobody is there. */
  readonly answer?: (question: Question) => Answer | undefined;
}

export async function makeAnywhere(place: AnywherePlace): Promise<Anywhere> {
  const asked: Question[] = [];
  const editor: Editor = {
    host: "cli",
    interactive: place.answer !== undefined,
    activeFile: () => Promise.resolve(undefined),
    ask(question) {
      asked.push(question);
      return Promise.resolve(place.answer?.(question));
    },
    notify: () => undefined,
    progress: () => undefined,
    showDiff: (_diff: DiffView) => Promise.resolve(),
    showFindings: () => undefined,
    open: () => Promise.resolve(),
  };
  const moduleUrl = pathToFileURL(path.join(sourceRoot, "shared", "cli", "main.ts")).href;
  const context = await composeAnywhere({
    places: findMachine({ env: place.env, platform: process.platform, moduleUrl }),
    env: place.env,
    nodePath: process.execPath,
    cwd: absPath(place.cwd),
    editor,
    signal: new AbortController().signal,
  });
  return { context, asked };
}
