import { findNodeAtLocation, type ParseError, parse, parseTree, printParseErrorCode } from "jsonc-parser";
import type { z } from "zod";
import { lineAt } from "../base/lines.ts";
import { endOfString, tooDeepAt } from "./json-depth.ts";
import { schemaIssue } from "./schema-issue.ts";

/** What is wrong with a JSON text, and where: `line` is 1-based. */
export interface JsonFault {
  readonly line: number;
  readonly message: string;
}

export type JsonResult<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "bad"; readonly fault: JsonFault };

/**
 * Reads JSON that a person may have written: comments and a byte order mark are allowed, conflict markers are named, and
 * the first fault comes with its line. Every file that is read goes through here and a schema.
 */
export function readJson<S extends z.ZodType>(
  text: string,
  schema: S,
  options: { readonly trailingCommas?: boolean } = {},
): JsonResult<z.output<S>> {
  const conflict = /^(?:<{7}|={7}|>{7})(?:\s|$)/m.exec(text);
  if (conflict && /^<{7}/m.test(text))
    return bad(lineAt(text, conflict.index), "it holds conflict markers of an unfinished merge");
  const body = text.startsWith("\uFEFF") ? text.slice(1) : text;
  const deep = tooDeepAt(body);
  if (deep !== undefined) return bad(lineAt(body, deep), "it is nested deeper than 100 levels here");
  const parseOptions = { allowTrailingComma: options.trailingCommas ?? false, disallowComments: false };
  let value = plainValue(body);
  if (value === undefined) {
    const errors: ParseError[] = [];
    value = parse(body, errors, parseOptions) as unknown;
    const first = errors[0];
    if (first) return bad(lineAt(body, first.offset), describe(first));
    const duplicate = duplicateKey(body);
    if (duplicate) return bad(duplicate.line, duplicate.message);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "ok", value: parsed.data };
  const { path, message } = schemaIssue(parsed.error.issues[0], value);
  const root = parseTree(body, [], parseOptions);
  let node = root;
  for (let length = path.length; root && length > 0; length -= 1) {
    const found = findNodeAtLocation(root, path.slice(0, length));
    if (found) {
      node = found;
      break;
    }
  }
  return bad(node ? lineAt(body, node.offset) : 1, message);
}

/**
 * The value of a text that is JSON to the letter and names no key twice, as nearly every file is: the parser that knows
 * places takes thirty times as long. undefined where that one has to look.
 */
function plainValue(body: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return undefined;
  }
  return keysNamed(body) === keysIn(value) ? value : undefined;
}

/** How many keys a JSON text names. A loop, for an expression that walks over a text of many megabytes ends the stack. */
function keysNamed(body: string): number {
  let count = 0;
  for (let at = body.indexOf('"'); at !== -1; at = body.indexOf('"', at)) {
    at = endOfString(body, at) + 1;
    while (isBlank(body.charCodeAt(at))) at += 1;
    if (body[at] === ":") count += 1;
  }
  return count;
}

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

function keysIn(value: unknown): number {
  let count = 0;
  const pending = [value];
  for (let one = pending.pop(); one !== undefined; one = pending.pop()) {
    if (typeof one !== "object" || one === null) continue;
    const inside: unknown[] = Object.values(one);
    if (!Array.isArray(one)) count += inside.length;
    for (const each of inside) pending.push(each);
  }
  return count;
}

function bad(line: number, message: string): { readonly kind: "bad"; readonly fault: JsonFault } {
  return { kind: "bad", fault: { line, message } };
}

function describe(error: ParseError): string {
  const words = printParseErrorCode(error.error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
  return `it is not JSON here (${words})`;
}

/** JSON.parse keeps the last of two equal keys in silence; a person should be told instead. */
function duplicateKey(text: string): JsonFault | undefined {
  const pending = [parseTree(text, [], { disallowComments: false })];
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node.type === "object") {
      const seen = new Set<string>();
      for (const property of node.children ?? []) {
        const key = property.children?.[0];
        if (!key) continue;
        const name = String(key.value);
        if (seen.has(name)) return { line: lineAt(text, key.offset), message: `the key "${name}" stands twice` };
        seen.add(name);
      }
    }
    pending.push(...(node.children ?? []));
  }
  return undefined;
}
