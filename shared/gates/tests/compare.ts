import type { Finding } from "../../model/finding.ts";
import { changedTest } from "./compare/changed-test.ts";
import { freshFindings, hiddenTests } from "./compare/fresh-tests.ts";
import { goneFindings } from "./compare/gone-tests.ts";
import { changedHelpers } from "./compare/asserting-functions.ts";
import { markFindings } from "./compare/marks.ts";
import { movedOver } from "./compare/moved.ts";
import { pairTests } from "./compare/pairs.ts";
import type { TestFile } from "./test-file.ts";

/**
 * What a change did to the tests, over all its files of tests at once: a test or an assertion that only moved is no
 * finding. Pure; equal input, equal findings, in the order of the files.
 */
export function compareTests(files: readonly TestFile[]): Finding[] {
  const { pairs, gone, fresh } = pairTests(files);
  const moved = movedOver(files);
  const found: Finding[] = [];
  found.push(...markFindings(files, fresh));
  for (const pair of pairs) found.push(...changedTest(pair, moved, files));
  for (const file of files) found.push(...changedHelpers(file, moved, files));
  found.push(...goneFindings(files, gone, moved));
  for (const { file, test } of fresh) found.push(...freshFindings(file, test));
  for (const file of files) found.push(...hiddenTests(file));
  return found;
}
