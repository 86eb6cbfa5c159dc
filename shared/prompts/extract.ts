import { clip, count } from "../base/lines.ts";
import { applyPatch } from "./patch-apply.ts";
import { findPlaceholder } from "./placeholder.ts";
import { type LeftMark, markLeft } from "./redact.ts";
import { type Block, hasPatch, readBlocks } from "./reply-blocks.ts";
import { filesOfJson, readReplyJson, textsOf } from "./reply-json.ts";
import { type ReplyScope, resolveReplyPath } from "./reply-path.ts";

/**
 * Files out of a completion's reply: a JSON object `{"files": {name: text}}`, fenced blocks headed by a path, or
 * SEARCH/REPLACE blocks, with prose around any of them. Nothing here touches a disk, and nothing in a reply is obeyed: a
 * path is taken only inside the scope, the rest is listed. A reply that looks cut off gives a problem and no file.
 */
export interface ExtractOptions extends ReplyScope {
  readonly isAllowed: (path: string) => boolean;
  readonly isProtected: (path: string) => boolean;
}

export interface ReplyProblem {
  readonly kind: "extraction" | "truncation";
  readonly message: string;
  readonly path?: string;
  readonly evidence: string;
}

export type Edit =
  | { readonly kind: "whole"; readonly path: string; readonly text: string }
  | { readonly kind: "patch"; readonly path: string; readonly search: string; readonly replace: string }
  | { readonly kind: "delete"; readonly path: string };

export interface Extraction {
  readonly edits: readonly Edit[];
  /** Paths outside the scope, as written: refused. */
  readonly refused: readonly string[];
  /** Protected files the reply held: left as they are. */
  readonly skipped: readonly string[];
  readonly problems: readonly ReplyProblem[];
  readonly notes?: string;
  readonly concerns: readonly string[];
  /** An object without a file that says why: the task cannot be done as written. */
  readonly stopped?: boolean;
}

/** Bounds of a reply: more than this is no answer to a prompt of ours. */
export const replyLimits = { files: 200, patches: 400, fileChars: 1_000_000 } as const;

/** Which files the reply means to change, in its order. Pure and linear in the reply's length; never throws. */
export function readReply(reply: string, options: ExtractOptions): Extraction {
  const text = reply.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
  const json = readReplyJson(text);
  const blocks = readBlocks(text);
  const labelled = blocks.blocks.some(({ label }) => label?.sure === true);
  if (json.kind === "object" && !(labelled && !startsWithJson(text))) return fromJson(json.value, options);
  if (json.kind === "cut" && !labelled) return failed("truncation", "the JSON text stops before its end", text);
  if (blocks.open !== undefined) {
    return failed(
      "truncation",
      `a ${blocks.open.what} that begins at line ${blocks.open.line} of the reply never ends`,
      text,
    );
  }
  const found = fromBlocks(blocks.blocks, options);
  const nothing = found.edits.length + found.refused.length + found.skipped.length + found.problems.length === 0;
  if (!nothing) return found;
  const why =
    json.kind === "broken" ? `the JSON text cannot be read: ${json.message}` : "no file could be found in the reply";
  return failed("extraction", why, text);
}

