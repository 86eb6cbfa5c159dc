import type { FinalWord } from "../model/final-word.ts";
import { endOfObject, parseTolerant, textsOf } from "./reply-json.ts";

const words: Readonly<Record<string, FinalWord["status"]>> = {
  done: "done",
  complete: "done",
  completed: "done",
  success: "done",
  ok: "done",
  finished: "done",
  blocked: "blocked",
  needs_input: "blocked",
  failed: "failed",
  failure: "failed",
  error: "failed",
  partial: "failed",
  incomplete: "failed",
};

const opening = /\{\s*"(?:status|summary|files_changed|acceptance|concerns)"\s*:/g;
/** Each try is one pass over the text. */
const maxTries = 8;

/** The last object of that shape in the text, whatever stands around it. */
export function readFinal(text: string): FinalWord | undefined {
  const starts = [...text.matchAll(opening)].map(({ index }) => index).slice(-maxTries);
  let found: FinalWord | undefined;
  let until = 0;
  for (const from of starts) {
    if (from < until) continue;
    const end = endOfObject(text, from);
    if (end === undefined) continue;
    const parsed = parseTolerant(text.slice(from, end));
    if (parsed.kind === "broken" || !isObject(parsed.value)) continue;
    const final = finalOf(parsed.value);
    if (final === undefined) continue;
    found = final;
    until = end;
  }
  return found;
}

function finalOf(value: Readonly<Record<string, unknown>>): FinalWord | undefined {
  const said =
    typeof value["status"] === "string"
      ? value["status"]
          .trim()
          .toLowerCase()
          .replace(/[\s-]+/g, "_")
      : "";
  const status = Object.hasOwn(words, said) ? words[said] : undefined;
  if (status === undefined && !Object.hasOwn(value, "files_changed")) return undefined;
  const summary = typeof value["summary"] === "string" ? value["summary"].trim() : "";
  return {
    ...(status === undefined ? {} : { status }),
    ...(summary === "" ? {} : { summary }),
    filesChanged: pathsOf(value["files_changed"]),
    acceptance: acceptanceOf(value["acceptance"]),
    concerns: textsOf(value["concerns"]).filter((one) => one.trim() !== ""),
  };
}

/** A list of paths, of `{path}`, or an object whose keys are paths. */
function pathsOf(value: unknown): readonly string[] {
  if (isObject(value)) return Object.keys(value);
  if (!Array.isArray(value)) return textsOf(value);
  return value.flatMap((one: unknown) => {
    if (typeof one === "string") return [one];
    const path = isObject(one) ? (one["path"] ?? one["file"]) : undefined;
    return typeof path === "string" ? [path] : [];
  });
}

/** `{"A1": "how"}`, or a list of `{id, how}`. */
function acceptanceOf(value: unknown): Readonly<Record<string, string>> {
  const rows = Array.isArray(value) ? value.flatMap(acceptanceRow) : isObject(value) ? Object.entries(value) : [];
  return Object.fromEntries(rows.map(([id, how]) => [id, typeof how === "string" ? how : (JSON.stringify(how) ?? "")]));
}

function acceptanceRow(row: unknown): readonly (readonly [string, unknown])[] {
  if (!isObject(row) || typeof row["id"] !== "string") return [];
  return [[row["id"], row["how"] ?? row["text"] ?? row["met"] ?? ""]];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
