import { looksLikePath } from "./reply-path.ts";

/**
 * Fenced blocks and SEARCH/REPLACE blocks of a reply, read line by line in one pass. A fence inside a fence (a code
 * sample in a README) belongs to the outer one: a line of backticks with a language opens, one without closes.
 */
export interface Label {
  readonly path: string;
  /** The label can mean nothing else; an unsure one ("here is `Handler.py`:") counts only for a file that is known. */
  readonly sure: boolean;
}

export type Block =
  | { readonly kind: "file"; readonly label?: Label; readonly text: string; readonly line: number }
  | {
      readonly kind: "patch";
      readonly label?: Label;
      readonly search: string;
      readonly replace: string;
      readonly line: number;
    };

export interface Blocks {
  readonly blocks: readonly Block[];
  /** 1-based line of a fence or patch that never ends. */
  readonly open?: { readonly line: number; readonly what: "fence" | "patch" };
}

const fencePattern = /^( *)(`{3,}|~{3,})(.*)$/;
const searchPattern = /^<{5,9} ?SEARCH\s*$/;
const dividerPattern = /^={5,9}\s*$/;
const replacePattern = /^>{5,9} ?REPLACE\s*$/;

export function hasPatch(text: string): boolean {
  return /^\s{0,3}<{5,9} ?SEARCH\s*$/m.test(text);
}

export function readBlocks(text: string): Blocks {
  const lines = text.split("\n");
  const blocks: Block[] = [];
  let above: string | undefined;
  let headed: Heading | undefined;
  const headings: Heading[] = [];
  let patched: Label | undefined;
  for (let at = 0; at < lines.length;) {
    const line = lines[at] ?? "";
    const fence = openingOf(line);
    if (fence !== undefined) {
      const end = endOfFence(lines, at, fence);
      if (end.at === undefined)
        return { blocks, open: { line: (end.patch ?? at) + 1, what: end.patch === undefined ? "fence" : "patch" } };
      const content = lines.slice(at + 1, end.at).map((one) => dedented(one, fence.indent));
      const own = labelOfInfo(fence.info) ?? labelOfLine(above);
      const read = blocksOfFence(content, own, at + 2);
      const [first] = read;
      if (first?.kind === "file" && first.label === undefined && headed !== undefined && fits(headed, fence.info))
        headed.below.push(blocks.length);
      blocks.push(...read);
      patched = read.findLast((block) => block.kind === "patch")?.label ?? patched;
      above = undefined;
      if (own !== undefined) headed = undefined;
      at = end.at + 1;
    } else if (searchPattern.test(line.trim())) {
      const patch = readPatch(lines, at);
      if (patch === undefined) return { blocks, open: { line: at + 1, what: "patch" } };
      patched = labelOfLine(above) ?? patched;
      blocks.push({
        kind: "patch",
        ...(patched === undefined ? {} : { label: patched }),
        ...patch.block,
        line: at + 1,
      });
      above = undefined;
      at = patch.next;
    } else {
      if (line.trim() !== "") above = line;
      if (/^#{1,6}\s|^\*\*/.test(line)) headed = headingOf(line);
      if (headed !== undefined && headings.at(-1) !== headed) headings.push(headed);
      at += 1;
    }
  }
  for (const { label, below } of headings) {
    const at = theFile(below, blocks);
    const block = at === undefined ? undefined : blocks[at];
    if (at !== undefined && block !== undefined) blocks[at] = { ...block, label };
  }
  return { blocks };
}

/** Names of languages that models write behind a fence. */
const languages: readonly (readonly [name: RegExp, ends: RegExp])[] = [
  [/^py/, /\.pyi?$/],
  [/^(?:ts|typescript)$/, /\.[cm]?ts$/],
  [/^(?:tsx|typescript(?:react)?)$/, /\.tsx$/],
  [/^(?:js|javascript|mjs|cjs)$/, /\.[cm]?js$/],
  [/^(?:jsx|javascript(?:react)?)$/, /\.jsx$/],
  [/^go(?:lang)?$/, /\.go$/],
  [/^(?:rs|rust)$/, /\.rs$/],
  [/^java$/, /\.java$/],
];

/** A heading that names a file, and the blocks of its language below it that nothing else names. */
interface Heading {
  readonly label: Label;
  /** Places among the blocks. */
  readonly below: number[];
}

function headingOf(line: string): Heading | undefined {
  const label = labelOfLine(line);
  return label === undefined ? undefined : { label: { path: label.path, sure: false }, below: [] };
}

function fits({ label }: Heading, info: string): boolean {
  const language = /^[\w+#.-]*/.exec(info)?.[0].toLowerCase() ?? "";
  return languages.some(([name, ends]) => name.test(language) && ends.test(label.path));
}

/** Which of them is the file: the only one, or one beside which the others are snippets. Else nobody can tell. */
function theFile(below: readonly number[], blocks: readonly Block[]): number | undefined {
  const size = (at: number): number => {
    const block = blocks[at];
    return block?.kind === "file" ? block.text.length : 0;
  };
  const [longest, next] = below.toSorted((a, b) => size(b) - size(a));
  if (longest === undefined || next === undefined) return longest;
  return size(longest) >= 2 * size(next) ? longest : undefined;
}

interface Fence {
  readonly indent: number;
  readonly mark: string;
  readonly info: string;
}

function openingOf(line: string): Fence | undefined {
  if (line.length > 500) return undefined;
  const [, indent = "", mark = "", info = ""] = fencePattern.exec(line) ?? [];
  if (mark === "" || (mark.startsWith("`") && info.includes("`"))) return undefined;
  return { indent: indent.length, mark, info: info.trim() };
}

/** Line index of the closing fence; `patch` is the line of a patch that swallowed it. */
function endOfFence(
  lines: readonly string[],
  from: number,
  outer: Fence,
): { readonly at?: number; readonly patch?: number } {
  let depth = 1;
  let patch: number | undefined;
  for (let at = from + 1; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    if (patch !== undefined) {
      if (replacePattern.test(line.trim())) patch = undefined;
      continue;
    }
    if (searchPattern.test(line.trim())) {
      patch = at;
      continue;
    }
    const fence = openingOf(line);
    if (fence === undefined || fence.indent > outer.indent + 3 || !fence.mark.startsWith(outer.mark)) continue;
    depth += fence.info === "" ? -1 : 1;
    if (depth === 0) return { at };
  }
  return patch === undefined ? {} : { patch };
}

function blocksOfFence(content: readonly string[], label: Label | undefined, firstLine: number): Block[] {
  if (!content.some((line) => searchPattern.test(line.trim()))) return [fileBlock(content, label, firstLine)];
  const blocks: Block[] = [];
  let current = label;
  for (let at = 0; at < content.length;) {
    const line = content[at] ?? "";
    const patch = searchPattern.test(line.trim()) ? readPatch(content, at) : undefined;
    if (patch === undefined) {
      current = pathAlone(line) ?? current;
      at += 1;
      continue;
    }
    blocks.push({
      kind: "patch",
      ...(current === undefined ? {} : { label: current }),
      ...patch.block,
      line: firstLine + at,
    });
    at = patch.next;
  }
  return blocks;
}

/** A label in the first line (`# Handler.py`) names the block and is no part of the file. */
function fileBlock(content: readonly string[], label: Label | undefined, line: number): Block {
  const first = content.find((one) => one.trim() !== "") ?? "";
  const inside = label === undefined ? labelOfComment(first) : undefined;
  if (inside === undefined)
    return { kind: "file", ...(label === undefined ? {} : { label }), text: joined(content), line };
  return { kind: "file", label: inside, text: joined(content.slice(content.indexOf(first) + 1)), line };
}

function readPatch(
  lines: readonly string[],
  from: number,
): { readonly block: { search: string; replace: string }; readonly next: number } | undefined {
  let divider: number | undefined;
  for (let at = from + 1; at < lines.length; at += 1) {
    const line = (lines[at] ?? "").trim();
    if (divider === undefined) {
      if (dividerPattern.test(line)) divider = at;
    } else if (replacePattern.test(line)) {
      const block = { search: joined(lines.slice(from + 1, divider)), replace: joined(lines.slice(divider + 1, at)) };
      return { block, next: at + 1 };
    }
  }
  return undefined;
}

function joined(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function dedented(line: string, indent: number): string {
  let at = 0;
  while (at < indent && line[at] === " ") at += 1;
  return line.slice(at);
}

/** ```` ```python features/a/B/Handler.py ````, `python:Handler.py`, `title="Handler.py"`, `Handler.py`. */
function labelOfInfo(info: string): Label | undefined {
  if (info === "") return undefined;
  const named =
    /(?:^|[\s{,])(?:title|file|filename|filepath|path|name)\s*[=:]\s*(?:"([^"]+)"|'([^']+)'|([^\s,}]+))/i.exec(info);
  const rest = info
    .replace(/^[\w+#.-]*[\s:]\s*/, "")
    .replace(/^(?:#|\/\/|\()\s*/, "")
    .replace(/\)$/, "");
  const candidates = [named?.[1] ?? named?.[2] ?? named?.[3], rest, info];
  const path = candidates.find((one) => one !== undefined && looksLikePath(one));
  return path === undefined ? undefined : { path, sure: true };
}

/** The line above a block: a heading, a bold or quoted name, `File: x`, or prose with one quoted path and a colon. */
function labelOfLine(line: string | undefined): Label | undefined {
  if (line === undefined || line.length > 300) return undefined;
  const alone = pathAlone(line);
  if (alone !== undefined) return alone;
  const quoted = [...line.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "").filter(looksLikePath);
  const [path] = quoted;
  if (path === undefined || quoted.length > 1) return undefined;
  const heading = /^\s*(?:#{1,6}\s|\*\*|\d+[.)]\s)/.test(line);
  return heading || /:\s*(?:\*\*)?\s*$/.test(line) ? { path, sure: false } : undefined;
}

/** The line is nothing but a path and its decoration. */
function pathAlone(line: string): Label | undefined {
  if (line.length > 300) return undefined;
  const bare = line
    .trim()
    .replace(/^(?:#{1,6}\s+|[-*+]\s+(?=\S))/, "")
    .replace(/^\d+[.)]\s+/, "")
    .replace(/^[*_]{1,3}(?=\S)/, "")
    .replace(
      /^(?:(?:new|updated?|create|modified|edit)\s+)?(?:file\s*(?:name|path)?|path|filename)\s*:?\s*[*_]{0,3}\s*:?\s*(?=\S)/i,
      "",
    )
    .replace(/\s*\((?:new|updated|modified|whole file|full|complete)[^)]*\)\s*:?\s*$/i, "")
    .replace(/(?<=\S)\s*:?\s*[*_]{0,3}\s*:?\s*$/, "")
    .replace(/^`([^`]+)`$/, "$1")
    .replace(/:$/, "");
  return looksLikePath(bare) ? { path: bare, sure: true } : undefined;
}

function labelOfComment(line: string): Label | undefined {
  if (line.length > 300) return undefined;
  const [, text = ""] = /^\s*(?:#+|\/\/+|--|;+|<!--|\/\*+)\s*(.*?)\s*(?:-->|\*\/)?\s*$/.exec(line) ?? [];
  const path = text.replace(/^(?:file(?:name|path)?|path)\s*:\s*/i, "");
  return looksLikePath(path) ? { path, sure: true } : undefined;
}
