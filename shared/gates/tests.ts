import { globMatcher } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import type { Matcher, Syntax, SyntaxNode } from "../ports/syntax.ts";
import type { LoadedSet, Rulebook } from "../rulebook/load.ts";
import { sidesOf } from "./base-text.ts";
import { finding, ran } from "./gate-finding.ts";
import { compareTests } from "./tests/compare.ts";
import { limitFindings } from "./tests/limits.ts";
import { mockFindings } from "./tests/mocks.ts";
import type { Outline } from "./tests/outline.ts";
import { sourcePlaces } from "./tests/source-places.ts";
import { weakExamples } from "./tests/spec-strength.ts";
import { unheldExamples } from "./tests/unheld-examples.ts";
import { standIns } from "./tests/stand-ins.ts";
import { compileLanguage, type ReadLanguage } from "./tests/read/language.ts";
import { readOutline } from "./tests/read-outline.ts";
import type { TestFile } from "./tests/test-file.ts";

export interface TestsDeps {
  readonly book: Rulebook;
  readonly syntax: Syntax;
}

/** Rules of this gate after which it makes no sense to run the tests. */
export const testStops: readonly string[] = [
  "skip_marker",
  "focus_marker",
  "test_disabled",
  "test_removed",
  "assertion_removed",
  "assertion_weakened",
];

/** A language whose tests are known, with what tells its files. */
interface KnownLanguage {
  readonly set: LoadedSet;
  readonly grammar: string;
  /** Compiled when a change first needs it. */
  readonly language: () => ReadLanguage;
  readonly holdsTests: (path: string) => boolean;
  readonly isCollected: (path: string) => boolean;
  readonly isInline: (path: string) => boolean;
  readonly hint: RegExp | undefined;
}

/** Larger texts are data. */
const maxChars = 2_000_000;
const parseTimeoutMs = 20_000;

/**
 * Do the tests still measure what they measured? Both sides of every changed file of tests are read as syntax trees and
 * compared over the whole change, so that layout, moves and other styles of the same claim are no findings.
 */
export function createTestsGate(deps: TestsDeps): Gate {
  const languages = knownLanguages(deps.book);
  return {
    id: "tests",
    phase: "change",
    async run(input, signal) {
      const using = new Map<string, Matcher>();
      try {
        const { files, unread } = await readFiles(deps.syntax, languages, using, input, signal);
        const found = [
          ...compareTests(files),
          ...files.flatMap(mockFindings),
          ...files.flatMap(limitFindings),
          ...sourcePlaces(files, input.change.files),
          ...heldToSpec(files, input.slice),
        ];
        return ran([...inOrder(found.filter((one) => !isPermitted(one, input.contract))), ...unread]);
      } finally {
        for (const matcher of using.values()) matcher[Symbol.dispose]();
      }
    },
  };
}

/** True for files that this gate reads: rules on lines leave what it sees to it. */
export function readsTestsOf(book: Rulebook): (path: string) => boolean {
  const languages = knownLanguages(book);
  return (path) => languages.some(({ set, holdsTests }) => set.holds(path) && holdsTests(path));
}

function knownLanguages({ sets }: Rulebook): KnownLanguage[] {
  return sets.flatMap((set) => {
    const { tests, grammar } = set;
    if (tests === undefined || grammar === undefined) return [];
    const holdsTests = globMatcher(tests.files);
    let language: ReadLanguage | undefined;
    return [
      {
        set,
        grammar,
        language: () => (language ??= compileLanguage(tests)),
        holdsTests,
        isCollected: tests.collected === undefined ? holdsTests : globMatcher(tests.collected),
        isInline: globMatcher(tests.inline),
        hint: tests.inlineHint === undefined ? undefined : new RegExp(tests.inlineHint),
      },
    ];
  });
}

