// docs/guard.md: every rule id of gate 1, from the gates' own table and from the rule files, so that the page cannot say
// anything else than the code does.
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "../shell.mjs";

export async function generate() {
  const { guardCategories } = await import(pathToFileURL(path.join(ROOT, "out/shared/gates/guard-categories.js")).href);
  return { "docs/guard.md": page(guardCategories, rulesBySet()) };
}

function rulesBySet() {
  const folder = path.join(ROOT, "rules");
  return fs
    .readdirSync(folder)
    .sort()
    .filter((set) => fs.existsSync(path.join(folder, set, "core.json")))
    .map((set) => ({ set, ...JSON.parse(fs.readFileSync(path.join(folder, set, "core.json"), "utf8")) }))
    .map(({ set, checks }) => ({
      set,
      checks: checks.filter(({ group, kind }) => group === "integrity" && kind !== "action"),
    }))
    .filter(({ checks }) => checks.length > 0);
}

const ownTests = [
  "## When one hits your own tests, or your spec",
  "",
  "The gates of a feature judge what a person wrote, too: `orch merge` asks them about the whole branch. What they find has no",
  "switch, for a feature's tests are its only proof. After a refusal `orch do` takes the findings as the feedback of its first",
  "attempt; where one stands in what `do` may not write (another folder, `spec.md`, a file with `orch: protected`), the file to",
  "edit is named. By hand: edit, `git add`, `orch merge`.",
  "",
  "* `mock_of_sut` fails where an assertion calls a function, a method or a module of this feature that the tests replaced, and",
  "  nothing of the feature that is real. Replace what the code calls instead (a clock, a cache, a limit, another feature's module:",
  "  `Handler.today = ...` is no finding), hand a double in as an argument, or let the stand-in ask the real code and give back",
  "  what it says (a wrapper, `wraps=`, a spy). It holds while it is replaced: what is asserted after the `with` is the real code.",
  "* `example_weak` fails where the result of an example that is plainly a value stands only in assertions that other results pass,",
  "  too (`>=`, `!=`, a wide tolerance), or where no failure comes of it. Assert the value with `==`, or a tolerance of half a unit of the last place that the",
  "  example writes. Where several results are right, the row says so, and nothing is held against it: `1 to 6`,",
  "  `about 343.5 km`, `up to 12 characters`. Words that are not known to leave room make it a warning.",
  "* `example_untested` fails while a row of Examples or Errors has no test with its values: write it, or change the row.",
  "* `spec.placeholder` stops `do` before anybody is asked (BLOCKED, exit code 3): an overview, a rule or a cell says only `TODO`, `TBD`",
  "  or `...`, or that it is as before. Say what holds there, or remove the row. In a table the bare words `unchanged` and",
  "  `same as above` are words like others.",
];

const endOfChecks = [
  "## Whether a check reached its end",
  "",
  "An exit code of 0 says nothing where the code under test ends the program before the first assertion. What is known:",
  "",
  '* With `"report": "junit"` the report says which tests ran; without one pytest, unittest and `node --test` say it in words. A',
  "  program that ends well without them ran nothing (`check_ran_nothing`). A file of `node --test` of which no test was heard, though it",
  "  has some, is `check_cut_short`; WARN where the change touches neither it nor what it loads, or its tests are for another",
  "  platform. With `--test-only`, `--test-name-pattern` or `--test-skip-pattern` a file may run none.",
  "* `python -c` and `node -e` (with an assertion or a `throw`) are run with a mark of this run behind the last statement: without it",
  "  the check is `check_cut_short`. Python code may end itself (`sys.exit(...)`, `exit()`), and its last statement may",
  "  (`cli([...])`), unless an assertion of it is still to come.",
  "* Code that ends the process itself (`os._exit`, `os.exec*`, in `node -e` any `exit`) is left without a mark.",
  "",
  "What is not seen: in one process nothing is out of reach of the code under test. It can look for the mark and write it, or print",
  "the words of a test program, so what such code needs (a look at its frames, its command line, hidden calls) is told by rules.",
  "A promise that never settles ends `node -e` well when nothing else waits. The last statement of a `python -c` that asserts nothing",
  "may be ended by the code it calls. Scripts, shells and other programs have their exit code alone: give such a check tests with a",
  "report, or hidden checks. Of several files of `node --test` one without a test is told only where the program lists its files (its usual words on stdout).",
  "",
  "A value of a check's own command in the code is `test_input_special_case`: FAIL where it is no plain word, neither the task nor",
  "the file before names it, and it is asked for beside its answer; WARN where the answer is worked out, a function gives it, or",
  "several entries of the same table (a literal, a run of `case` or `if`) are in no check; numbers in such a table are none.",
  "What the check only expects (`== 'not found'`), what the code hands on (`raise ValueError('...')`) and bounds",
  "(`size < 1024`) are no such values. What asks for a piece of the input, its length or a hash of it is not seen. Name in `goal` or",
  "`rules` what the code has to know by itself.",
];

function page(categories, sets) {
  const row = (cells) => `| ${cells.join(" | ")} |`;
  const lines = [
    "# The guard",
    "",
    "Gate 1 judges every change a worker makes: facts of git first, then lines, then syntax trees, then what is run. A FAIL goes",
    "back to the worker, a WARN to the reviewer. Each finding has a rule id, a place, what shows it and what would fix it. Rules",
    "of the second list are switched by their id in `.orch/config.json`; what stands before a dot is the rule's family.",
    "",
    "A glob in `allowed` gives scope. Only a name without a wildcard permits an existing test, a manifest, or configuration, and it",
    "permits the touching alone: the rules on content hold there too.",
    "",
    "## Found by the gates",
    "",
    row(["Rule", "Severity", "Gate", "What"]),
    row(["---", "---", "---", "---"]),
    ...categories.map(({ id, severity, or, gate, what }) =>
      row([`\`${id}\``, or === undefined ? severity : `${severity} or ${or}`, gate, what]),
    ),
    "",
    ...endOfChecks,
    "",
    ...ownTests,
    "",
    "## Found by rules",
    "",
    "Data in `rules/<set>/core.json`; a language's `tests` say what its tests, assertions and markers look like.",
  ];
  for (const { set, checks } of sets) {
    lines.push("", `### ${set}`, "", row(["Rule", "Severity", "What"]), row(["---", "---", "---"]));
    for (const { id, severity, message } of checks)
      lines.push(row([`\`${id}\``, severity, message.replaceAll("{name}", "...").replaceAll("|", "\\|")]));
  }
  return `${lines.join("\n")}\n`;
}
