import type { Finding } from "../model/finding.ts";
import type { Answer, DiffView, Editor, Notice, Question } from "../ports/editor.ts";
import { findingLine } from "./render.ts";
import { askInTerminal } from "./terminal.ts";

/** The Editor port of a terminal, for commands that run in this process. In CI it never blocks: `interactive` is false. */
export function createTerminalEditor(options: {
  readonly interactive: boolean;
  readonly write: (line: string) => void;
}): Editor {
  const { write } = options;
  const told = new Set<string>();
  return {
    host: "cli",
    interactive: options.interactive,
    activeFile: () => Promise.resolve(undefined),
    async ask(question: Question, signal: AbortSignal): Promise<Answer | undefined> {
      return options.interactive ? await askInTerminal(question, signal) : undefined;
    },
    notify(notice: Notice): void {
      write(notice.severity === "info" ? notice.text : `${notice.severity}: ${notice.text}`);
      if (notice.hint !== undefined) write(`  ${notice.hint}`);
    },
    progress(text: string): void {
      write(text);
    },
    showDiff(diff: DiffView): Promise<void> {
      write(diff.title);
      for (const line of changedLines(diff.left, diff.right)) write(line);
      return Promise.resolve();
    },
    // What mends a finding stands below the first of its rule: an audit may have thousands.
    showFindings(findings: readonly Finding[]): void {
      for (const finding of findings) {
        const { rule, remedy } = finding;
        write(findingLine(finding));
        if (remedy !== "" && !told.has(rule)) write(`  ${remedy}`);
        told.add(rule);
      }
    },
    open(at): Promise<void> {
      write(at.line === undefined ? at.path : `${at.path}:${at.line}`);
      return Promise.resolve();
    },
  };
}

/** Lines that are on one side only, by multiset: enough to see what a small settings file gained or lost. */
function changedLines(left: string, right: string): string[] {
  const before = left === "" ? [] : left.split("\n");
  const after = right === "" ? [] : right.split("\n");
  const gone = [...before];
  const added: string[] = [];
  for (const line of after) {
    const index = gone.indexOf(line);
    if (index === -1) added.push(`+ ${line}`);
    else gone.splice(index, 1);
  }
  return [...gone.map((line) => `- ${line}`), ...added];
}
