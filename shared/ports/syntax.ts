import type { AbsPath } from "../base/paths.ts";

/** A query of one rule. Its text may hold several patterns; all of them belong to it. */
export interface QuerySource {
  readonly id: string;
  readonly text: string;
}

/** A captured node. Offsets are UTF-16 units of the parsed text; `line` and `column` are 1-based. */
export interface Capture {
  readonly name: string;
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly column: number;
}

export interface QueryMatch {
  /** Id of the query it belongs to. */
  readonly query: string;
  readonly captures: readonly Capture[];
}

export interface SyntaxFault {
  readonly line: number;
  readonly column: number;
  readonly message: string;
}

/**
 * A node of a tree, copied out of the parser: it may be kept. Punctuation is there too, with its text as `type` and
 * `named: false`. `field` is what its parent calls it.
 */
export interface SyntaxNode {
  readonly type: string;
  readonly named: boolean;
  readonly field?: string | undefined;
  readonly start: number;
  readonly end: number;
  readonly parent?: SyntaxNode | undefined;
  readonly children: readonly SyntaxNode[];
}

/** A parsed text. Dispose it before the next one is parsed: its memory is not the collector's. */
export interface ParsedText extends Disposable {
  /** Every match of every query, in one walk. */
  matches(): QueryMatch[];
  /** Matches of the `uses` that touch the range. For few, small ranges. */
  usesIn(start: number, end: number): QueryMatch[];
  /** The whole tree, copied: costs about as much as parsing did. */
  tree(): SyntaxNode;
  /** Where the grammar could not follow, at most `most`. Silence does not prove that the text is valid. */
  faults(most: number): SyntaxFault[];
}

/** All queries of one language, compiled into one. One thread, one text at a time. */
export interface Matcher extends Disposable {
  /** undefined when parsing took longer than `timeoutMs`. */
  parse(text: string, timeoutMs: number): ParsedText | undefined;
}

/** A query that does not compile; `line` and `column` count in its own text. */
export interface BrokenQuery {
  readonly id: string;
  readonly line: number;
  readonly column: number;
  readonly reason: string;
}

export type MatcherResult =
  | { readonly kind: "ready"; readonly matcher: Matcher; readonly broken: readonly BrokenQuery[] }
  /** No such grammar is installed. */
  | { readonly kind: "missing"; readonly why: string };

export interface Syntax {
  /** `uses` are kept apart: they are asked for ranges only. A broken query is left out and named. */
  matcher(grammar: string, queries: readonly QuerySource[], uses: readonly QuerySource[]): Promise<MatcherResult>;
}

/** `ok`: the language's own compiler takes it. `unverified`: the check crashed or gave up on this file. */
export type SyntaxAnswer =
  | { readonly kind: "ok" }
  | { readonly kind: "fault"; readonly fault: SyntaxFault }
  | { readonly kind: "unverified"; readonly why: string };

export type ExactSyntaxResult =
  /**
   * `by` names the compiler and its version (empty when there was no file to ask about). Every file has an answer, but
   * for those of the languages in `gaps`, which say why their compiler did not answer.
   */
  | {
      readonly kind: "checked";
      readonly by: string;
      readonly answers: ReadonlyMap<AbsPath, SyntaxAnswer>;
      readonly gaps?: readonly string[];
    }
  /** The compiler is not there or did not start: say "not verified", claim nothing. */
  | { readonly kind: "not-verified"; readonly why: string };

/** Exact syntax of a language by its own compiler; nothing of the files is executed or written. */
export interface ExactSyntax {
  check(files: readonly AbsPath[], signal: AbortSignal): Promise<ExactSyntaxResult>;
}
