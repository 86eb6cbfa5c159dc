import { baseName } from "../base/paths.ts";

/** Did a command that ended well run no test, by what it said? A program under test may end the test program early. */
export function ranNoTest(argv: readonly string[], output: string): boolean {
  return saysNothingRan(output) || lacksItsWords(argv, output);
}

/** What test programs say when they found nothing to run, and still end well. */
const nothingRan =
  /\bno tests ran\b|\bcollected 0 items\b|^Ran 0 tests? in\b|\bNo tests? (?:files? )?(?:were )?found\b|\bNo test suite found\b|^\s*0 passing\b|^# tests 0$|^Tests run: 0, Failures: 0, Errors: 0, Skipped: 0$|^testing: warning: no tests to run$|\bNo test files found\b|^\s*Tests\s+no tests\b|\bTest Suites: 0 total\b|\bno tests to execute\b/im;

/** Of several programs or packages one may have nothing: only when none of them ran anything. */
function saysNothingRan(output: string): boolean {
  if (output.length > 200_000) return false;
  const ran =
    /\b[1-9]\d* (?:passed|passing|tests? passed|failed)\b|^Ran [1-9]\d* tests?\b|^# pass [1-9]|\bTests run: [1-9]|^ok\s+\S+\s+[\d.]+s$|\brunning [1-9]\d* tests?\b|^\s*(?:Tests|Test Files)\s+[1-9]\d* passed/im;
  const rust = /\brunning 0 tests\b/.test(output) && /\btest result: ok\. 0 passed/.test(output);
  return (nothingRan.test(output) || rust) && !ran.test(output);
}

/**
 * Files that `node --test` counts as a test that passed, because no test of theirs was heard of: a script without tests, or
 * one that was ended early. Only the file itself tells which.
 */
export function filesAlone(argv: readonly string[], output: string): readonly string[] {
  if (!argv.includes("--test") || !nodeTest(argv).isWhole) return [];
  const line = /^(?:\u2714|ok \d+ -) (.*?\.[cm]?[jt]sx?)(?: \([\d.]+ms\))?$/gm;
  return [...output.matchAll(line)].map(([, file = ""]) => file.replaceAll("\\", "/"));
}

export interface NodeTest {
  /** Files and globs. */
  readonly named: readonly string[];
  /** Modules that are loaded before each of them. */
  readonly loaded: readonly string[];
  /** No option leaves tests out: then a file may have tests of which none is run. */
  readonly isWhole: boolean;
}

/** What the words of `node --test` say. */
export function nodeTest(argv: readonly string[]): NodeTest {
  const at = argv.findIndex((word) => /^node(?:\.exe)?$/.test(baseName(word)));
  const words = at === -1 ? [] : argv.slice(at + 1);
  const isValue = (index: number): boolean => takesWord.test(words[index - 1] ?? "");
  const named = words.filter((word, index) => !word.startsWith("-") && !isValue(index));
  const loads = words.map((word, index) =>
    isValue(index) && loading.test(words[index - 1] ?? "")
      ? word
      : /^--(?:import|require|loader)=(.*)$/.exec(word)?.[1],
  );
  const loaded = loads.filter((word) => word !== undefined);
  return { named, loaded, isWhole: at !== -1 && !words.some((word) => leavesOut.test(word)) };
}

const leavesOut = /^--test-(?:only|name-pattern|skip-pattern)\b/;
const loading = /^(?:--import|--require|-r|--(?:experimental-)?loader)$/;
const takesWord =
  /^(?:--import|--require|-r|--(?:experimental-)?loader|--conditions|-C|--env-file(?:-if-exists)?|--input-type|--test-(?:reporter|reporter-destination|concurrency|timeout|shard|isolation|global-setup|rerun-failures|coverage-\w+))$/;

/** What may stand before a test program. */
const starters = /^(?:uv|uvx|poetry|pdm|hatch|rye|pipenv|env|run|--|\w+=.*)$/;

/**
 * Programs that say at their end what they ran, whatever the tests do: without their words something else ended them. A
 * program whose words an option changes is left alone.
 */
function lacksItsWords(argv: readonly string[], output: string): boolean {
  const at = argv.findIndex((word) => !starters.test(baseName(word)));
  const [program = "", ...rest] = argv.slice(Math.max(0, at));
  const module = rest[rest.indexOf("-m") + 1];
  const python = /^(?:python|py|pypy)[\d.]*(?:\.exe)?$/.test(baseName(program)) && rest.includes("-m");
  if (python && module === "unittest") return !/^Ran \d+ tests? in /m.test(output);
  const pytest = (python && module === "pytest") || /^(?:pytest|py\.test)(?:\.exe)?$/.test(baseName(program));
  if (pytest) return lacksItsCounts(rest, output);
  const node = /^node(?:\.exe)?$/.test(baseName(program)) && rest.includes("--test");
  return node && !rest.some((word) => word.startsWith("--test-reporter")) && !/^\W*tests \d+$/m.test(output);
}

/** pytest ends with its counts; quieter than `-q` it leaves them out, and with all output shown its percentage, too. */
function lacksItsCounts(words: readonly string[], output: string): boolean {
  if (
    words.some((word) =>
      /no:terminal|^--?(?:V|h|version|help|fixtures|markers|cache-show)\b|^--(?:co|collect-only)$/.test(word),
    )
  )
    return false;
  const text = stripped(output);
  if (text.trim() === "") return true;
  const counts =
    /\b\d+ (?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?|rerun|tests? collected)\b|\bno tests (?:ran|collected)\b|\[ *100%\]|\[(\d+)\/\1\]/;
  const isBare = words.some((word) => /^-[a-z]*s$|^--capture=no$/.test(word)) && quietness(words) >= 2;
  return !counts.test(text) && !(isBare && /^[.sxX]+$/m.test(text));
}

function quietness(words: readonly string[]): number {
  const flags = words.map((word) => (word === "--quiet" ? "-q" : word)).filter((word) => /^-[a-z]*q/.test(word));
  return flags.join("").replace(/[^q]/g, "").length;
}

/** Without colours, which stand between a number and its word. */
function stripped(text: string): string {
  return text.replace(/\u001B\[[\d;]*m|\[\d+(?:;\d+)*m/g, "");
}