/** True when the reply's object is the reply itself, not a sample inside a file that a fence shows. */
function startsWithJson(text: string): boolean {
  return /^\s*(?:(?:```|~~~)\s*(?:json[c5]?)?\s*\n\s*)?\{\s*"/.test(text);
}

function fromJson(object: Readonly<Record<string, unknown>>, options: ExtractOptions): Extraction {
  const collected = new Collected(options);
  for (const { path, text } of filesOfJson(object["files"])) {
    if (text === null) collected.remove(path);
    else if (text === undefined) collected.problem("extraction", `the value of ${clip(path, 120)} is no text`, path);
    else if (hasPatch(text)) {
      for (const block of readBlocks(text).blocks)
        if (block.kind === "patch") collected.patch(path, block.search, block.replace);
    } else collected.whole(path, text);
  }
  const [notes] = textsOf(object["notes"]);
  const concerns = textsOf(object["concerns"]);
  const stopped = collected.isEmpty && concerns.length > 0 && isEmptyObject(object["files"]);
  if (collected.isEmpty) collected.problem("extraction", "the object's files hold no file");
  return {
    ...collected.extraction(),
    ...(notes === undefined ? {} : { notes }),
    concerns,
    ...(stopped ? { stopped } : {}),
  };
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && Object.keys(value).length === 0;
}

function fromBlocks(blocks: readonly Block[], options: ExtractOptions): Extraction {
  const collected = new Collected(options);
  for (const block of blocks) {
    const path = pathOf(block, options);
    if (path !== undefined) {
      if (block.kind === "file") collected.whole(path, block.text);
      else collected.patch(path, block.search, block.replace);
    } else if (block.kind === "patch") {
      collected.problem(
        "extraction",
        `the patch at line ${block.line} of the reply names no file`,
        undefined,
        block.search,
      );
    }
  }
  return { ...collected.extraction(), concerns: [] };
}

/** An unsure label names a file only when that file is known: prose mentions many names. */
function pathOf({ label }: Block, options: ExtractOptions): string | undefined {
  if (label === undefined || label.sure) return label?.path;
  const resolved = resolveReplyPath(label.path, options);
  return resolved.kind === "path" && options.known.includes(resolved.path) ? label.path : undefined;
}

class Collected {
  readonly #options: ExtractOptions;
  readonly #edits: Edit[] = [];
  readonly #problems: ReplyProblem[] = [];
  readonly #refused = new Set<string>();
  readonly #skipped = new Set<string>();
  readonly #paths = new Set<string>();
  #patches = 0;

  constructor(options: ExtractOptions) {
    this.#options = options;
  }

  get isEmpty(): boolean {
    return this.#edits.length + this.#problems.length + this.#refused.size + this.#skipped.size === 0;
  }

  whole(written: string, text: string): void {
    const path = this.#place(written);
    if (path === undefined) return;
    if (text.length > replyLimits.fileChars)
      return this.problem("extraction", `the file is longer than ${count(replyLimits.fileChars, "character")}`, path);
    const placeholder = findPlaceholder(text);
    if (placeholder !== undefined) {
      const message = `line ${placeholder.line} stands for code that was left out: a whole file is wanted`;
      return this.problem("truncation", message, path, placeholder.text);
    }
    this.#edits.push({ kind: "whole", path, text: text === "" || text.endsWith("\n") ? text : `${text}\n` });
  }

  remove(written: string): void {
    const path = this.#place(written);
    if (path !== undefined) this.#edits.push({ kind: "delete", path });
  }

  patch(written: string, search: string, replace: string): void {
    const path = this.#place(written);
    if (path === undefined) return;
    this.#patches += 1;
    if (this.#patches === replyLimits.patches + 1)
      this.problem("extraction", `the reply holds more than ${count(replyLimits.patches, "patch", "patches")}`);
    if (this.#patches > replyLimits.patches) return;
    const placeholder = findPlaceholder(replace);
    const kept = placeholder !== undefined && !search.includes(placeholder.text);
    if (kept)
      return this.problem("truncation", "the REPLACE part stands for code that was left out", path, placeholder.text);
    this.#edits.push({ kind: "patch", path, search, replace });
  }

  problem(kind: ReplyProblem["kind"], message: string, path?: string, evidence = ""): void {
    if (this.#problems.length >= 50) return;
    this.#problems.push({
      kind,
      message,
      ...(path === undefined ? {} : { path: clip(path, 200) }),
      evidence: clip(evidence.trim(), 400),
    });
  }

  extraction(): Omit<Extraction, "concerns"> {
    const broken = new Set(this.#problems.map(({ path }) => path));
    return {
      edits: this.#edits.filter(({ path }) => !broken.has(path)),
      refused: [...this.#refused],
      skipped: [...this.#skipped],
      problems: this.#problems,
    };
  }

  #place(written: string): string | undefined {
    const { isAllowed, isProtected } = this.#options;
    const resolved = resolveReplyPath(written, this.#options);
    if (resolved.kind === "refused") return this.#refuse(written);
    const { path } = resolved;
    if (isProtected(path)) {
      this.#skipped.add(path);
      return undefined;
    }
    if (!isAllowed(path)) return this.#refuse(written);
    this.#paths.add(path);
    if (this.#paths.size <= replyLimits.files) return path;
    if (this.#paths.size === replyLimits.files + 1)
      this.problem("extraction", `the reply holds more than ${count(replyLimits.files, "file")}`);
    return undefined;
  }

  #refuse(written: string): undefined {
    if (this.#refused.size < replyLimits.files) this.#refused.add(clip(written, 200));
    return undefined;
  }
}

function failed(kind: ReplyProblem["kind"], message: string, text: string): Extraction {
  const end = kind === "truncation" ? text.slice(-400) : text.slice(0, 400);
  return { edits: [], refused: [], skipped: [], problems: [{ kind, message, evidence: end.trim() }], concerns: [] };
}

export interface NewText {
  readonly path: string;
  /** undefined: the file goes. */
  readonly text: string | undefined;
}

/**
 * The whole new text of every file that the edits touch, in order of first mention; `current` holds what is there now
 * (undefined or missing: no such file). A later edit of a file builds on an earlier one. The file's own line ends and
 * byte order mark are kept. A file with a patch that does not fit is left out as a whole, with the problem; so is one in
 * which a mark that the prompt showed would replace the secret that it stands for.
 */
export function applyEdits(
  edits: readonly Edit[],
  current: ReadonlyMap<string, string | undefined>,
  prompt = "",
): { readonly files: readonly NewText[]; readonly problems: readonly ReplyProblem[] } {
  const texts = new Map<string, string | undefined>();
  const problems = new Map<string, ReplyProblem>();
  for (const edit of edits) {
    if (edit.kind === "delete") {
      texts.set(edit.path, undefined);
      continue;
    }
    const now = texts.get(edit.path) ?? plain(current.get(edit.path) ?? "");
    if (edit.kind === "whole") texts.set(edit.path, edit.text);
    else {
      const applied = applyPatch(now, edit.search, edit.replace);
      if (applied.kind === "applied") texts.set(edit.path, applied.text);
      else
        problems.set(edit.path, {
          kind: "extraction",
          message: `a patch does not fit: ${applied.why}`,
          path: edit.path,
          evidence: clip(edit.search.trimEnd(), 800),
        });
    }
  }
  for (const [path, text = ""] of texts) {
    const left = markLeft(text, prompt, current.get(path) ?? "");
    if (left !== undefined) problems.set(path, { kind: "extraction", ...secretLost(left), path });
  }
  const files = [...texts]
    .filter(([path]) => !problems.has(path))
    // What is not there cannot go: an answer to feedback often names it all the same.
    .filter(([path, text]) => text !== undefined || current.get(path) !== undefined)
    .map(([path, text]) => ({ path, text: text === undefined ? undefined : inStyleOf(current.get(path), text) }));
  return { files, problems: [...problems.values()] };
}

function secretLost({ mark, line }: LeftMark): Pick<ReplyProblem, "message" | "evidence"> {
  const what = `line ${line} holds ${mark}, which stands for a secret that you were not shown`;
  return {
    message: `${what}: leave its line as it is, with SEARCH/REPLACE blocks that do not touch it`,
    evidence: mark,
  };
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n/g, "\n");
}

/** CRLF where the file has more CRLF than bare LF; the mark where it has one. */
function inStyleOf(before: string | undefined, text: string): string {
  if (before === undefined) return text;
  const crlf = (before.match(/\r\n/g) ?? []).length;
  const lf = (before.match(/\n/g) ?? []).length - crlf;
  const ended = crlf > lf ? text.replace(/\n/g, "\r\n") : text;
  return before.startsWith("\uFEFF") ? `\uFEFF${ended}` : ended;
}
