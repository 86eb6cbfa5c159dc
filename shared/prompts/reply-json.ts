/**
 * The JSON object of a reply, wherever it stands in it. Models put prose around it, a fence, raw line feeds inside
 * strings, a comma too many: all that is read. An object that does not end is `cut`. Every pass is linear.
 */
export type ReplyJson =
  | { readonly kind: "object"; readonly value: Readonly<Record<string, unknown>> }
  | { readonly kind: "cut" }
  | { readonly kind: "broken"; readonly message: string }
  | { readonly kind: "none" };

const opening = /\{\s*"(?:files|notes|concerns|summary|status)"\s*:/g;
/** Each try costs one pass over the text: a hostile reply must not make it many. */
const maxTries = 6;

export function readReplyJson(text: string): ReplyJson {
  opening.lastIndex = 0;
  let worst: ReplyJson = { kind: "none" };
  for (let tries = 0; tries < maxTries; tries += 1) {
    const found = opening.exec(text);
    if (found === null) break;
    const end = endOfObject(text, found.index);
    if (end === undefined) return worst.kind === "broken" ? worst : { kind: "cut" };
    const parsed = parseTolerant(text.slice(found.index, end));
    opening.lastIndex = end;
    if (parsed.kind === "broken") worst = parsed;
    else if (isObject(parsed.value) && Object.hasOwn(parsed.value, "files"))
      return { kind: "object", value: parsed.value };
  }
  return worst;
}

/** Offset after the object that starts at `from`; undefined when it does not end. */
export function endOfObject(text: string, from: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 92) at += 1;
      else if (code === 34) inString = false;
    } else if (code === 34) inString = true;
    else if (code === 123 || code === 91) depth += 1;
    else if (code === 125 || code === 93) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** JSON as models write it: raw line feeds in strings, unknown escapes, a comma too many. */
export function parseTolerant(
  text: string,
): { readonly kind: "value"; readonly value: unknown } | { readonly kind: "broken"; readonly message: string } {
  try {
    return { kind: "value", value: JSON.parse(text) };
  } catch {
    try {
      return { kind: "value", value: JSON.parse(repaired(text)) };
    } catch (error) {
      return { kind: "broken", message: error instanceof Error ? error.message : "not JSON" };
    }
  }
}

/** Escapes raw control characters and unknown escapes in strings, and drops commas before a closing bracket. */
function repaired(text: string): string {
  const out: string[] = [];
  let inString = false;
  let kept = 0;
  const flush = (to: number): void => {
    out.push(text.slice(kept, to));
  };
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 34) inString = false;
      else if (code === 92) {
        const next = text[at + 1] ?? "";
        if (!'"\\/bfnrtu'.includes(next)) {
          flush(at);
          out.push("\\");
          kept = at;
        }
        at += 1;
      } else if (code < 32) {
        flush(at);
        out.push(escapes[text[at] ?? ""] ?? `\\u${code.toString(16).padStart(4, "0")}`);
        kept = at + 1;
      }
    } else if (code === 34) inString = true;
    else if (code === 44 && closesNext(text, at + 1)) {
      flush(at);
      kept = at + 1;
    }
  }
  flush(text.length);
  return out.join("");
}

const escapes: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function closesNext(text: string, from: number): boolean {
  for (let at = from; at < text.length; at += 1) {
    const char = text[at] ?? "";
    if (char === "}" || char === "]") return true;
    if (!/\s/.test(char)) return false;
  }
  return false;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface JsonFile {
  readonly path: string;
  /** null deletes the file; undefined when the value is neither. */
  readonly text: string | null | undefined;
}

/** `files` in the shapes models give it: an object of texts, of lists of lines, of `{content}`; a list of `{path, content}`. */
export function filesOfJson(value: unknown): readonly JsonFile[] {
  if (Array.isArray(value)) {
    return value.flatMap((one: unknown) => {
      if (!isObject(one)) return [];
      const path = [one["path"], one["name"], one["file"], one["filename"]].find((name) => typeof name === "string");
      return typeof path === "string" ? [{ path, text: textOf(one) }] : [];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).map(([path, text]) => ({ path, text: textOf(text) }));
}

function textOf(value: unknown): string | null | undefined {
  if (typeof value === "string" || value === null) return value;
  if (Array.isArray(value)) return value.every((line) => typeof line === "string") ? value.join("\n") : undefined;
  if (!isObject(value)) return undefined;
  const text = [value["content"], value["text"], value["code"]].find(
    (one) => typeof one === "string" || Array.isArray(one),
  );
  return text === undefined || isObject(text) ? undefined : textOf(text);
}

/** A list of texts, or one text; anything else is nothing. */
export function textsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value.trim() === "" ? [] : [value];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
