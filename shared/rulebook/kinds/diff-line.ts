import type { Finding } from "../../model/finding.ts";
import type { ChangedFile, DiffHunk } from "../../model/change.ts";
import type { Lexical, RuleOf } from "../../model/rule.ts";
import { findingOf } from "../finding-of.ts";
import type { LoadedRule } from "../load.ts";
import { type Views, viewsOf } from "../views.ts";
import { type Hit, hitsOf, redacted } from "./line.ts";

/** A change, with the texts of its two sides where the caller has them: only they tell whether a line is in a string. */
export interface DiffSubject {
  readonly files: readonly ChangedFile[];
  readonly newText?: (path: string) => string | undefined;
  readonly oldText?: (path: string) => string | undefined;
}

type Side = "added" | "removed";

interface SideHit {
  readonly file: ChangedFile;
  readonly line: number;
  readonly text: string;
  readonly hit: Hit;
}

/** One walk of a change by the diff-line rules of one set; texts and line counts are shared between them. */
export function diffFindings(
  rules: readonly LoadedRule<RuleOf<"diff-line">>[],
  lexical: Lexical | undefined,
  holds: (path: string) => boolean,
  subject: DiffSubject,
): Finding[] {
  const files = subject.files.filter((file) => !file.binary && (holds(file.path) || holds(file.oldPath ?? file.path)));
  if (files.length === 0 || rules.length === 0) return [];
  const made = new Map<Side, SideText[]>();
  // Few sets have a rule that looks at what was removed.
  const textsOf = (side: Side): SideText[] => {
    const texts = made.get(side) ?? sideTexts(files, side, lexical, subject);
    made.set(side, texts);
    return texts;
  };
  return rules.flatMap((loaded) => {
    const { rule } = loaded;
    const other: Side = rule.side === "added" ? "removed" : "added";
    let hits = hitsOn(loaded, textsOf(rule.side));
    // The rest walks the whole change, and few rules find anything.
    if (hits.length === 0) return [];
    const unlessAdded = loaded.extra.get("unlessAdded");
    if (unlessAdded && files.some((file) => linesOn(file, "added").some(({ text }) => unlessAdded.test(text))))
      return [];
    if (rule.balance === "moved") {
      const bag = bagOf(subject.files, other);
      hits = hits.filter(({ text }) => !takeOne(bag, text.trim()));
    } else if (rule.balance === "fewer") {
      const left = hits.length - hitsOn(loaded, textsOf(other)).length;
      if (left <= 0) return [];
      const bag = bagOf(subject.files, other);
      hits = hits.filter(({ text }) => !takeOne(bag, text.trim())).slice(0, left);
    }
    return hits.map(({ file, line, text, hit }) =>
      findingOf(loaded, {
        path: rule.side === "removed" ? (file.oldPath ?? file.path) : file.path,
        line,
        ...(rule.side === "removed" ? { side: "old" as const } : {}),
        evidence: rule.redact ? redacted(hit) : text,
        ...(hit.name === undefined ? {} : { name: hit.name }),
      }),
    );
  });
}

interface SideText {
  readonly file: ChangedFile;
  readonly views: Views;
  /** The file's line for a line of the views' text, when it is one of the changed ones. */
  lineFor(at: number): number | undefined;
}

function sideTexts(
  files: readonly ChangedFile[],
  side: Side,
  lexical: Lexical | undefined,
  subject: DiffSubject,
): SideText[] {
  return files.flatMap((file) => {
    if (!file.hunks.some((hunk) => hunk[side].length > 0)) return [];
    const path = side === "added" ? file.path : (file.oldPath ?? file.path);
    const whole = side === "added" ? subject.newText?.(path) : subject.oldText?.(path);
    if (whole !== undefined) {
      const views = viewsOf(whole, lexical);
      if (fits(file, side, whole, views)) {
        return [{ file, views, lineFor: (at: number) => (isChanged(file, side, at) ? at : undefined) }];
      }
    }
    const changed = linesOn(file, side);
    // The empty first line keeps a byte order mark of the first changed line in sight.
    const views = viewsOf(["", ...changed.map(({ text }) => text)].join("\n"), lexical);
    return [{ file, views, lineFor: (at: number) => changed[at - 2]?.line }];
  });
}

/** Every set of rules asks about the same texts. */
const knownToFit = {
  added: new WeakMap<ChangedFile, { readonly whole: string; readonly answer: boolean }>(),
  removed: new WeakMap<ChangedFile, { readonly whole: string; readonly answer: boolean }>(),
};

/** True when the text holds the changed lines where the change says, but for white space at their ends. */
function fits(file: ChangedFile, side: Side, whole: string, views: Views): boolean {
  const known = knownToFit[side].get(file);
  if (known?.whole === whole) return known.answer;
  const answer = file.hunks.every((hunk) => {
    const start = startOf(hunk, side);
    return hunk[side].every((text, at) => sameBut(views.lineText(start + at), text));
  });
  knownToFit[side].set(file, { whole, answer });
  return answer;
}

function isChanged({ hunks }: ChangedFile, side: Side, line: number): boolean {
  return hunks.some((hunk) => {
    const start = startOf(hunk, side);
    return line >= start && line < start + hunk[side].length;
  });
}

function startOf({ newStart, oldStart }: DiffHunk, side: Side): number {
  return side === "added" ? newStart : oldStart;
}

/** Equal but for white space at the end. */
function sameBut(one: string, other: string): boolean {
  return one === other || one.trimEnd() === other.trimEnd();
}

function hitsOn(loaded: LoadedRule<RuleOf<"diff-line">>, texts: readonly SideText[]): SideHit[] {
  return texts.flatMap(({ file, views, lineFor }) => {
    const path = loaded.rule.side === "added" ? file.path : (file.oldPath ?? file.path);
    if (!loaded.applies(path, undefined)) return [];
    const seen = new Set<string>();
    return hitsOf(loaded, views).flatMap((hit) => {
      const at = views.lineOf(hit.at);
      const line = lineFor(at);
      const key = `${line} ${hit.name ?? ""}`;
      if (line === undefined || seen.has(key)) return [];
      seen.add(key);
      return [{ file, line, text: views.lineText(at), hit }];
    });
  });
}

interface ChangedLine {
  readonly line: number;
  readonly text: string;
}

/** Every set of rules walks the same lines. */
const known = { added: new WeakMap<ChangedFile, ChangedLine[]>(), removed: new WeakMap<ChangedFile, ChangedLine[]>() };

function linesOn(file: ChangedFile, side: Side): readonly ChangedLine[] {
  let lines = known[side].get(file);
  if (lines === undefined) {
    lines = file.hunks.flatMap((hunk) => {
      const start = startOf(hunk, side);
      return hunk[side].map((text, index) => ({ line: start + index, text }));
    });
    known[side].set(file, lines);
  }
  return lines;
}

function bagOf(files: readonly ChangedFile[], side: Side): Map<string, number> {
  const bag = new Map<string, number>();
  for (const file of files) {
    for (const { text } of linesOn(file, side)) bag.set(text.trim(), (bag.get(text.trim()) ?? 0) + 1);
  }
  return bag;
}

function takeOne(bag: Map<string, number>, text: string): boolean {
  const count = bag.get(text) ?? 0;
  if (count === 0) return false;
  bag.set(text, count - 1);
  return true;
}
