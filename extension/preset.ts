import type * as vscode from "vscode";
import type { Command } from "../shared/app/commands.ts";
import type { Given } from "./inputs.ts";
import type { Session } from "./session.ts";
import { featuresDir, targetOfFile } from "./slice-place.ts";
import type { Sessions } from "./sessions.ts";
import type { Vscode } from "./vscode-api.ts";

export interface Preset {
  readonly given: Given;
  readonly overrides: Readonly<Record<string, unknown>>;
  /** Options as the command line spells them, for commands that it answers. */
  readonly flags: readonly string[];
}

/**
 * What a command was called with beside the palette: `{words, prompt, overrides, flags}` from a button, a tool or a test; the
 * file of a context menu; the row of a view.
 */
export async function presetOf(
  vscode: Vscode,
  sessions: Sessions,
  command: Command,
  args: readonly unknown[],
): Promise<Preset> {
  const [first] = args;
  if (typeof first !== "object" || first === null) return { given: { words: [] }, overrides: {}, flags: [] };
  const part = (name: string): unknown => Reflect.get(first, name);
  if (part("scheme") === "file") {
    const uri = first as vscode.Uri;
    const takesFeature = command.args[0]?.completes === "feature" && command.name !== "modify";
    const session = sessions.ofFile(uri);
    const target =
      takesFeature && session !== undefined
        ? targetOfFile(uri.fsPath, await featuresDir(vscode, session.base))
        : undefined;
    return { given: { words: target === undefined ? [] : [target], file: uri }, overrides: {}, flags: [] };
  }
  const words = part("words");
  const prompt = part("prompt");
  const overrides = part("overrides");
  const flags = part("flags");
  return {
    given: {
      words: Array.isArray(words) ? words.map(String) : [],
      ...(typeof prompt === "string" ? { prompt } : {}),
    },
    overrides: typeof overrides === "object" && overrides !== null ? { ...overrides } : {},
    flags: Array.isArray(flags) ? flags.map(String) : [],
  };
}

/** The folder that a view, a button or a file names. */
export function presetSession(sessions: Sessions, [first]: readonly unknown[]): Session | undefined {
  if (typeof first !== "object" || first === null) return undefined;
  const session: unknown = Reflect.get(first, "session");
  if (typeof session === "object" && session !== null) return sessions.all.find((one) => one === session);
  const scheme: unknown = Reflect.get(first, "scheme");
  return scheme === "file" ? sessions.ofFile(first as vscode.Uri) : undefined;
}
