import path from "node:path";
import { shellWord } from "../base/shell-word.ts";
import type { CommandResult } from "../model/command-result.ts";

/** Where a person stands who reads what comes next, and where the command worked. */
export interface Standing {
  /** The folder of the terminal. */
  readonly stand: string;
  /** The repository's root, from which a result names its paths. */
  readonly root: string;
  /** -C as typed: the commands that are named must go there, too. */
  readonly directory?: string;
  readonly exists: (path: string) => Promise<boolean>;
}

/** A path as it is typed: plain, or in the quotes of a shell. */
const word = /'(?:[^']|'\\'')*'|[^\s,;:"']+/;

/** Words that are typed, with the paths behind them. */
const typed = new RegExp(`\\b(git add(?: --)?|orch (?:qa|check)|Edit|Mend)((?: (?:${word.source}))+)`, "g");

/** Whether anything in it depends on where it is read: few results do, and the root has to be looked for. */
export function namesPaths({ next, error }: CommandResult): boolean {
  const lines = [...next.map((line) => line.replace(/^edit /, "Edit ")), error?.hint ?? ""];
  return lines.some((line) => [...line.matchAll(typed)].length > 0);
}

/**
 * The same result as a person in a terminal can type it: paths from where they stand, commands that go to the folder of -C,
 * and a file to edit in words, for `edit` is no command there. Hosts read the result as it was.
 */
export async function fromHere(result: CommandResult, standing: Standing): Promise<CommandResult> {
  const edits = result.next.map((line) => line.replace(/^edit /, "Edit "));
  const next = await Promise.all(edits.map((line) => pathsFromHere(line, standing)));
  const { error } = result;
  if (error === undefined) return { ...result, next: next.map((line) => thatGoesTo(line, standing)) };
  const hint = await pathsFromHere(error.hint, standing);
  return {
    ...result,
    next: next.map((line) => thatGoesTo(line, standing)),
    error: {
      ...error,
      hint: hint.replaceAll(
        /(: )((?:orch|git) )/g,
        (_all, colon, command) => `${colon}${thatGoesTo(command, standing)}`,
      ),
    },
  };
}

async function pathsFromHere(line: string, { stand, root, directory, exists }: Standing): Promise<string> {
  const found = [...line.matchAll(typed)].flatMap(([, command = "", words = ""]) =>
    [...words.matchAll(new RegExp(word, "g"))].map(([said]) => ({ command, said })),
  );
  let told = line;
  for (const { command, said } of found) {
    const named = said.startsWith("'") ? said.slice(1, -1).replaceAll("'\\''", "'") : said;
    if (path.isAbsolute(named) || !(await exists(path.join(root, named)))) continue;
    // With -C the command is sent to that folder, an editor is opened in this one.
    const inWords = /^(?:Edit|Mend)$/.test(command);
    const from = directory === undefined || inWords ? stand : path.resolve(stand, directory);
    const here = path.relative(from, path.join(root, named)) || ".";
    told = told.replace(` ${said}`, () => ` ${inWords ? here : shellWord(here)}`);
  }
  return told;
}

function thatGoesTo(line: string, { directory }: Standing): string {
  if (directory === undefined) return line;
  return line.replace(/^(orch|git) (?!-C )/, (_all, command) => `${command} -C ${shellWord(directory)} `);
}