async function readFiles(
  syntax: Syntax,
  languages: readonly KnownLanguage[],
  using: Map<string, Matcher>,
  input: GateInput,
  signal: AbortSignal,
): Promise<{ readonly files: TestFile[]; readonly unread: Finding[] }> {
  const files: TestFile[] = [];
  const unread: Finding[] = [];
  for (const changed of input.change.files) {
    signal.throwIfAborted();
    if (changed.binary || !isPlain(changed)) continue;
    const oldPath = changed.oldPath ?? changed.path;
    const known =
      languages.find(({ set }) => set.holds(oldPath)) ?? languages.find(({ set }) => set.holds(changed.path));
    if (known === undefined) continue;
    const sides = await testSides(known, changed, input);
    if (sides === undefined) continue;
    const matcher = using.get(known.grammar) ?? (await openMatcher(syntax, known.grammar));
    if (matcher === undefined) {
      unread.push(notRead(changed.path, `the grammar ${known.grammar} is not installed`));
      continue;
    }
    using.set(known.grammar, matcher);
    let tree: SyntaxNode | undefined;
    const outline = (text: string | undefined, path: string): Outline | undefined => {
      if (text === undefined) return undefined;
      using parsed = matcher.parse(text, parseTimeoutMs);
      if (parsed === undefined) {
        unread.push(notRead(path, "parsing took too long"));
        return undefined;
      }
      tree = parsed.tree();
      return readOutline(tree, text, path, known.language());
    };
    const before = outline(sides.before, oldPath);
    const now = outline(sides.now, changed.path);
    files.push({
      path: changed.path,
      oldPath,
      language: known.language(),
      changed,
      ...(before === undefined ? {} : { before }),
      ...(now === undefined ? {} : { now }),
      ...(now === undefined || tree === undefined || changed.path !== testsOf(input.slice) ? {} : { tree }),
    });
  }
  return { files, unread };
}

const testsOf = (slice: GateInput["slice"]): string | undefined =>
  slice === undefined ? undefined : `${slice.dir}/${slice.pack.roles.tests}`;

/** A feature's own tests prove its spec; tests of a contract have none to be compared with. */
function heldToSpec(files: readonly TestFile[], slice: GateInput["slice"]): readonly Finding[] {
  const path = testsOf(slice);
  const { now, tree, language } = files.find((file) => file.path === path) ?? {};
  if (now === undefined || language === undefined || slice === undefined) return [];
  const rows = slice.spec?.rows ?? [];
  return [
    ...unheldExamples(now, rows),
    ...weakExamples(now, rows),
    ...(tree === undefined ? [] : standIns(now, tree, language, slice)),
  ];
}

function isPlain({ oldMode, newMode }: ChangedFile): boolean {
  return [oldMode, newMode].every((mode) => mode === "000000" || mode.startsWith("100"));
}

interface SideTexts {
  readonly before: string | undefined;
  readonly now: string | undefined;
}

/** Texts of the sides that hold tests; nothing when neither does. */
async function testSides(known: KnownLanguage, changed: ChangedFile, input: GateInput): Promise<SideTexts | undefined> {
  const { path, oldPath = path } = changed;
  // A project may collect names that are unlike the usual ones: what was none of those before is taken as it is.
  const strict = known.isCollected(oldPath) || changed.status === "added";
  const holds = (name: string): boolean =>
    known.set.holds(name) &&
    (known.holdsTests(name) || known.isInline(name)) &&
    (!strict || known.isCollected(name) || !known.isCollected(oldPath));
  const [oldHolds, nowHolds] = [holds(oldPath), holds(path)];
  if (!oldHolds && !nowHolds) return undefined;
  const both = await sidesOf(changed, input, maxChars);
  const before = oldHolds ? both.before : undefined;
  const now = nowHolds ? both.now : undefined;
  const inlineOnly = !known.holdsTests(path) && !known.holdsTests(oldPath);
  if (inlineOnly && ![before, now].some((text) => text !== undefined && known.hint?.test(text) !== false))
    return undefined;
  return { before, now };
}

async function openMatcher(syntax: Syntax, grammar: string): Promise<Matcher | undefined> {
  const opened = await syntax.matcher(grammar, [], []);
  return opened.kind === "ready" ? opened.matcher : undefined;
}

function notRead(path: string, why: string): Finding {
  return finding("tests_unread", "WARN", `the tests of ${path} were not compared: ${why}`, {
    path,
    remedy: "Look at the change of this file by hand",
  });
}

const aboutRemoval = new Set(["test_removed", "assertion_removed"]);

/** A contract may let a file's tests go, or one of them by name. */
function isPermitted({ rule, path = "", evidence }: Finding, { allow_test_removal: granted }: Contract): boolean {
  if (!aboutRemoval.has(rule) || granted.length === 0) return false;
  const name = evidence.split("\n")[0]?.split(" > ").at(-1) ?? "";
  return (
    globMatcher(granted)(path) || granted.some((one) => one === evidence || one === name || one === `${path}::${name}`)
  );
}

function inOrder(found: readonly Finding[]): Finding[] {
  const seen = new Set<string>();
  return found
    .toSorted((a, b) => Number(b.severity === "FAIL") - Number(a.severity === "FAIL"))
    .filter(({ rule, path, line, side }) => {
      const place = `${rule} ${path} ${line} ${side}`;
      if (seen.has(place)) return false;
      seen.add(place);
      return true;
    })
    .toSorted(
      (a, b) => compare(a.path ?? "", b.path ?? "") || (a.line ?? 0) - (b.line ?? 0) || compare(a.rule, b.rule),
    );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
