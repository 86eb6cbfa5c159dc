import picocolors from "picocolors";
import { type Command, commands, isCommandName } from "../app/commands.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { ParsedEvent } from "../model/event.ts";
import { shownLine } from "../base/lines.ts";
import { jsonDocument } from "./document.ts";
import { type Colors, type Detail, eventLines, resultLines } from "./render.ts";

/** Where lines go. stdout is the command's own: lines, one document, or event lines; everything else goes to stderr. */
export interface Output {
  /** An event of the run that is watched; with `several` contracts in it, a line says which one it is about. */
  event(parsed: ParsedEvent, several?: boolean): void;
  /** Progress of a command that runs in this process. */
  line(text: string): void;
  /** About the watching itself, for the person. */
  note(text: string): void;
  /** The end: once. */
  result(command: string, result: CommandResult): void;
}

export interface OutputOptions {
  readonly stdout: (text: string) => void;
  readonly stderr: (text: string) => void;
  readonly mode: "lines" | "document" | "events";
  readonly detail: Detail;
  readonly version: string;
  readonly color: Colors;
}

export function createOutput(options: OutputOptions): Output {
  const { stdout, stderr, mode, detail, version, color } = options;
  return {
    event(parsed, several = false) {
      if (mode === "events" && parsed.kind !== "bad") stdout(`${JSON.stringify(lineOf(parsed))}\n`);
      if (mode !== "lines" || parsed.kind !== "event") return;
      for (const line of eventLines(parsed.event, { detail, color, several })) stdout(`${line}\n`);
    },
    line(text) {
      if (mode === "lines" && detail !== "quiet") stdout(`${shownLine(text)}\n`);
    },
    note(text) {
      stderr(`${shownLine(text)}\n`);
    },
    result(command, result) {
      if (mode === "document") {
        stdout(`${JSON.stringify(jsonDocument(command, version, result))}\n`);
        return;
      }
      if (mode === "events") {
        if (!result.ok) for (const line of resultLines(result, color)) stderr(`${line}\n`);
        return;
      }
      if (result.ok && isForShells(command)) {
        for (const line of textOf(result.data)) stdout(`${line}\n`);
        return;
      }
      const write = result.ok ? stdout : stderr;
      if (detail !== "quiet") for (const line of textBefore(result, detail)) stdout(`${shownLine(line)}\n`);
      for (const line of resultLines(result, color)) write(`${line}\n`);
      if (detail === "verbose" && result.code === 70) stderr(`${stackOf(result.data)}\n`);
    },
  };
}

/** Its text is read by a program: nothing stands around it. */
function isForShells(name: string): boolean {
  const command: Command | undefined = isCommandName(name) ? commands[name] : undefined;
  return command?.terminal === true;
}

function lineOf(parsed: Exclude<ParsedEvent, { kind: "bad" }>): object {
  if (parsed.kind === "event") return parsed.event;
  const { unknown: _mark, body, ...envelope } = parsed.event;
  return { ...envelope, ...body };
}

/** A command's plain-text form, when it has one: `data.text`, with --verbose `data.verboseText`. */
function textOf(data: unknown, detail?: Detail): readonly string[] {
  if (detail === "verbose" && typeof data === "object" && data !== null && "verboseText" in data)
    return textOf({ text: data.verboseText });
  if (typeof data !== "object" || data === null || !("text" in data) || !Array.isArray(data.text)) return [];
  return data.text.filter((line): line is string => typeof line === "string");
}

const plainColors = picocolors.createColors(false);

/** What the end says by itself (how it ended, its hint, what comes next) does not stand in the text above it, too. */
function textBefore(result: CommandResult, detail: Detail): readonly string[] {
  const end = new Set(resultLines(result, plainColors));
  return textOf(result.data, detail).filter((line) => line.trim() === "" || !end.has(line.trim()));
}

function stackOf(data: unknown): string {
  return typeof data === "object" && data !== null && "stack" in data ? String(data.stack) : "";
}
