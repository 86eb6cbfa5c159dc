import type { z } from "zod";

/** What a schema has to say about a value, in a person's words. */
export interface SchemaIssue {
  /** Keys and indices down to what is wrong; of an unknown key, the key itself. */
  readonly path: readonly (string | number)[];
  /** `features.max_attempts must be a whole number`. */
  readonly message: string;
}

/** The first thing that is wrong with `value`. */
export function schemaIssue(issue: z.core.$ZodIssue | undefined, value: unknown): SchemaIssue {
  const path = (issue?.path ?? []).filter((part): part is string | number => typeof part !== "symbol");
  const unknown = issue?.code === "unrecognized_keys" ? issue.keys : [];
  const [first] = unknown;
  if (first !== undefined) {
    const names = unknown.map((key) => JSON.stringify(placeOf([...path, key]))).join(", ");
    return { path: [...path, first], message: `${names}: unknown ${unknown.length === 1 ? "key" : "keys"}` };
  }
  const where = path.length === 0 ? "it" : placeOf(path);
  return { path, message: `${where} ${wordsOf(issue, isMissing(value, path))}` };
}

/** `checks[0].pattern` */
function placeOf(path: readonly (string | number)[]): string {
  const parts = path.map((part, at) => (typeof part === "number" ? `[${part}]` : at === 0 ? part : `.${part}`));
  return parts.join("");
}

function wordsOf(issue: z.core.$ZodIssue | undefined, missing: boolean): string {
  if (missing) return "is missing";
  switch (issue?.code) {
    case "invalid_type":
      return `must be ${nouns[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return bound(issue, `${issue.inclusive === false ? "more than" : "at least"} ${issue.minimum}`);
    case "too_big":
      return bound(issue, `${issue.inclusive === false ? "less than" : "at most"} ${issue.maximum}`);
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_format":
      return issue.message.startsWith("Invalid") ? "has the wrong form" : `is wrong: ${issue.message}`;
    case "invalid_key":
      // Of a bad key zod says only that it is one; what is wrong with it stands inside.
      return `is wrong: ${issue.issues[0]?.message ?? issue.message}`;
    case "custom":
      return `is wrong: ${issue.message}`;
    case "invalid_union":
    case "invalid_element":
    case "unrecognized_keys":
    case undefined:
      return "has the wrong shape";
  }
}

function bound({ origin }: { readonly origin: string }, limit: string): string {
  if (limit === "at least 1" && origin !== "number" && origin !== "int") return "must not be empty";
  if (origin === "string") return `must have ${limit} characters`;
  if (origin === "array" || origin === "set" || origin === "map") return `must have ${limit} entries`;
  return `must be ${limit}`;
}

const nouns: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  tuple: "a list",
  object: "an object",
  record: "an object",
};

function isMissing(value: unknown, path: readonly (string | number)[]): boolean {
  let at = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null) return false;
    at = Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined;
  }
  return path.length > 0 && at === undefined;
}
