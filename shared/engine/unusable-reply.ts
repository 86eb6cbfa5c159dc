import { lineAt } from "../base/lines.ts";
import type { UnusableWhy } from "../ports/model.ts";
import { readBlocks } from "../prompts/reply-blocks.ts";
import { readReplyJson } from "../prompts/reply-json.ts";

interface Marker {
  readonly name: string;
  readonly pattern: RegExp;
}

/**
 * Replies that no extraction can mend, judged by their text alone. A model without tools that answers with the markup
 * of a tool call wanted to act instead of answering; a reply that stops inside a fence, a SEARCH/REPLACE block or a JSON text was cut off.
 */
const markers: readonly Marker[] = [
  { name: "<tool_calls>", pattern: /^\s*<\/?tool_calls?(?:\s[^>]*)?>/im },
  { name: "<invoke>", pattern: /^\s*<(?:antml:)?invoke\s+name=/im },
  { name: "<function_calls>", pattern: /^\s*<(?:antml:)?function_calls>/im },
  { name: "<function=...>", pattern: /^\s*<function=[\w.-]+>/im },
  {
    name: "<|tool_call|>",
    pattern: /<\|(?:tool_calls?(?:_begin|_start|_section_begin)?|python_tag|function_call)\|?>/i,
  },
  { name: "<|tool_call", pattern: /<\uFF5Ctool[_\u2581]calls?[_\u2581]begin\uFF5C>/i },
  { name: "[TOOL_CALLS]", pattern: /^\s*\[TOOL_(?:CALLS|REQUEST)\]/m },
  {
    name: "<use_mcp_tool>",
    pattern: /^\s*<(?:use_mcp_tool|execute_command|write_to_file|read_file|apply_diff|str_replace_editor)>/im,
  },
  { name: "```tool_call", pattern: /^\s*(?:```|~~~)\s*tool_(?:calls?|code|use)\b/im },
];

/**
 * The same in the middle of a line, behind a word of the model's. There a sentence may speak of a tag, so one counts
 * only where a call goes on: with another tag, with JSON, or at the line's end. At its end a sentence may end, too: there
 * it counts only where no whole file follows.
 */
const goesOn = String.raw`(?=[ \t]*(?:$|[<{[]))`;
const midLine: readonly Marker[] = [
  { name: "<tool_calls>", pattern: new RegExp(String.raw`</?tool_calls?(?:\s[^<>]*)?>${goesOn}`, "im") },
  { name: "<invoke>", pattern: new RegExp(String.raw`<(?:antml:)?invoke\s+name=[^<>\n]*>${goesOn}`, "im") },
  { name: "<function_calls>", pattern: new RegExp(String.raw`<(?:antml:)?function_calls>${goesOn}`, "im") },
  { name: "<function=...>", pattern: new RegExp(String.raw`<function=[\w.-]+>${goesOn}`, "im") },
  { name: "[TOOL_CALLS]", pattern: /\[TOOL_(?:CALLS|REQUEST)\][ \t]*[[{]/ },
  {
    name: "<use_mcp_tool>",
    pattern: new RegExp(
      String.raw`<(?:use_mcp_tool|execute_command|write_to_file|read_file|apply_diff|str_replace_editor)>${goesOn}`,
      "im",
    ),
  },
];

export interface UnusableReply {
  readonly why: UnusableWhy;
  readonly detail: string;
}

/** undefined when the text may be worth reading. */
export function unusableReply(text: string): UnusableReply | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return { why: "empty", detail: "an empty reply" };
  const json = readJson(trimmed);
  if (json.kind === "parsed") {
    return isToolCall(json.value)
      ? { why: "tool-markup", detail: "a tool call written as JSON instead of an answer" }
      : undefined;
  }
  const fences = readFences(trimmed);
  const isJson = /^(?:\{|\[\{)/.test(trimmed);
  const outside = withoutQuoted(fences.outside.map(({ text: line }) => line).join("\n"), isJson);
  const lastFile = lastFileIn(trimmed);
  const marker =
    markers.find(({ pattern }) => pattern.test(outside)) ??
    // What is taken out of JSON may hold line ends: there its lines are no lines of the reply.
    markerInLine(outside, isJson ? 0 : fences.outside.findLastIndex(({ line }) => line < lastFile) + 1);
  if (marker) return { why: "tool-markup", detail: `raw tool-call markup (${marker.name}) instead of an answer` };
  if (json.kind === "cut") return { why: "truncated", detail: "the JSON text stops before its end" };
  if (fences.open)
    return { why: "truncated", detail: `a ${fences.open.what} opened at line ${fences.open.line} is never closed` };
  return undefined;
}

/** A tag that ends one of the first `sentences` lines, before the reply's last file, is a sentence's. */
function markerInLine(text: string, sentences: number): Marker | undefined {
  const before = text.split("\n").slice(0, sentences).join("\n").length;
  return midLine.find(({ pattern }) => {
    for (const match of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
      const end = match.index + match[0].length;
      if (end > before || !/^[ \t]*(?:\n|$)/.test(text.slice(end, end + 200))) return true;
    }
    return false;
  });
}

/** The 1-based line in which the last whole file of a reply begins, or what is to be changed in one; 0 without any. */
function lastFileIn(reply: string): number {
  const named = readBlocks(reply).blocks.findLast(({ label }) => label !== undefined);
  const object = readReplyJson(reply).kind === "object" ? reply.lastIndexOf('"files"') : -1;
  return Math.max(named?.line ?? 0, object === -1 ? 0 : lineAt(reply, object));
}

type JsonLook =
  | { readonly kind: "parsed"; readonly value: unknown }
  | { readonly kind: "cut" }
  | { readonly kind: "other" };

function readJson(text: string): JsonLook {
  if (!text.startsWith("{") && !text.startsWith("[{")) return { kind: "other" };
  try {
    return { kind: "parsed", value: JSON.parse(text) };
  } catch {
    return isOpenJson(text) ? { kind: "cut" } : { kind: "other" };
  }
}

/**
 * True when the text ends inside a string or with brackets still open: broken JSON of another kind is extraction's
 * matter.
 */
function isOpenJson(text: string): boolean {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (inString) {
      if (char === "\\") at += 1;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") {
      depth -= 1;
      if (depth === 0) return false;
    }
  }
  return inString || depth > 0;
}

/** `{"name": ..., "arguments": ...}`, alone, in a list or under `tool_calls`: the shapes models emit. */
function isToolCall(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.every(isToolCall);
  if (typeof value !== "object" || value === null) return false;
  const keys = Object.keys(value);
  if (keys.includes("files")) return false;
  if (keys.includes("tool_calls") || keys.includes("function_call")) return true;
  return keys.includes("name") && (keys.includes("arguments") || keys.includes("parameters")) && keys.length <= 4;
}

/**
 * Without inline code and without what stands between double quotes: the strings of a JSON object (its words may hold
 * whole files, and line breaks that should not be there), elsewhere what a sentence cites.
 */
function withoutQuoted(text: string, isJson: boolean): string {
  const code = /`[^`\n]+`/g;
  if (isJson) return text.replace(/"(?:[^"\\]|\\[\s\S])*(?:"|$)/g, '""').replace(code, "``");
  return text.replace(code, "``").replace(/"(?:[^"\\\n]|\\.)*"/g, '""');
}

const searchLine = /^\s*<{5,9} ?SEARCH\s*$/;
const replaceLine = /^\s*>{5,9} ?REPLACE\s*$/;

interface Outside {
  readonly outside: readonly { readonly text: string; readonly line: number }[];
  readonly open?: { readonly what: "code fence" | "SEARCH/REPLACE block"; readonly line: number };
}

/**
 * Lines outside fenced blocks (the fence lines kept) and SEARCH/REPLACE blocks, and the block that is never closed. Lines
 * count from 1.
 */
function readFences(text: string): Outside {
  const outside: { readonly text: string; readonly line: number }[] = [];
  let fence: { readonly mark: string; readonly line: number } | undefined;
  let patch: number | undefined;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (fence === undefined && (patch !== undefined || searchLine.test(line))) {
      patch = replaceLine.test(line) ? undefined : (patch ?? index + 1);
      continue;
    }
    const match = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line);
    const [, mark = "", info = ""] = match ?? [];
    if (fence === undefined) {
      outside.push({ text: line, line: index + 1 });
      if (match && !(mark.startsWith("`") && info.includes("`"))) fence = { mark, line: index + 1 };
    } else if (match && info.trim() === "" && mark.startsWith(fence.mark)) fence = undefined;
  }
  if (fence !== undefined) return { outside, open: { what: "code fence", line: fence.line } };
  return patch === undefined ? { outside } : { outside, open: { what: "SEARCH/REPLACE block", line: patch } };
}
