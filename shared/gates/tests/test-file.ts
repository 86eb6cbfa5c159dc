import type { ChangedFile } from "../../model/change.ts";
import type { SyntaxNode } from "../../ports/syntax.ts";
import type { Outline } from "./outline.ts";
import type { ReadLanguage } from "./read/language.ts";

/** One changed file of tests, with what each side holds; a side that is not collected as tests is absent. */
export interface TestFile {
  readonly path: string;
  readonly oldPath: string;
  readonly before?: Outline;
  readonly now?: Outline;
  /** Of the side that is now; only for the tests of a feature. */
  readonly tree?: SyntaxNode;
  readonly changed: ChangedFile;
  readonly language: ReadLanguage;
}
