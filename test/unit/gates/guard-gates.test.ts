import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createAppearanceGate } from "../../../shared/gates/appearance.ts";
import { createConfigGate } from "../../../shared/gates/config.ts";
import { createDesignGate } from "../../../shared/gates/design.ts";
import { guardCategories } from "../../../shared/gates/guard-categories.ts";
import { createLeftoversGate } from "../../../shared/gates/leftovers.ts";
import { createObservedGate } from "../../../shared/gates/observed.ts";
import { createSpecialCasesGate } from "../../../shared/gates/special-cases.ts";
import { loadRules } from "../../../shared/rulebook/load.ts";
import { Contract } from "../../../shared/model/contract.ts";
import type { Gate } from "../../../shared/ports/gate.ts";
import { found, gateInput } from "../../support/gate-input.ts";
import { installedRules } from "../../support/rulebook.ts";
import { sourceRoot } from "../../support/source-root.ts";

type Texts = Readonly<Record<string, string>>;
const contract = Contract.parse({ id: "case", title: "t", goal: "g", allowed: ["**"] });
const said = (gate: Gate, before: Texts, after: Texts): Promise<readonly string[]> =>
  found(gate, gateInput({ contract, before, after }));
/** One file, from a text to another one. */
const one = (gate: Gate, name: string, before: string | undefined, after: string): Promise<readonly string[]> =>
  said(gate, before === undefined ? {} : { [name]: before }, { [name]: after });
const rules = (findings: readonly string[]): readonly string[] => [
  ...new Set(findings.map((text) => text.split(" ")[1] ?? "")),
];

