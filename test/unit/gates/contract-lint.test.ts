import assert from "node:assert/strict";
import { lintContracts } from "../../../shared/gates/contract/lint.ts";
import type { LintFacts, LintSubject } from "../../../shared/gates/contract/lint-subject.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import { jsonPlaces } from "../../../shared/model/json-place.ts";
import type { Finding } from "../../../shared/model/finding.ts";

const facts: LintFacts = {
  tracked: [
    "src/shop/cart.py",
    "src/shop/tax.py",
    "src/ui/Button.tsx",
    "tests/test_cart.py",
    "README.md",
    "package.json",
  ],
  untracked: ["fixtures/rates.json", "notes.txt"],
  texts: new Map([["src/shop/tax.py", "def tax():\n    return 1\n"]]),
  hidden: new Map([
    ["../hidden/test_cart.py", "outside"],
    ["tests/test_cart.py", "inside"],
  ]),
  links: ["node_modules", "src", "tests"],
  workers: [{ id: "pi" }, { id: "claude-sonnet" }, { id: "claude-haiku", kinds: ["tests"] }],
  otherIds: ["OLD"],
  limits: {},
};

/** A contract as an honest lead writes it: nothing is said about it. */
const honest: ContractInput = {
  id: "T1",
  title: "Round tax line by line",
  goal: "Cart.total in src/shop/cart.py rounds the tax of each line, so that totals agree with the printed lines",
  non_goals: ["The format of receipts stays"],
  risks: ["Negative amounts of returned goods"],
  mode: "edit",
  kind: "feature",
  worker: "pi",
  ladder: ["claude-sonnet", "openrouter/some/model"],
  max_minutes: 15,
  max_cost_usd: 1,
  allowed: ["src/shop/cart.py", "tests/test_tax.py"],
  protected: ["src/shop/tax.py"],
  estimate_lines: 60,
  max_diff_lines: 150,
  acceptance: [
    { id: "a1", text: "A cart of three lines at 0.333 totals 1.00", check: "cart" },
    { id: "a2", text: "The names say what they hold", judged: true },
  ],
  checks: [{ name: "cart", argv: ["python3", "-m", "pytest", "tests/test_cart.py"], timeout_s: 120 }],
  hidden_files: [{ from: "../hidden/test_cart.py", to: "tests/test_hidden.py" }],
  hidden_checks: [{ name: "hidden", argv: ["python3", "-m", "pytest", "tests/test_hidden.py"] }],
  final_checks: [{ name: "all", argv: ["python3", "-m", "pytest"] }],
  approach: ["Round in `Cart.total`, not in the caller", "Read rates from fixtures/rates.json"],
  pattern_refs: ["src/shop/tax.py:1-2"],
  examples: [{ input: "https://shop.example/cart?id=1", expected: "see above" }],
  pseudo: "sum(round(line.net * rate, 2) for line in lines)",
  rules: ["Use `decimal.Decimal`, never float", "At most 40 lines a function"],
  worktree_links: ["node_modules"],
  include_untracked: ["fixtures/*.json"],
};

function subject(
  input: ContractInput,
  path = `.orch/contracts/${input.id}.json`,
): LintSubject & { readonly lines: string[] } {
  const text = JSON.stringify(input, null, 2);
  return { contract: Contract.parse(input), path, lineOf: jsonPlaces(text), lines: text.split("\n") };
}

interface Row {
  readonly rule: string;
  readonly what?: string;
  readonly severity: Finding["severity"];
  readonly change: Partial<ContractInput>;
  /** Text of the line that is named. */
  readonly line: RegExp;
  readonly says: RegExp;
  readonly mend: RegExp;
  readonly around?: Partial<LintFacts>;
}

const check = (argv: string | string[], more: object = {}): NonNullable<ContractInput["checks"]>[number] => ({
  name: "cart",
  argv,
  ...more,
});

