import type { ContractKind } from "../model/contract-kinds.ts";
import type { ContractInput } from "../model/contract.ts";

/** One field as the template shows it. `value` is what a person changes; commented-out ones are there to be known. */
interface Field {
  readonly key: keyof ContractInput;
  readonly comment: string;
  readonly value: unknown;
  /** Written, but commented out: leaving it out is the usual thing. */
  readonly off?: true;
}

const check = {
  name: "tests",
  argv: ["python3", "-m", "pytest", "<tests/test_what_changes.py>"],
  timeout_s: 120,
  cwd: ".",
};

const fields: readonly Field[] = [
  { key: "id", comment: "Letters, digits, dot, _ and -; the file is .orch/contracts/<ID>.json", value: "" },
  { key: "title", comment: "One line, as in a list of tasks", value: "<what is done, in one line>" },
  {
    key: "goal",
    comment:
      "What is different afterwards, and for whom. The worker sees this contract and the repository, nothing else",
    value: "<what is different afterwards>",
  },
  { key: "non_goals", comment: "What must stay as it is", value: [] },
  { key: "risks", comment: "What could go wrong, so that it is looked at", value: [] },
  { key: "mode", comment: "edit | read_only (then any write fails)", value: "edit" },
  {
    key: "kind",
    comment: "mechanical | analysis | feature | tests | refactor | ui | critical | second_opinion: picks the workers",
    value: "feature",
  },
  { key: "worker", comment: "auto, an id of orch doctor's table, or provider/model", value: "auto" },
  {
    key: "ladder",
    comment: "Workers tried one after the other when the work is not good enough; empty: by kind",
    value: [],
  },
  { key: "max_attempts", comment: "Attempts before a person decides", value: 3 },
  { key: "max_minutes", comment: "Minutes for all attempts together", value: 15 },
  { key: "max_cost_usd", comment: "What all attempts may cost together, looked at before each call", value: 0.5 },
  {
    key: "allowed",
    comment:
      "Files it may change: paths, or globs (** crosses folders). A test that is there already may be changed only when it is named exactly",
    value: ["<src/what_changes.py>"],
  },
  { key: "protected", comment: "Files it may not touch although they are allowed", value: [] },
  { key: "allow_test_removal", comment: "Tests that may go: a path, a glob, a test's name, or path::name", value: [] },
  { key: "estimate_lines", comment: "About how many lines, tests not counted; 150 is a good size", value: 60 },
  { key: "max_diff_lines", comment: "Two to three times the estimate; a longer diff fails", value: 150 },
  { key: "max_test_diff_lines", comment: "The same for tests; three times max_diff_lines when absent", value: 450 },
  {
    key: "acceptance",
    comment: 'When it is done. Each names a check, or is "judged": true where only a reader can tell',
    value: [{ id: "a1", text: "<what can be seen to be true>", check: "tests" }],
  },
  {
    key: "checks",
    comment:
      'Cheap, and only of what changes: argv without a shell. "report": "junit" and {report} in argv tell each test',
    value: [check],
  },
  {
    key: "hidden_files",
    comment: "From outside the repository, there only while the work is graded",
    value: [{ from: "<../hidden/test_cases.py>", to: "tests/test_hidden.py" }],
    off: true,
  },
  {
    key: "hidden_checks",
    comment: "Run over the hidden files; the worker never sees them",
    value: [{ name: "hidden", argv: ["python3", "-m", "pytest", "tests/test_hidden.py"] }],
    off: true,
  },
  { key: "hidden_feedback", comment: "full | names | none: what the worker is told of them", value: "full" },
  { key: "final_checks", comment: "Project-wide, once, in the main tree after merging: orch final", value: [] },
  { key: "approach", comment: "Steps in order; for a bug, by root cause", value: [] },
  { key: "pattern_refs", comment: "Code to do it like, as file:lines", value: [] },
  { key: "examples", comment: "Input and what is expected, the nasty cases too", value: [] },
  { key: "pseudo", comment: "The tricky part only", value: "<the tricky part>", off: true },
  { key: "rules", comment: "Concrete and checkable: a name, a number, a file", value: [] },
  { key: "prompt_style", comment: "profiled | plain", value: "profiled" },
  {
    key: "design_tokens",
    comment: "For ui: a forbidden one in an added line fails, an unlisted one is warned about",
    value: { allowed: ["<--color-text>"], forbidden: ["<#000>"] },
    off: true,
  },
  {
    key: "worktree_links",
    comment: "Untracked things to link into the worktree, like node_modules or .venv",
    value: [],
  },
  { key: "include_untracked", comment: "Untracked files to carry over; .worktreeinclude when empty", value: [] },
  { key: "after", comment: "Ids that must pass before this starts", value: [] },
  { key: "inputs", comment: 'Results of others in the prompt: {"from": "ID", "what": "answer" | "diff"}', value: [] },
  { key: "build_on", comment: "Id of the contract whose code this starts from", value: "T0", off: true },
];

const readOnly: Partial<ContractInput> = {
  mode: "read_only",
  allowed: ["**"],
  acceptance: [{ id: "a1", text: "<what the answer must say>", judged: true }],
  checks: [],
};

/** What differs for a kind. A key that is named here is written, also one that is commented out elsewhere. */
const ofKind: Readonly<Record<ContractKind, Partial<ContractInput>>> = {
  mechanical: { estimate_lines: 300, max_diff_lines: 750, max_test_diff_lines: 2250, allowed: ["<src/**>"] },
  analysis: readOnly,
  feature: {},
  tests: {
    allowed: ["<tests/test_what_is_tested.py>"],
    estimate_lines: 1,
    max_diff_lines: 3,
    max_test_diff_lines: 300,
  },
  refactor: {
    non_goals: ["No behaviour changes"],
    hidden_checks: [{ name: "hidden", argv: ["python3", "-m", "pytest", "tests/test_hidden.py"] }],
  },
  ui: { design_tokens: { allowed: ["<--color-text>"], forbidden: ["<#000>"] } },
  critical: {
    hidden_checks: [{ name: "hidden", argv: ["python3", "-m", "pytest", "tests/test_hidden.py"] }],
    approach: ["<first step>"],
  },
  second_opinion: readOnly,
};

/** A commented contract with every field, ready to be filled in: `orch check` names what still has to be. */
export function contractTemplate(id: string, kind: ContractKind): string {
  const special: Partial<ContractInput> = { ...ofKind[kind], id, kind };
  const rows = fields.map(({ key, comment, value, off }) => {
    const own = Object.hasOwn(special, key);
    const text = `${JSON.stringify(key)}: ${indented(own ? special[key] : value)},`;
    return `  // ${comment}\n${off === true && !own ? commented(text) : `  ${text}`}`;
  });
  return `{\n${rows.join("\n\n")}\n}\n`;
}

/** Short values on one line, longer lists with an entry a line: as a person writes them. */
function indented(value: unknown): string {
  const short = compact(value);
  if (short.length <= 90 || !Array.isArray(value)) return short;
  return `[\n${value.map((entry) => `    ${compact(entry)},\n`).join("")}  ]`;
}

const compact = (value: unknown): string =>
  JSON.stringify(value, null, 1).replace(/\n\s*/g, " ").replaceAll("[ ", "[").replaceAll(" ]", "]");

const commented = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  // ${line}`)
    .join("\n");
