import type { DiffHunk } from "../model/change.ts";

/**
 * The sections of a patch, each as its hunks without the lines around them: a run of removed and added lines is a hunk,
 * as `-U0` would have it. Hunk lines are counted by the `@@` header, so a content line that looks like a header is
 * content. A binary, empty or mode-only section has no hunks.
 */
export function parsePatch(patch: Uint8Array): readonly (readonly DiffHunk[])[] {
  const bytes = Buffer.from(patch.buffer, patch.byteOffset, patch.length);
  const sections: DiffHunk[][] = [];
  // Nothing of a file's content stands at the begin of a line.
  for (let at = bytes.indexOf(sectionStart) === 0 ? 0 : nextSection(bytes, 0); at !== -1;) {
    const next = nextSection(bytes, at);
    sections.push(hunksOf(decoder.decode(bytes.subarray(at, next === -1 ? bytes.length : next))));
    at = next;
  }
  return sections;
}

const sectionStart = "diff --git ";
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function nextSection(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(`\n${sectionStart}`, from);
  return found === -1 ? -1 : found + 1;
}

function hunksOf(section: string): DiffHunk[] {
  const hunks: DiffHunk[] = [];
  for (let at = section.indexOf("\n@@ -"); at !== -1; at = section.indexOf("\n@@ -", at)) {
    const end = endOfLine(section, at + 1);
    const match = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(section.slice(at + 1, Math.min(end, at + 81)));
    at = match === null ? end : readRuns(section, end, match, hunks);
  }
  return hunks;
}

/** Reads the lines that the header counts, and gives the place of the line end after them. */
function readRuns(
  section: string,
  headerEnd: number,
  [, oldAt, oldCount, newAt, newCount]: RegExpExecArray,
  into: DiffHunk[],
): number {
  let oldLeft = Number(oldCount ?? 1);
  let newLeft = Number(newCount ?? 1);
  // A side without lines is named by the line before.
  let oldLine = Number(oldAt) + (oldLeft === 0 ? 1 : 0);
  let newLine = Number(newAt) + (newLeft === 0 ? 1 : 0);
  let removed: string[] = [];
  let added: string[] = [];
  const close = (): void => {
    if (removed.length === 0 && added.length === 0) return;
    const oldStart = removed.length === 0 ? oldLine - 1 : oldLine - removed.length;
    const newStart = added.length === 0 ? newLine - 1 : newLine - added.length;
    into.push({ oldStart, newStart, removed, added });
    [removed, added] = [[], []];
  };
  let end = headerEnd;
  while ((oldLeft > 0 || newLeft > 0) && end < section.length - 1) {
    const start = end + 1;
    end = endOfLine(section, start);
    const mark = section.charCodeAt(start);
    if (mark === minus) {
      removed.push(lineBody(section, start, end));
      oldLine += 1;
      oldLeft -= 1;
    } else if (mark === plus) {
      added.push(lineBody(section, start, end));
      newLine += 1;
      newLeft -= 1;
    } else if (mark !== backslash) {
      close();
      oldLine += 1;
      newLine += 1;
      oldLeft -= 1;
      newLeft -= 1;
    } // a backslash says that no line end follows
  }
  close();
  return end;
}

const [minus, plus, backslash, carriageReturn] = [45, 43, 92, 13] as const;

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function lineBody(text: string, start: number, end: number): string {
  const stop = end - 1 > start && text.charCodeAt(end - 1) === carriageReturn ? end - 1 : end;
  return text.slice(start + 1, stop);
}