const rows: readonly Row[] = [
  {
    rule: "scope-outside",
    severity: "FAIL",
    change: { allowed: ["../other/a.py"] },
    line: /other\/a\.py/,
    says: /no path inside/,
    mend: /relative to the repository/,
  },
  {
    rule: "scope-outside",
    what: "a check's folder",
    severity: "FAIL",
    change: { checks: [check(["pytest", "tests/test_cart.py"], { cwd: "../x" })] },
    line: /"\.\.\/x"/,
    says: /leaves the repository/,
    mend: /inside it/,
  },
  {
    rule: "scope-conflict",
    severity: "FAIL",
    change: { allowed: ["src/shop/cart.py", "src/shop/tax.py"] },
    line: /tax\.py/,
    says: /both allowed and protected/,
    mend: /one of the two/,
  },
  {
    rule: "glob-empty",
    what: "allowed",
    severity: "WARN",
    change: { allowed: ["source/**"] },
    line: /source/,
    says: /matches no file/,
    mend: /name the new file exactly/,
  },
  {
    rule: "glob-empty",
    what: "a folder without a star",
    severity: "WARN",
    change: { protected: ["src/ui"] },
    line: /src\/ui/,
    says: /matches no file/,
    mend: /src\/ui\/\*\*/,
  },
  {
    rule: "glob-empty",
    what: "include_untracked",
    severity: "WARN",
    change: { approach: [], include_untracked: ["data/*.csv"] },
    line: /data/,
    says: /no untracked file/,
    mend: /tracked files are/,
  },
  {
    rule: "glob-empty",
    what: "worktree_links",
    severity: "WARN",
    change: { worktree_links: [".venv"] },
    line: /\.venv/,
    says: /nothing that is untracked/,
    mend: /Take it out/,
  },
  {
    rule: "hidden-missing",
    severity: "FAIL",
    change: { hidden_files: [{ from: "../gone.py", to: "tests/test_h.py" }] },
    line: /\{/,
    says: /cannot be read/,
    mend: /outside the repository/,
  },
  {
    rule: "hidden-missing",
    what: "inside",
    severity: "FAIL",
    change: { hidden_files: [{ from: "tests/test_cart.py", to: "tests/test_h.py" }] },
    line: /\{/,
    says: /every worker sees it/,
    mend: /outside the repository/,
  },
  {
    rule: "acceptance-missing",
    severity: "FAIL",
    change: { acceptance: [] },
    line: /acceptance|\[\]/,
    says: /no criterion/,
    mend: /"check"/,
  },
  {
    rule: "acceptance-unmapped",
    severity: "FAIL",
    change: { acceptance: [{ id: "a1", text: "It works for 3 lines" }] },
    line: /\{/,
    says: /names no check/,
    mend: /judged/,
  },
  {
    rule: "acceptance-unmapped",
    what: "a check that is not there",
    severity: "FAIL",
    change: { acceptance: [{ id: "a1", text: "It works", check: "cort" }] },
    line: /cort/,
    says: /does not exist/,
    mend: /cart, hidden/,
  },
  {
    rule: "acceptance-twice",
    severity: "FAIL",
    change: {
      acceptance: [
        { id: "a1", text: "One", check: "cart" },
        { id: "a1", text: "Two", check: "cart" },
      ],
    },
    line: /"a1"/,
    says: /two criteria/,
    mend: /id of its own/,
  },
  {
    rule: "checks-missing",
    severity: "WARN",
    change: { checks: [], acceptance: [{ id: "a1", text: "It reads well", judged: true }] },
    line: /checks/,
    says: /nothing is run/,
    mend: /cheap check/,
  },
  {
    rule: "check-twice",
    severity: "FAIL",
    change: { checks: [check(["pytest", "tests/test_cart.py"]), check(["pytest", "tests/test_tax.py"])] },
    line: /"cart"/,
    says: /two of checks/,
    mend: /name of its own/,
  },
  {
    rule: "check-shell",
    severity: "FAIL",
    change: { checks: [check("pytest tests/test_cart.py && ruff check src/shop")] },
    line: /&&/,
    says: /no shell/,
    mend: /two checks/,
  },
  ...[
    ["pytest"],
    ["python3", "-m", "pytest", "-q", "."],
    ["uv", "run", "pytest", "--junitxml", "{report}"],
    ["npm", "test"],
    ["npm", "run", "lint"],
    ["npx", "eslint", "."],
    ["go", "test", "./..."],
    ["cargo", "test"],
    ["make", "check"],
    ["node_modules/.bin/tsc", "--noEmit"],
    ["./gradlew", "test"],
    ["pre-commit", "run", "--all-files"],
  ].map((argv): Row => ({
    rule: "check-wide",
    what: argv.join(" "),
    severity: "WARN",
    change: { checks: [check(argv)] },
    line: /\[/,
    says: /whole project/,
    mend: /final_checks/,
  })),
  {
    rule: "size-files",
    severity: "WARN",
    change: { allowed: ["a.py", "b.py", "c.py", "d.py"], goal: "Round the tax" },
    line: /d\.py/,
    says: /4 files are many/,
    mend: /1 to 3/,
  },
  {
    rule: "size-lines",
    severity: "WARN",
    change: { estimate_lines: 400, max_diff_lines: 1000 },
    line: /400/,
    says: /more than one contract/,
    mend: /about 150/,
  },
  {
    rule: "size-lines",
    what: "bulk",
    severity: "WARN",
    change: { kind: "mechanical", estimate_lines: 1200, max_diff_lines: 3000 },
    line: /1200/,
    says: /more than one contract/,
    mend: /in two/,
  },
  {
    rule: "budget-missing",
    what: "estimate",
    severity: "WARN",
    change: { estimate_lines: undefined },
    line: /\{/,
    says: /estimate_lines is missing/,
    mend: /Add/,
  },
  {
    rule: "budget-missing",
    what: "diff",
    severity: "WARN",
    change: { max_diff_lines: undefined },
    line: /\{/,
    says: /max_diff_lines is missing/,
    mend: /"max_diff_lines": 150/,
  },
  {
    rule: "budget-missing",
    what: "minutes",
    severity: "WARN",
    change: { max_minutes: undefined },
    line: /\{/,
    says: /max_minutes is missing/,
    mend: /15/,
  },
  {
    rule: "budget-ratio",
    what: "under",
    severity: "WARN",
    change: { max_diff_lines: 119 },
    line: /119/,
    says: /under 2 times/,
    mend: /Between 120 and 180/,
  },
  {
    rule: "budget-ratio",
    what: "over",
    severity: "WARN",
    change: { max_diff_lines: 181 },
    line: /181/,
    says: /over 3 times/,
    mend: /Between 120 and 180/,
  },
  {
    rule: "budget-checks",
    severity: "WARN",
    change: { max_minutes: 1 },
    line: /max_minutes/,
    says: /may take 2 minutes/,
    mend: /timeout_s/,
  },
  {
    rule: "budget-cost",
    severity: "WARN",
    change: { max_cost_usd: 5 },
    around: { limits: { usd: 2 } },
    line: /max_cost_usd/,
    says: /more than limits\.usd 2/,
    mend: /Lower it/,
  },
  {
    rule: "unfilled",
    severity: "FAIL",
    change: { goal: "<what is different afterwards>" },
    line: /goal/,
    says: /as the template left it/,
    mend: /Write what is meant/,
  },
  ...[
    "Do it as discussed",
    "As we agreed, round each line",
    "See above for the format",
    "Like last time",
    "Handle errors the usual way",
    "Follow the design doc",
    "Fix what our conversation was about",
    "Fix issue #12",
    "Follow https://wiki.example/rounding",
    "Runden wie besprochen",
    "Use the approach in the ticket",
  ].map((goal): Row => ({
    rule: "reference-elsewhere",
    what: goal,
    severity: "WARN",
    change: { goal: goal === "Follow the design doc" ? "Do what is in the design doc" : goal },
    line: /goal/,
    says: /points to what the contract does not hold/,
    mend: /Write it out/,
  })),
  {
    rule: "reference-missing",
    what: "a path",
    severity: "WARN",
    change: { approach: ["Change lib/shop/cart.py"] },
    line: /lib\/shop/,
    says: /lib\/shop\/cart\.py is not in the repository/,
    mend: /to be made/,
  },
  {
    rule: "reference-missing",
    what: "a name in backticks",
    severity: "WARN",
    change: { rules: ["Use `money.py` for amounts"] },
    line: /money/,
    says: /money\.py is not/,
    mend: /Mend the path/,
  },
  {
    rule: "reference-missing",
    what: "untracked",
    severity: "WARN",
    change: { include_untracked: [] },
    line: /rates\.json/,
    says: /untracked, so the worker does not see it/,
    mend: /include_untracked/,
  },
  {
    rule: "reference-missing",
    what: "a pattern",
    severity: "FAIL",
    change: { pattern_refs: ["src/shop/vat.py:3"] },
    line: /vat/,
    says: /not in the repository/,
    mend: /file:lines/,
  },
  {
    rule: "reference-missing",
    what: "a pattern's lines",
    severity: "FAIL",
    change: { pattern_refs: ["src/shop/tax.py:2-9"] },
    line: /2-9/,
    says: /has 2 lines/,
    mend: /file has changed/,
  },
  ...[
    "Write clean code",
    "Follow best practices",
    "Handle errors appropriately",
    "Keep it readable",
    "Follow existing conventions",
    "Add comments where needed",
    "The code must be robust and efficient",
  ].map((rule): Row => ({
    rule: "rule-vague",
    what: rule,
    severity: "WARN",
    change: { rules: [rule] },
    line: new RegExp(rule),
    says: /nothing shows whether/,
    mend: /a name, a number, a file/,
  })),
  {
    rule: "ui-tokens",
    severity: "WARN",
    change: { kind: "ui" },
    line: /kind/,
    says: /no design_tokens/,
    mend: /"design_tokens"/,
  },
  {
    rule: "ui-tokens",
    what: "none allowed",
    severity: "WARN",
    change: { kind: "ui", design_tokens: { allowed: [], forbidden: ["#000"] } },
    line: /\[\]/,
    says: /allows nothing/,
    mend: /List the tokens/,
  },
  {
    rule: "worker-unknown",
    severity: "FAIL",
    change: { worker: "claude" },
    line: /"claude"/,
    says: /there is no worker claude/,
    mend: /pi, claude-sonnet/,
  },
  {
    rule: "worker-unknown",
    what: "on the ladder",
    severity: "FAIL",
    change: { ladder: ["sonet"] },
    line: /sonet/,
    says: /no worker sonet/,
    mend: /provider\/model/,
  },
  {
    rule: "worker-features",
    severity: "FAIL",
    change: { worker: "builtin/template" },
    line: /builtin/,
    says: /builtin\/template fills in what a feature's spec\.md determines, and does no contracts/,
    mend: /provider\/model/,
  },
  {
    rule: "worker-features",
    what: "on the ladder",
    severity: "FAIL",
    change: { ladder: ["pi", "builtin/template"] },
    line: /builtin/,
    says: /does no contracts/,
    mend: /provider\/model/,
  },
  {
    rule: "worker-kind",
    severity: "WARN",
    change: { worker: "claude-haiku" },
    line: /haiku/,
    says: /only for tests, and this is feature/,
    mend: /another worker/,
  },
  {
    rule: "after-unknown",
    severity: "FAIL",
    change: { after: ["T9"] },
    line: /T9/,
    says: /there is no contract T9/,
    mend: /take it out/,
  },
  {
    rule: "after-unknown",
    what: "one that lies beside",
    severity: "WARN",
    change: { after: ["OLD"] },
    line: /OLD/,
    says: /not among/,
    mend: /add \.orch\/contracts\/OLD\.json/,
  },
  {
    rule: "cycle",
    what: "of one",
    severity: "FAIL",
    change: { after: ["T1"] },
    line: /T1/,
    says: /waits for itself/,
    mend: /Take one of them out/,
  },
];

describe("contract lints", () => {
  it("say nothing about an honest contract", () => {
    assert.deepEqual(lintContracts([subject(honest)], facts), []);
  });

  it("say nothing about an honest read-only one, nor about two that wait for each other's files", () => {
    const question: ContractInput = {
      id: "Q1",
      title: "Where is tax rounded",
      goal: "Say in which functions tax is rounded",
      mode: "read_only",
      kind: "analysis",
      allowed: ["**"],
      max_minutes: 10,
      acceptance: [{ id: "a1", text: "Names every function with its line", judged: true }],
    };
    const second: ContractInput = { ...honest, id: "T2", after: ["T1"], inputs: [{ from: "Q1", what: "answer" }] };
    assert.deepEqual(lintContracts([subject(question), subject(honest), subject(second)], facts), []);
  });

  for (const { rule, what, severity, change, line, says, mend, around } of rows) {
    it(`${rule}${what === undefined ? "" : `: ${what}`}`, () => {
      const input = Object.fromEntries(
        Object.entries({ ...honest, ...change }).filter(([, value]) => value !== undefined),
      ) as unknown as ContractInput;
      const one = subject(input);
      const found = lintContracts([one], { ...facts, ...around });
      assert.deepEqual(
        found.map((finding) => `${finding.severity} ${finding.rule}`),
        [`${severity} contract.${rule}`],
        JSON.stringify(found, null, 1),
      );
      const [finding] = found;
      assert.equal(finding?.path, ".orch/contracts/T1.json");
      assert.match(one.lines[(finding?.line ?? 0) - 1] ?? "", line);
      assert.match(finding?.message ?? "", says);
      assert.match(finding?.remedy ?? "", mend);
    });
  }

  const plain = [
    "Totals without tax stay as before",
    "Wrap the call in a retry of 3 times",
    "The client posts to https://api.example/v1 and shows the last message of the chat",
    "Send the email when the meeting begins",
    "The issue number is printed above the total",
    "Return 404 and/or an empty body",
  ];
  for (const goal of plain)
    it(`nothing is read into plain words: ${goal}`, () => {
      assert.deepEqual(lintContracts([subject({ ...honest, goal })], facts), []);
    });

  for (const rule of [
    "Clean up `tmp` in a finally",
    "Functions have at most 40 lines",
    "No import of src/ui from src/shop",
  ])
    it(`a rule that can be checked: ${rule}`, () => {
      assert.deepEqual(lintContracts([subject({ ...honest, rules: [rule] })], facts), []);
    });

  const scoped: readonly string[][] = [
    ["pytest", "tests/test_cart.py::test_total"],
    ["pytest", "-k", "cart"],
    ["npm", "test", "-w", "shop"],
    ["npx", "vitest", "run", "src/cart.test.ts"],
    ["go", "test", "./shop/..."],
    ["cargo", "test", "-p", "shop"],
    ["python3", "tools/check_rates.py"],
    ["ruff", "check", "src/shop"],
    ["./gradlew", "test", "--tests", "CartTest"],
  ];
  for (const argv of scoped)
    it(`a scoped check is none of the project's: ${argv.join(" ")}`, () => {
      assert.deepEqual(lintContracts([subject({ ...honest, checks: [check(argv)] })], facts), []);
    });

  const pairs: readonly {
    readonly name: string;
    readonly a: string[];
    readonly b: string[];
    readonly meets?: string;
  }[] = [
    { name: "the same file", a: ["src/shop/cart.py"], b: ["src/shop/cart.py"], meets: "src/shop/cart.py" },
    { name: "a file in a glob", a: ["src/shop/**"], b: ["src/shop/cart.py"], meets: "src/shop/cart.py" },
    { name: "a new file in a glob", a: ["src/shop/**"], b: ["src/shop/new.py"], meets: "src/shop/new.py" },
    { name: "two globs over one file", a: ["src/shop/*.py"], b: ["src/**/cart.*"], meets: "src/shop/cart.py" },
    { name: "two globs over files to come", a: ["src/new/**"], b: ["src/new/api/*.py"], meets: "src/new/**" },
    { name: "files beside each other", a: ["src/shop/cart.py"], b: ["src/shop/tax.py"] },
    { name: "folders beside each other", a: ["src/shop/**"], b: ["src/ui/**"] },
    { name: "folders that begin alike", a: ["src/shop/**"], b: ["src/shopping/*.py"] },
  ];
  for (const { name, a, b, meets } of pairs)
    it(`scope-overlap: ${name}`, () => {
      const tied = { protected: [], goal: "Round it", acceptance: [{ id: "a1", text: "It is", judged: true }] };
      const first = subject({ ...honest, ...tied, id: "T1", allowed: a });
      const second = subject({ ...honest, ...tied, id: "T2", allowed: b });
      const found = lintContracts([first, second], facts).filter(({ rule }) => rule === "contract.scope-overlap");
      assert.deepEqual(
        found.map(({ path, message, line }) => [
          path,
          message,
          second.lines[(line ?? 0) - 1]?.trim().replace(/,$/, ""),
        ]),
        meets === undefined
          ? []
          : [
              [
                ".orch/contracts/T2.json",
                `T1 and T2 may both change ${meets}, beside each other`,
                JSON.stringify(b[0]),
              ],
            ],
      );
      const chained = subject({ ...honest, ...tied, id: "T2", allowed: b, build_on: "T1" });
      assert.equal(
        lintContracts([first, chained], facts).some(({ rule }) => rule === "contract.scope-overlap"),
        false,
      );
      const looks = subject({ ...honest, ...tied, id: "T2", allowed: b, mode: "read_only" });
      assert.equal(
        lintContracts([first, looks], facts).some(({ rule }) => rule === "contract.scope-overlap"),
        false,
      );
    });

  it("cycle, over several and named at each", () => {
    const ring = ["T1", "T2", "T3"].map((id, index) =>
      subject({ ...honest, id, allowed: [`src/${id}.py`], goal: "Round it", after: [["T3", "T1", "T2"][index] ?? ""] }),
    );
    const found = lintContracts(ring, facts).filter(({ rule }) => rule === "contract.cycle");
    assert.deepEqual(
      found.map(({ path, severity }) => `${severity} ${path}`),
      ["T1", "T2", "T3"].map((id) => `FAIL .orch/contracts/${id}.json`),
    );
    assert.match(found[0]?.message ?? "", /T1 and T3, T2 wait for each other/);
  });

  it("id-twice, id-file, input-empty", () => {
    const looks = subject({ ...honest, id: "Q1", mode: "read_only" });
    const wants = subject({ ...honest, id: "T2", inputs: [{ from: "Q1", what: "diff" }], build_on: "Q1" });
    const again = subject(
      { ...honest, id: "T2", allowed: ["src/other.py"], goal: "Round it" },
      ".orch/contracts/T3.json",
    );
    const found = lintContracts([looks, wants, again], facts);
    assert.deepEqual(
      found.map(({ rule, severity, path }) => `${severity} ${rule} ${path}`),
      [
        "FAIL contract.input-empty .orch/contracts/T2.json",
        "FAIL contract.input-empty .orch/contracts/T2.json",
        "FAIL contract.id-twice .orch/contracts/T3.json",
        "WARN contract.id-file .orch/contracts/T3.json",
      ],
    );
  });

  it("size-tiny: many small ones are better a few larger ones", () => {
    const tiny = ["T1", "T2", "T3", "T4"].map((id) =>
      subject({ ...honest, id, allowed: [`src/${id}.py`], goal: "Round it", estimate_lines: 20, max_diff_lines: 50 }),
    );
    assert.deepEqual(
      lintContracts(tiny, facts).map(({ rule, message }) => `${rule}: ${message}`),
      ["contract.size-tiny: 4 contracts are under 50 lines: T1, T2, T3, T4"],
    );
    assert.deepEqual(lintContracts(tiny.slice(1), facts), []);
  });
});