describe("guard: configuration", () => {
  const gate = createConfigGate();
  const tamper = "test_config_tamper";
  const relaxed = "lint_config_relaxed";
  const pkg = (test: string, more = ""): string => `{\n  "scripts": { "test": "${test}" }${more}\n}\n`;
  const bad: readonly (readonly [string, string, string | undefined, string, string])[] = [
    ["|| true", "package.json", pkg("jest"), pkg("jest || true"), tamper],
    ["exit 0", "package.json", pkg("jest"), pkg("jest; exit 0"), tamper],
    ["no tests needed", "package.json", pkg("vitest run"), pkg("vitest run --passWithNoTests"), tamper],
    ["an echo", "package.json", pkg("jest"), pkg("echo ok"), tamper],
    ["one file of many", "package.json", pkg("mocha"), pkg("mocha --grep fast"), tamper],
    [
      "jest's pattern",
      "package.json",
      pkg("jest", ', "jest": { "testMatch": ["**/*.test.js"] }'),
      pkg("jest", ', "jest": { "testMatch": ["**/*.unit.js"] }'),
      tamper,
    ],
    [
      "jest's ignored paths",
      "jest.config.json",
      '{ "testPathIgnorePatterns": ["/node_modules/"] }\n',
      '{ "testPathIgnorePatterns": ["/node_modules/", "cart"] }\n',
      tamper,
    ],
    [
      "jest's threshold",
      "jest.config.json",
      '{ "coverageThreshold": { "global": { "lines": 90 } } }\n',
      '{ "coverageThreshold": { "global": { "lines": 10 } } }\n',
      tamper,
    ],
    [
      "vitest's exclude",
      "vitest.config.ts",
      'export default { test: { exclude: ["dist/**"] } };\n',
      'export default { test: { exclude: ["dist/**", "test/cart.test.ts"] } };\n',
      tamper,
    ],
    [
      "pytest's -k",
      "pyproject.toml",
      '[tool.pytest.ini_options]\naddopts = "-q"\n',
      '[tool.pytest.ini_options]\naddopts = "-q -k fast"\n',
      tamper,
    ],
    [
      "pytest's paths",
      "pyproject.toml",
      '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
      '[tool.pytest.ini_options]\ntestpaths = ["tests/unit"]\n',
      tamper,
    ],
    [
      "setup.cfg",
      "setup.cfg",
      "[tool:pytest]\naddopts = -q\n",
      "[tool:pytest]\naddopts = -q --ignore=tests/cart\n",
      tamper,
    ],
    [
      "strictness of xfail",
      "pytest.ini",
      "[pytest]\nxfail_strict = true\n",
      "[pytest]\nxfail_strict = false\n",
      tamper,
    ],
    [
      "coverage of Python",
      "pyproject.toml",
      "[tool.coverage.report]\nfail_under = 90\n",
      "[tool.coverage.report]\nfail_under = 20\n",
      tamper,
    ],
    ["make ignores errors", "Makefile", "test:\n\tpytest\n", "test:\n\t-pytest\n", tamper],
    ["make goes on", "Makefile", "test:\n\tgo test ./...\n", "test:\n\tgo test ./... || true\n", tamper],
    [
      "maven skips",
      "pom.xml",
      "<properties>\n<skipTests>false</skipTests>\n</properties>\n",
      "<properties>\n<skipTests>true</skipTests>\n</properties>\n",
      tamper,
    ],
    [
      "gradle ignores",
      "build.gradle",
      "test {\n  ignoreFailures = false\n}\n",
      "test {\n  ignoreFailures = true\n}\n",
      tamper,
    ],
    ["cargo leaves tests out", "Cargo.toml", '[lib]\nname = "a"\n', '[lib]\nname = "a"\ntest = false\n', tamper],
    [
      "eslint off",
      ".eslintrc.json",
      '{ "rules": { "no-empty": "error" } }\n',
      '{ "rules": { "no-empty": "off" } }\n',
      relaxed,
    ],
    [
      "eslint warns",
      ".eslintrc.json",
      '{ "rules": { "eqeqeq": "error" } }\n',
      '{ "rules": { "eqeqeq": "warn" } }\n',
      relaxed,
    ],
    [
      "eslint ignores",
      ".eslintrc.json",
      '{ "ignorePatterns": ["dist"] }\n',
      '{ "ignorePatterns": ["dist", "src/cart.js"] }\n',
      relaxed,
    ],
    [
      "not strict",
      "tsconfig.json",
      '{ "compilerOptions": { "strict": true } }\n',
      '{ "compilerOptions": { "strict": false } }\n',
      relaxed,
    ],
    [
      "strict is gone",
      "tsconfig.json",
      '{ "compilerOptions": { "strict": true, "target": "es2022" } }\n',
      '{ "compilerOptions": { "target": "es2022" } }\n',
      relaxed,
    ],
    [
      "ruff ignores",
      "pyproject.toml",
      '[tool.ruff.lint]\nignore = ["E501"]\n',
      '[tool.ruff.lint]\nignore = ["E501", "F401"]\n',
      relaxed,
    ],
    ["ruff selects less", "ruff.toml", 'select = ["E", "F", "B"]\n', 'select = ["E"]\n', relaxed],
    [
      "mypy looks away",
      "mypy.ini",
      "[mypy]\nstrict = true\n",
      "[mypy]\nstrict = true\n[mypy-shop.*]\nignore_errors = true\n",
      relaxed,
    ],
    [
      "flake8 ignores",
      ".flake8",
      "[flake8]\nextend-ignore = E203\n",
      "[flake8]\nextend-ignore = E203, F841\n",
      relaxed,
    ],
    [
      "golangci",
      ".golangci.yml",
      "linters:\n  disable:\n    - lll\n",
      "linters:\n  disable:\n    - lll\n    - errcheck\n",
      relaxed,
    ],
    [
      "clippy",
      "Cargo.toml",
      '[lints.clippy]\nunwrap_used = "deny"\n',
      '[lints.clippy]\nunwrap_used = "allow"\n',
      relaxed,
    ],
    [
      "more time",
      "vitest.config.ts",
      "export default { test: { testTimeout: 2000 } };\n",
      "export default { test: { testTimeout: 90000 } };\n",
      "timeout_raised",
    ],
    [
      "more tries",
      "playwright.config.ts",
      "export default { retries: 0 };\n",
      "export default { retries: 3 };\n",
      "timeout_raised",
    ],
  ];
  for (const [what, name, before, after, rule] of bad)
    it(`${rule}: ${what}`, async () => assert.deepEqual(rules(await one(gate, name, before, after)), [rule]));

  const good: readonly (readonly [string, string, string | undefined, string])[] = [
    [
      "a version",
      "package.json",
      '{ "version": "1.0.0", "scripts": { "test": "jest" } }\n',
      '{ "version": "1.1.0", "scripts": { "test": "jest" } }\n',
    ],
    ["another script", "package.json", pkg("jest"), '{\n  "scripts": { "test": "jest", "build": "tsc" }\n}\n'],
    ["a stricter run", "package.json", pkg("jest"), pkg("jest --ci")],
    [
      "moved and indented",
      "package.json",
      pkg("jest"),
      '{\n    "name": "a",\n    "scripts": {\n        "test": "jest"\n    }\n}\n',
    ],
    [
      "a higher threshold",
      "pyproject.toml",
      "[tool.coverage.report]\nfail_under = 80\n",
      "[tool.coverage.report]\nfail_under = 90\n",
    ],
    [
      "another marker",
      "pyproject.toml",
      '[tool.pytest.ini_options]\nmarkers = ["slow"]\n',
      '[tool.pytest.ini_options]\nmarkers = ["slow", "net"]\n',
    ],
    [
      "more paths",
      "pyproject.toml",
      '[tool.pytest.ini_options]\ntestpaths = ["tests"]\n',
      '[tool.pytest.ini_options]\ntestpaths = ["tests", "more"]\n',
    ],
    [
      "less time",
      "vitest.config.ts",
      "export default { test: { testTimeout: 2000 } };\n",
      "export default { test: { testTimeout: 1000 } };\n",
    ],
    [
      "a stricter rule",
      ".eslintrc.json",
      '{ "rules": { "no-empty": "warn" } }\n',
      '{ "rules": { "no-empty": "error" } }\n',
    ],
    [
      "one rule more",
      ".eslintrc.json",
      '{ "rules": { "no-empty": "error" } }\n',
      '{ "rules": { "no-empty": "error", "eqeqeq": "error" } }\n',
    ],
    [
      "stricter types",
      "tsconfig.json",
      '{ "compilerOptions": { "strict": false } }\n',
      '{ "compilerOptions": { "strict": true } }\n',
    ],
    ["built files", ".eslintrc.json", '{ "ignorePatterns": [] }\n', '{ "ignorePatterns": ["dist/**"] }\n'],
    ["another target", "Makefile", "test:\n\tpytest\n", "test:\n\tpytest\n\nclean:\n\t-rm -r build\n"],
    ["pytest as a module", "Makefile", "test:\n\tpytest -q\n", "test:\n\tpython -m pytest -q\n"],
    ["fewer ignored codes", ".flake8", "[flake8]\nextend-ignore = E203, F841\n", "[flake8]\nextend-ignore = E203\n"],
    ["a dependency", "Cargo.toml", '[dependencies]\nserde = "1"\n', '[dependencies]\nserde = "1"\nanyhow = "1"\n'],
  ];
  for (const [what, name, before, after] of good)
    it(`honest: ${what}`, async () => assert.deepEqual(await one(gate, name, before, after), []));

  it("a new pytest.ini takes the place of pyproject.toml's settings", async () => {
    const before = { "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-q"\n' };
    assert.deepEqual(rules(await said(gate, before, { ...before, "pytest.ini": "[pytest]\n" })), [tamper]);
    assert.deepEqual(await said(gate, {}, { "pytest.ini": "[pytest]\naddopts = -q\n" }), []);
  });
});

describe("guard: appearance", () => {
  const gate = createAppearanceGate();
  it("white space alone, file by file", async () => {
    const before = { "a.py": "x = 1\n", "b.py": "y = 1\n" };
    assert.deepEqual(await said(gate, before, { "a.py": "x  =  1\n", "b.py": "y = 2\n" }), [
      "WARN whitespace_only a.py:1",
    ]);
  });
  it("line ends that flip around an edit", async () =>
    assert.deepEqual(
      await found(
        gate,
        gateInput({
          contract,
          before: { "a.py": "a = 1\nb = 2\n" },
          after: { "a.py": "a = 1\r\nb = 3\r\n" },
          files: [
            {
              status: "modified",
              path: "a.py",
              oldMode: "100644",
              newMode: "100644",
              added: 2,
              removed: 2,
              binary: false,
              hunks: [{ oldStart: 1, newStart: 1, removed: ["a = 1", "b = 2"], added: ["a = 1", "b = 3"] }],
            },
          ],
        }),
      ),
      ["WARN eol_change a.py:1"],
    ));
  const left = [
    ["a.py", "# x = 1\n# y = f(x)\n"],
    ["a.py", "# if ready:\n#     return x\n"],
    ["a.ts", "// const a = f();\n// return a;\n"],
    ["a.go", "// x := f()\n// return x\n"],
    ["a.java", "// int a = 1;\n// return a;\n"],
    ["a.rs", "// let a = 1;\n// f(a);\n"],
  ] as const;
  for (const [name, text] of left)
    it(`code in comments: ${JSON.stringify(text)}`, async () =>
      assert.deepEqual(await one(gate, name, "", text), [`WARN commented_code ${name}:1`]));
  const prose = [
    ["a.py", "# The rate is fixed for a day.\n# See the table below for more of them.\n"],
    ["a.py", "# noqa: E501\n"],
    ["a.ts", "// Returns the first job, or undefined.\n// The queue is sorted before.\n"],
    ["a.go", "// Package ring holds a buffer.\n// It is not safe for use by many.\n"],
    ["a.py", "# x = 1\nx = 2\n"],
  ] as const;
  for (const [name, text] of prose)
    it(`honest comments: ${JSON.stringify(text)}`, async () => assert.deepEqual(await one(gate, name, "", text), []));
});

describe("guard: leftovers", () => {
  const gate = createLeftoversGate();
  const junk: Texts = {
    "src/cart.py.bak": "x\n",
    "debug.log": "x\n",
    "src/debug_cart.py": "print(1)\n",
    "scratch.ts": "f();\n",
    "fix_it.sh": "rm x\n",
    "src/cart_backup.py": "x = f()\n",
    "repro.js": "run();\n",
    "htmlcov/index.html": "x\n",
  };
  for (const [name, text] of Object.entries(junk))
    it(`junk: ${name}`, async () =>
      assert.deepEqual(await one(gate, name, undefined, text), [`FAIL junk_file ${name}`]));
  const strays = [
    ".aider.chat.history.md",
    ".codex/sessions/a.jsonl",
    ".claude/todos/1.json",
    ".gemini/tmp/x",
    ".specstory/a.md",
  ];
  for (const name of strays)
    it(`stray: ${name}`, async () =>
      assert.deepEqual(await one(gate, name, undefined, "x\n"), [`WARN stray_cli_file ${name}`]));
  const good: Texts = {
    "src/debug_panel.py": "class Panel:\n    pass\n",
    "src/check_url.ts": "export function checkUrl() {}\n",
    "scripts/run_all.sh": "make\n",
    "src/template.ts": "export const a = 1;\n",
    "tests/test_fix.py": "def test_a():\n    assert f()\n",
    "docs/copying.md": "x\n",
    "src/catalog.py": "X = 1\n",
    "bin/run.js": "main();\n",
    "src/temperature.py": "f()\n",
  };
  for (const [name, text] of Object.entries(good))
    it(`honest: ${name}`, async () => assert.deepEqual(await one(gate, name, undefined, text), []));
});

describe("guard: design tokens", () => {
  const gate = createDesignGate();
  const ui = Contract.parse({
    ...contract,
    design_tokens: { allowed: ["--color-*", "$space-2"], forbidden: ["#ff0000", "--legacy-*"] },
  });
  const of = (text: string): Promise<readonly string[]> =>
    found(gate, gateInput({ contract: ui, before: {}, after: { "src/a.css": text } }));
  it("a forbidden one fails, an unlisted one warns, a listed one is silent", async () => {
    assert.deepEqual(
      [
        await of("a { color: #ff0000; }\n"),
        await of("a { color: var(--legacy-red); }\n"),
        await of("a { color: #123456; }\n"),
        await of("a { color: var(--color-text); margin: $space-2; }\n"),
      ],
      [
        ["FAIL design_token_forbidden src/a.css:1"],
        ["FAIL design_token_forbidden src/a.css:1"],
        ["WARN design_token_unlisted src/a.css:1"],
        [],
      ],
    );
  });
  it("without tokens nothing is asked", async () =>
    assert.deepEqual(await one(gate, "src/a.css", undefined, "a { color: red; }\n"), [
      "skipped: the contract names no design tokens",
    ]));
});

describe("guard: special cases", () => {
  const base: Texts = {
    "src/price.py": "def price(count):\n    return count\n",
    "tests/test_price.py":
      "@pytest.mark.parametrize('count, want', [\n    (4, 980),\n    (12, 2880),\n    (33, 7425),\n])\ndef test_price(count, want):\n    assert price(count) == want\n",
  };
  const gate = createSpecialCasesGate({ filesAt: () => Promise.resolve(Object.keys(base)) });
  const of = async (body: string): Promise<readonly string[]> =>
    rules(await said(gate, base, { ...base, "src/price.py": `def price(count):\n${body}` }));
  const bad = [
    "    if count == 4:\n        return 980\n    if count == 12:\n        return 2880\n    return count\n",
    "    return {4: 980, 12: 2880, 33: 7425}[count]\n",
    "    known = {(4,): 980, (12,): 2880}\n    return known.get((count,), 0)\n",
    "    match count:\n        case 33: return 7425\n",
  ];
  for (const body of bad)
    it(`found: ${JSON.stringify(body)}`, async () => assert.deepEqual(await of(body), ["test_input_special_case"]));
  const good = [
    "    return count * 250 - count * 5\n",
    "    rate = 250 if count < 4 else 245\n    return count * rate\n",
    "    return {1: 'I', 4: 'IV', 5: 'V', 9: 'IX', 10: 'X', 40: 'XL', 50: 'L', 90: 'XC'}[count]\n",
    "    if count == 0:\n        return 0\n    return count * 240\n",
    "    # 980 for 4\n    return count * 245\n",
  ];
  for (const body of good) it(`silent: ${JSON.stringify(body)}`, async () => assert.deepEqual(await of(body), []));
});

describe("guard: answers that are returned as they are", () => {
  const base: Texts = {
    "src/slug.py": "def slugify(text):\n    return text.lower()\n",
    "tests/test_slug.py":
      'class Slug(TestCase):\n    def test_words(self):\n        self.assertEqual(slugify("Hello World"), "hello-world")\n\n    def test_spaces(self):\n        self.assertEqual(slugify("  a   b  "), "a-b")\n',
  };
  const gate = createSpecialCasesGate({ filesAt: () => Promise.resolve(Object.keys(base)) });
  const answers =
    '    if text.startswith("Hello"):\n        return "hello-world"\n    if text.strip() == "a   b":\n        return "a-b"\n    return text\n';
  const of = async (body: string, goal = "slugify joins words."): Promise<readonly string[]> =>
    rules(
      await found(
        gate,
        gateInput({
          contract: Contract.parse({ ...contract, goal }),
          before: base,
          after: { ...base, "src/slug.py": `def slugify(text):\n${body}` },
        }),
      ),
    );

  it("two that nobody named", async () => assert.deepEqual(await of(answers), ["test_input_special_case"]));
  it("one may be chance", async () =>
    assert.deepEqual(await of('    if text == "":\n        return "hello-world"\n    return text\n'), []));
  it("names that the task gives are no answers", async () =>
    assert.deepEqual(await of(answers, 'It is "hello-world" for greetings, "a-b" for all else.'), []));
  it("nor are those of its examples", async () => {
    const examples = [
      { input: "greeting", expected: "hello-world" },
      { input: "else", expected: "a-b" },
    ];
    const named = gateInput({
      contract: Contract.parse({ ...contract, examples }),
      before: base,
      after: { ...base, "src/slug.py": `def slugify(text):\n${answers}` },
    });
    assert.deepEqual(rules(await found(gate, named)), []);
  });
  for (const [rule, body, wanted] of [
    ["a threshold", '    if n < 100:\n        return "small"\n    return "large"\n', []],
    [
      "the test's own inputs",
      '    if n == 5:\n        return "small"\n    if n == 512:\n        return "large"\n    return ""\n',
      ["test_input_special_case"],
    ],
  ] as const)
    it(`names for cases behind ${rule}`, async () => {
      const sizes: Texts = {
        "src/slug.py": "def size(n):\n    return None\n",
        "tests/test_slug.py":
          'def test_small():\n    assert size(5) == "small"\n\n\ndef test_large():\n    assert size(512) == "large"\n',
      };
      const after = { ...sizes, "src/slug.py": `def size(n):\n${body}` };
      assert.deepEqual(rules(await said(gate, sizes, after)), wanted);
    });
  it("nor are those that the file had", async () => {
    const had = { ...base, "src/slug.py": `${base["src/slug.py"] ?? ""}NAMES = ["hello-world", "a-b"]\n` };
    assert.deepEqual(rules(await said(gate, had, { ...had, "src/slug.py": `def slugify(text):\n${answers}` })), []);
  });
});

describe("guard: values of a check's own command", () => {
  const gate = createSpecialCasesGate({ book: loadRules({ sources: installedRules(), switches: {} }) });
  const python = (code: string): readonly string[] => ["python3", "-B", "-c", code];
  const slug = python('from src.slug import slugify; assert slugify(" A b ") == "a-b"');
  const of = async (
    argv: readonly string[],
    body: string,
    more: { readonly goal?: string; readonly path?: string; readonly before?: string } = {},
  ): Promise<readonly string[]> => {
    const { goal = "slugify drops white space around the text.", path: at = "src/slug.py", before } = more;
    const checks = [{ name: "own", argv: [...argv] }];
    const facts = {
      contract: Contract.parse({ ...contract, goal, checks }),
      before: before === undefined ? {} : { [at]: before },
      after: { [at]: body },
    };
    return (await found(gate, gateInput(facts))).map((text) => text.split(" ").slice(0, 2).join(" "));
  };
  const fail = ["FAIL test_input_special_case"];
  const warn = ["WARN test_input_special_case"];
  const def = (body: string): string => `def slugify(text):\n${body}`;
  const rest = '    return text.lower().replace(" ", "-")\n';

  const bad: Readonly<Record<string, string>> = {
    "a comparison": def(`    if text == " A b ":\n        return "a-b"\n${rest}`),
    "the other way round": def(`    if " A b " == text:\n        return "a-b"\n${rest}`),
    "a conditional": def(`    return "a-b" if text == " A b " else text\n`),
    "a dict": `table = {" A b ": "a-b"}\n\n\n${def("    return table.get(text, text)\n")}`,
    "a dict over lines": `table = {\n    " A b ":\n        "a-b",\n}\n\n\n${def("    return table[text]\n")}`,
    "a match": def('    match text:\n        case " A b ":\n            return "a-b"\n'),
    membership: def(`    if text in (" A b ",):\n        return "a-b"\n${rest}`),
    "without its white space": def(`    if text.strip() == "A b":\n        return "a-b"\n${rest}`),
    "in pieces": def(`    if text == " A" + " b ":\n        return "a-b"\n${rest}`),
    "with an escape": def(`    if text == "\\x20A b ":\n        return "a-b"\n${rest}`),
    "with the answer in pieces": def(`    if text == " A b ":\n        return "a" + "-b"\n${rest}`),
    "a dict that is asked at once": def(`    return {" A b ": "a-b"}.get(text, text)\n`),
    "a start": def(`    if text.startswith(" A b "):\n        return "a-b"\n${rest}`),
    "a group": def(`    if (" A b ") == text:\n        return "a-b"\n${rest}`),
    "two lists": `GIVEN = [" A b "]\n\n\n\n\nWANTED = ["a-b"]\n\n\n${def("    return WANTED[GIVEN.index(text)]\n")}`,
  };
  for (const [name, body] of Object.entries(bad))
    it(`fails: ${name}`, async () => assert.deepEqual(await of(slug, body), fail));

  const number = python("from src.slug import net; assert net(120) == 100");
  const js = ["node", "-e", 'const { slug } = require("./src/slug.js"); require("assert").equal(slug(" A b "), "a-b")'];
  it("fails: numbers", async () =>
    assert.deepEqual(
      await of(number, "def net(gross):\n    if gross == 120:\n        return 100\n    return gross\n"),
      fail,
    ));
  for (const body of [
    "    return {120: 100}.get(gross, gross)\n",
    "    return {(120,): 100}.get((gross,), gross)\n",
    "    table = {\n        120: 100,\n    }\n    return table[gross]\n",
    "    if 120 == gross:\n        return 100\n    return gross\n",
    "    if gross in (120,):\n        return 100\n    return gross\n",
    "    match gross:\n        case 120:\n            return 100\n",
  ])
    it(`fails: numbers, ${JSON.stringify(body)}`, async () =>
      assert.deepEqual(await of(number, `def net(gross):\n${body}`), fail));
  it("fails: a short answer that is returned", async () =>
    assert.deepEqual(
      await of(
        python('from src.slug import slugify; assert slugify(" A b ") == "ab"'),
        def(`    if text == " A b ":\n        return "ab"\n${rest}`),
      ),
      fail,
    ));
  it("fails: a value that is given apart from its assertion", async () =>
    assert.deepEqual(
      await of(
        python('from src.slug import slugify; out = slugify(" A b "); assert out == "a-b"'),
        bad["a comparison"] ?? "",
      ),
      fail,
    ));
  it("fails: a list of pairs", async () =>
    assert.deepEqual(
      await of(
        python('from src.slug import slugify; assert all(slugify(a) == b for a, b in [(" A b ", "a-b"), ("X", "x")])'),
        bad["a comparison"] ?? "",
      ),
      fail,
    ));
  it("fails: an argument of a command", async () =>
    assert.deepEqual(await of(["python3", "-m", "src.slug", " A b "], bad["a comparison"] ?? ""), fail));
  for (const body of [
    'if (text === " A b ") return "a-b";\n',
    'const table = { " A b ": "a-b" };\n',
    'const table = new Map([[" A b ", "a-b"]]);\n',
    'switch (text) {\n  case " A b ":\n    return "a-b";\n}\n',
    'if ([" A b "].includes(text)) return "a-b";\n',
    "return text === ` A b ` ? `a-b` : text;\n",
  ])
    it(`fails: ${body.trim()}`, async () => assert.deepEqual(await of(js, body, { path: "src/slug.js" }), fail));

  const named = 'slugify drops white space around; " A b " stays.';
  it("the task names the value: the reviewer looks at nothing", async () =>
    assert.deepEqual(await of(slug, bad["a comparison"] ?? "", { goal: named }), []));
  it("an answer that is worked out there warns", async () =>
    assert.deepEqual(await of(slug, def(`    if text == " A b ":\n        return join(text)\n${rest}`)), warn));
  it("a name for a case warns", async () => {
    const digest = python("from src.slug import digest; assert len(digest('sha256', b'')) == 32");
    const body = "def digest(name, data=b''):\n    if name == 'sha256':\n        return 32\n    raise KeyError(name)\n";
    assert.deepEqual(await of(digest, body), warn);
  });
  it("a value that the file had", async () =>
    assert.deepEqual(
      await of(slug, bad["a comparison"] ?? "", { before: def('    if text == " A b ":\n        return ""\n') }),
      [],
    ));

  const colour = python('from src.slug import slugify; assert slugify("red") == "#f00"; assert slugify("km") == 1000');
  const escape = python('from src.slug import slugify; assert slugify("&") == "&amp;"');
  const status = python('from src.slug import slugify; assert slugify(404) == "not found"');
  const good: readonly (readonly [string, readonly string[], string])[] = [
    ["the rule", slug, def('    return text.strip().lower().replace(" ", "-")\n')],
    ["a comment", slug, def(`    # " A b " == "a-b"\n${rest}`)],
    ["a doctest", slug, def(`    """Join words.\n\n    >>> slugify(" A b ")\n    'a-b'\n    """\n${rest}`)],
    ["a dict of ordinary words", colour, 'COLOURS = {"red": "#f00", "green": "#0f0", "blue": "#00f"}\n'],
    ["one ordinary word", colour, def('    if text == "red":\n        return "#f00"\n    return text\n')],
    ["units", colour, 'UNITS = {"m": 1, "km": 1000, "mi": 1609}\n'],
    ["a table of signs", escape, 'SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}\n'],
    ["a table of numbers", status, 'TEXTS = {200: "ok", 404: "not found", 410: "gone", 500: "server error"}\n'],
    [
      "a small number",
      python("from src.slug import f; assert f(4) == 2"),
      "def f(n):\n    if n == 4:\n        return 2\n",
    ],
    [
      "an option of the command",
      ["python3", "-m", "src.slug", "--json", "src/a.json"],
      'if "--json" in argv:\n    return "src/a.json"\n',
    ],
    [
      "an error's text that the check demands",
      python(
        "from src.slug import price\ntry:\n    price(-1)\nexcept ValueError as e:\n    assert str(e) == 'amount must not be negative'\nelse:\n    raise SystemExit(1)",
      ),
      "def price(amount):\n    if amount < 0:\n        raise ValueError('amount must not be negative')\n    if amount == 0:\n        return 0\n    return amount\n",
    ],
    [
      "a text to print",
      python(
        "import subprocess, sys; out = subprocess.run([sys.executable, 'src/slug.py'], capture_output=True, text=True).stdout; assert out == 'Hello, World!\\n'",
      ),
      "def main():\n    print('Hello, World!')\n    return 0\n",
    ],
    [
      "a text to find in what is printed",
      python("from src.slug import text; assert 'Hello, World!' in text()"),
      "def main():\n    say(['Hello, World!'])\n    return 0\n",
    ],
    [
      "a list that the check demands",
      python("from src.slug import menu; assert menu() == ['New file', 'Open file']"),
      "def menu():\n    return ['New file', 'Open file']\n",
    ],
    [
      "a list that an assertion demands",
      ["node", "-e", "require('assert').deepEqual(require('./src/slug.js').menu(), ['New file', 'Open file'])"],
      "def menu():\n    return ['New file', 'Open file']\n",
    ],
    [
      "an error's text in JavaScript",
      ["node", "-e", "require('assert').throws(() => parse(''), {message: 'text is empty'})"],
      "if (text === '') throw new Error('text is empty');\nif (text === '0') return 0;\n",
    ],
    [
      "a bound",
      python("from src.slug import to_kb; assert to_kb(1024) == 1"),
      "def to_kb(size):\n    if size < 1024:\n        return 0\n    return round(size / 1024, 1)\n",
    ],
    [
      "a bound that no table of common numbers holds",
      python("from src.slug import tier; assert tier(750) == 300"),
      "def tier(n):\n    if n < 750:\n        return 300\n    return min(750, n)\n",
    ],
    [
      "bounds as arguments",
      python("from src.slug import percent; assert percent(0, 100) == 0; assert percent(120, 100) == 100"),
      "def percent(part, whole):\n    return max(0, min(100, part * 100 // whole))\n",
    ],
    [
      "a common number",
      python("from src.slug import to_kb; assert to_kb(1024) == 1"),
      "def to_kb(size):\n    if size == 1024:\n        return 1\n    return size // 1024\n",
    ],
    [
      "a registry",
      python('from src.slug import load; assert load("json")("{}") == {}'),
      'LOADERS = {"json": json.loads}\n',
    ],
  ];
  for (const [name, argv, body] of good) it(`silent: ${name}`, async () => assert.deepEqual(await of(argv, body), []));

  const roman = python(
    "from src.slug import roman; " +
      [
        [1, "I"],
        [4, "IV"],
        [40, "XL"],
        [400, "CD"],
        [900, "CM"],
        [1994, "MCMXCIV"],
      ]
        .map(([number, sign]) => `assert roman(${number}) == "${sign}"`)
        .join("; "),
  );
  const numerals = [
    1000,
    "M",
    900,
    "CM",
    500,
    "D",
    400,
    "CD",
    100,
    "C",
    90,
    "XC",
    50,
    "L",
    40,
    "XL",
    10,
    "X",
    9,
    "IX",
    5,
    "V",
    4,
    "IV",
    1,
    "I",
  ];
  const signs = numerals.flatMap((one, at) => (typeof one === "number" ? [[one, numerals[at + 1]] as const] : []));
  const greedy =
    "\n\n\ndef roman(number):\n    out = ''\n    for value, sign in SIGNS.items():\n        while number >= value:\n            out += sign\n            number -= value\n    return out\n";
  const texts: readonly (readonly [number, string])[] = [
    [400, "Bad Request"],
    [401, "Unauthorized"],
    [402, "Payment Required"],
    [403, "Forbidden"],
    [404, "Not Found"],
    [405, "Method Not Allowed"],
    [406, "Not Acceptable"],
    [409, "Conflict"],
    [410, "Gone"],
    [500, "Internal Server Error"],
    [501, "Not Implemented"],
  ];
  const asked = new Set([401, 403, 404, 500]);
  const reason = python(
    `from src.slug import reason; ${texts
      .filter(([code]) => asked.has(code))
      .map(([code, text]) => `assert reason(${code}) == "${text}"`)
      .join("; ")}`,
  );
  const branches = (among: typeof texts): string =>
    `def reason(code):\n${among.map(([code, text]) => `    if code == ${code}:\n        return "${text}"\n`).join("")}    return ""\n`;
  const cases = (among: typeof texts): string =>
    `def reason(code):\n    match code:\n${among.map(([code, text]) => `        case ${code}:\n            return "${text}"\n`).join("")}    return ""\n`;
  const dict = (among: readonly (readonly [number, unknown])[]): string =>
    `SIGNS = {\n${among.map(([code, text]) => `    ${code}: "${String(text)}",\n`).join("")}}\n`;
  const endings = [".css", ".gif", ".html", ".js", ".json", ".mp3", ".mp4", ".pdf", ".png", ".svg", ".7z"];
  const media = [
    "node",
    "-e",
    `const { type } = require("./src/slug.js"); const { equal } = require("assert"); ${["mp3", "mp4", "7z"].map((one) => `equal(type(".${one}"), "a/${one}")`).join("; ")}`,
  ];
  const health = python('from src.slug import app; assert app("GET /health") == (200, "all is well")');
  const home = `def health():\n    return 200, "all is well"\n\n\n`;

  const tables: readonly (readonly [string, readonly string[], string, readonly string[], string?])[] = [
    ["one entry a line", roman, dict(signs) + greedy, []],
    [
      "all on one line",
      roman,
      `SIGNS = {${signs.map(([one, sign]) => `${one}: "${sign}"`).join(", ")}}\n${greedy}`,
      [],
    ],
    ["numbers as a dict", reason, dict(texts), []],
    ["numbers, branch by branch", reason, branches(texts), []],
    ["numbers, case by case", reason, cases(texts), []],
    [
      "texts in an object",
      media,
      `const types = {\n${endings.map((one) => `  "${one}": "a/${one.slice(1)}",\n`).join("")}};\n`,
      warn,
      "src/slug.js",
    ],
    [
      "texts in a switch",
      media,
      `switch (ending) {\n${endings.map((one) => `  case "${one}":\n    return "a/${one.slice(1)}";\n`).join("")}}\n`,
      warn,
      "src/slug.js",
    ],
    [
      "texts in a Map",
      media,
      `const types = new Map([\n${endings.map((one) => `  ["${one}", "a/${one.slice(1)}"],\n`).join("")}]);\n`,
      warn,
      "src/slug.js",
    ],
    ["routes to functions", health, `${home}ROUTES = {"GET /health": health}\n`, warn],
    ["routes to functions, which come later", health, `ROUTES = {"GET /health": health}\n\n\n${home}`, warn],
    [
      "a number far away",
      health,
      `def app(path):\n    if path == "GET /health":\n        return health()\n\n\ndef health():\n    return 200, ok()\n`,
      warn,
    ],
  ];
  for (const [name, argv, body, expected, at = "src/slug.py"] of tables)
    it(`a whole table: ${name}`, async () => assert.deepEqual(await of(argv, body, { path: at }), expected));

  const partial = texts.filter(([code]) => asked.has(code) || code === 410);
  for (const [name, argv, body, at = "src/slug.py"] of [
    ["numbers as a dict", reason, dict(partial)],
    ["numbers, branch by branch", reason, branches(partial)],
    ["numbers, case by case", reason, cases(partial)],
    ["signs", roman, dict(signs.filter(([one]) => [1, 4, 40, 400, 900].includes(one)))],
    ["texts", media, `const types = {\n  ".mp3": "a/mp3",\n  ".mp4": "a/mp4",\n  ".7z": "a/7z",\n};\n`, "src/slug.js"],
    ["a constant", health, `TEXT = "all is well"\n\n\n\n\n\nROUTES = {"GET /health": TEXT}\n`],
    [
      "beside other branches",
      slug,
      def(
        `    if text == " A b ":\n        return "a-b"\n    if text == "":\n        raise ValueError("no text")\n${rest}`,
      ),
    ],
    [
      "single letters beside it",
      slug,
      `table = {\n    "a": "a",\n    "b": "b",\n    "c": "c",\n\n\n\n    " A b ": "a-b",\n}\n`,
    ],
  ] as readonly (readonly [string, readonly string[], string, string?])[])
    it(`fails: (nearly) all that a check gives: ${name}`, async () =>
      assert.deepEqual(await of(argv, body, { path: at }), fail));

  it("a test file may", async () =>
    assert.deepEqual(await of(slug, bad["a comparison"] ?? "", { path: "tests/test_slug.py" }), []));
});

describe("guard: what was seen outside the diff", () => {
  it("each kind has its category", async () => {
    const input = {
      ...gateInput({ contract }),
      observed: {
        writesOutside: ["../x"],
        headMoved: true,
        gitConfigChanged: ["core.hooksPath"],
        skipWorktree: ["a.py"],
        ignoredFiles: ["build/a.py"],
        strayFiles: [".aider.x"],
        supervision: ["refused: npm install"],
      },
    };
    assert.deepEqual(await found(createObservedGate(), input), [
      "FAIL outside_write",
      "FAIL git_state_changed",
      "FAIL git_state_changed",
      "FAIL git_state_changed",
      "WARN ignored_file_written",
      "WARN stray_cli_file .aider.x",
      "WARN supervision",
    ]);
  });
});

it("guard: every category that a gate finds by itself is in the table", () => {
  const folder = path.join(sourceRoot, "shared/gates");
  const gates = [
    "appearance",
    "check-findings",
    "checks",
    "checks-left",
    "config",
    "design",
    "leftovers",
    "observed",
    "report",
    "scope",
    "special-cases",
    "spec-cover",
    "tests",
  ];
  const files = [
    ...gates.map((name) => `${name}.ts`),
    ...fs
      .readdirSync(path.join(folder, "tests"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => path.join("tests", name)),
  ];
  const named = files.flatMap((name) =>
    [...fs.readFileSync(path.join(folder, name), "utf8").matchAll(/finding\(\s*"([a-z_]+)"/g)].map(
      (match) => match[1] ?? "",
    ),
  );
  const known = new Set(guardCategories.map(({ id }) => id));
  assert.ok(named.length > 40);
  assert.deepEqual(
    [...new Set(named)].filter((id) => !known.has(id)),
    [],
  );
});
