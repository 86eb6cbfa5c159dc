import assert from "node:assert/strict";
import type { Finding } from "../../shared/model/finding.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import type { RuleRunner } from "../../shared/rulebook/run.ts";
import { guardRuleTwins } from "../support/guard-rule-twins.ts";
import { changeOf, installedRules, runnerOf } from "../support/rulebook.ts";

/**
 * Twins for the rules of the TypeScript set that look at changes and trees: the smallest that must be found, and the
 * nearest that must not. A rule without a row fails the last test.
 */
interface DiffTwin {
  readonly bad: Parameters<typeof changeOf>[0];
  readonly good: Parameters<typeof changeOf>[0];
}

const test = "test/a.test.ts";
const source = "src/a.ts";
const added = (path: string, after: string, before = ""): Parameters<typeof changeOf>[0] => ({
  [path]: { before, after },
});
const changed = (path: string, before: string, after: string): Parameters<typeof changeOf>[0] => ({
  [path]: { before, after },
});

const diffTwins: Readonly<Record<string, DiffTwin | readonly DiffTwin[]>> = {
  skip_marker: [
    { bad: added(test, 'it.skip("a", f);\n'), good: added(test, 'const text = "it.skip(x)";\n') },
    { bad: added(test, 'test.todo("a");\n'), good: added(test, "rows.skip(2);\nstream.todo(3);\n") },
    { bad: added(test, 'xit("a", f);\n'), good: added(test, 'exit("a");\nfixit("a");\n') },
    { bad: added(test, "t.skip();\n"), good: added(source, "t.skip();\n") },
    { bad: added(test, 'test("a", { skip: true }, f);\n'), good: added(test, 'test("a", { skip: false }, f);\n') },
    {
      bad: added(test, 'test("a", { skip: "flaky" }, f);\n'),
      good: added(test, 'test("a", { skip: process.platform === "win32" }, f);\n'),
    },
    {
      bad: added(test, 'test("a", { todo: "later" }, f);\n'),
      good: added(test, 'test("a", () => page({ skip: 20 }));\n'),
    },
    {
      bad: changed(test, 'test(\n  "a",\n  {\n  },\n', 'test(\n  "a",\n  {\n    expectFailure: true,\n  },\n'),
      good: added(test, 'const page = { skip: 20, todo: "x" };\n'),
    },
    {
      bad: added(test, "// why\nit.skip('a', f);\n"),
      good: added(test, "// it.skip('a', f);\n/* test.todo('b') */\n"),
    },
    { bad: added(test, "a = /`/;\nit.skip(`x`, f);\n"), good: added(test, "a = `\nit.skip(x)\n`;\n") },
  ],
  focus_marker: [
    { bad: added(test, 'it.only("a", f);\n'), good: added(test, "const only = 1;\n") },
    { bad: added(test, 'fdescribe("a", f);\n'), good: added(test, "fit = 1;\nprofit(2);\n") },
    { bad: added(test, 'test("a", { only: true }, f);\n'), good: added(test, 'test("a", { only: false }, f);\n') },
  ],
  assertion_removed: [
    {
      bad: changed(test, "assert.equal(a, 1);\nassert(b);\n", "assert(b);\n"),
      good: changed(test, "assert.equal(a, 1);\nassert(b);\n", "assert(b);\nassert.equal(a, 1);\n"),
    },
    {
      bad: changed(test, "expect(a).toBe(1);\n", "a;\n"),
      good: changed(test, "expect(a).toBe(1);\n", "assert.equal(a, 1);\n"),
    },
    { bad: changed(test, "assert.ok(a);\n", "assert.ok(true);\n"), good: changed(source, "assert.ok(a);\n", "a;\n") },
    {
      bad: changed(test, "assert.equal(f(1), 1);\nassert.equal(f(2), 4);\n", "assert.equal(f(1), 1);\n"),
      good: changed(
        test,
        "assert.equal(f(1), 1);\nassert.equal(f(2), 4);\n",
        "for (const [a, b] of rows) assert.equal(f(a), b);\n",
      ),
    },
  ],
  assertion_weakened: [
    { bad: added(test, "assert.ok(a || true);\n"), good: added(test, "assert.ok(a || b);\n") },
    {
      bad: added(test, "assert.equal(f(a), f(a));\n".replace(/f\(a\)/g, "total")),
      good: added(test, 'assert.equal("abc", "abd");\n'),
    },
    { bad: added(test, "expect(total).toBe(total);\n"), good: added(test, "expect(total).toBe(totals);\n") },
    { bad: added(test, 'assert.deepEqual("abc", "abc");\n'), good: added(test, 'const x = "assert.equal(a, a)";\n') },
  ],
  "assertion_weakened.exact": [
    {
      bad: changed(test, "expect(a).toBe(1);\n", "expect(a).toBeDefined();\n"),
      good: changed(test, "expect(a).toBe(1);\n", "expect(a).toEqual(1);\n"),
    },
    {
      bad: changed(test, "assert.equal(a, 1);\n", "assert.ok(a);\n"),
      good: changed(test, "assert.equal(a, 1);\n", "assert.strictEqual(a, 1);\n"),
    },
    {
      bad: changed(test, "expect(a).toEqual([1]);\n", "expect(a).toBeTruthy();\n"),
      good: changed(test, "assert.ok(a);\n", "assert.equal(a, 1);\n"),
    },
  ],
  vacuous_test: [
    { bad: added(test, "assert.ok(true);\n"), good: added(test, "assert.ok(trueish);\n") },
    { bad: added(test, "expect(true).toBe(true);\n"), good: added(test, "expect(a).toBe(true);\n") },
  ],
  harness_tamper: [
    { bad: added(test, "process.exit(0);\n"), good: added("bin/cli.ts", "process.exit(0);\n") },
    { bad: added(test, "process.exitCode = 0;\n"), good: added(test, "assert.ok(process.exitCode === 0);\n") },
    {
      bad: added(test, 'process.on("exit", f);\n'),
      good: added(test, 'child.on("exit", f);\nconst a = "process.on(\'exit\')";\n'),
    },
    { bad: added(test, "assert.equal = () => {};\n"), good: added(test, "const equal = assert.equal;\n") },
    { bad: added(test, 'mock.method(assert, "equal", f);\n'), good: added(test, 'mock.method(clock, "now", f);\n') },
  ],
  "harness_tamper.source": [
    { bad: added(source, "process.reallyExit(0);\n"), good: added(source, "process.exit(1);\n") },
    { bad: added(source, "assert.strict.equal = f;\n"), good: added(source, "assert.equal(a, b);\n") },
    { bad: added(source, 'console.log("12 passed");\n'), good: added(source, 'console.log("12 files written");\n') },
  ],
  mocked_subject: [
    { bad: added(test, 'mock.module("./Handler.ts", {});\n'), good: added(test, 'mock.module("./clock.ts", {});\n') },
    { bad: added(test, 'vi.mock("./Schema");\n'), good: added(test, '// vi.mock("./Handler.ts")\n') },
    { bad: added(test, 'jest.mock("./Controller.js");\n'), good: added(test, 'vi.mock("../Shop/Handler.ts");\n') },
  ],
  "mocked_subject.other": {
    bad: added(test, 'vi.mock("../Invoice/Schema");\n'),
    good: added(test, 'vi.mock("./Schema");\n'),
  },
  test_env_detection: [
    {
      bad: added(source, "if (process.env.NODE_TEST_CONTEXT) f();\n"),
      good: added(source, "const mode = process.env.APP_ENV;\n"),
    },
    {
      bad: added(source, 'if (process.env.NODE_ENV === "test") f();\n'),
      good: added(source, 'if (process.env.NODE_ENV === "production") f();\n'),
    },
    {
      bad: added(source, 'process.execArgv.includes("--test");\n'),
      good: added(source, 'process.argv.includes("--verbose");\n'),
    },
    { bad: added(source, "if (import.meta.vitest) f();\n"), good: added(test, "if (import.meta.vitest) f();\n") },
    { bad: added(source, "f(process.env.VITEST);\n"), good: added(source, "// not under VITEST\n") },
  ],
  disabled_security: {
    bad: added(source, "new Agent({ rejectUnauthorized: false });\n"),
    good: added(source, "new Agent({ rejectUnauthorized: true });\n// rejectUnauthorized: false\n"),
  },
  lint_suppression: [
    { bad: added(source, "// @ts-ignore\na.b();\n"), good: changed(source, "// @ts-ignore\na.b();\n", "a.b();\n") },
    { bad: added(source, "/* eslint-disable */\n"), good: added(source, 'const rule = "eslint-disable";\n') },
    { bad: added(source, "a(); // oxlint-disable-line\n"), good: added(source, "// the ts-ignore package\n") },
  ],
  todo: { bad: added(source, "// TODO later\n"), good: added(source, 'class Todo {}\nconst TODO = "TODO";\n') },
  debug_print: [
    { bad: added(source, 'console.log("here", a);\n'), good: added(source, 'console.log("3 files written");\n') },
    { bad: added(source, "console.debug(a);\n"), good: added(source, "// console.debug(a);\nlog.debug(a);\n") },
    { bad: added(source, "console.log({ a });\n"), good: added(test, "console.log({ a });\n") },
  ],
  reads_tests: [
    { bad: added(source, 'readFileSync("./Tests.ts");\n'), good: added(source, 'readFileSync("latest/a.ts");\n') },
    {
      bad: added(source, 'await import("../test/a.test.ts");\n'),
      good: added("scripts/a.ts", 'await import("../test/a.test.ts");\n'),
    },
  ],
};

type Tree = Parameters<RuleRunner["tree"]>[0];
const nothing = { facts: [], slices: [] };
const paths = (...names: string[]): Tree => ({ ...nothing, paths: names });
const slice = { dir: "features/b/F", name: "F", roles: { schema: "Schema.ts", tests: "Tests.ts" } };

const treeTwins: Readonly<
  Record<string, { readonly bad: Tree; readonly good: Tree } | readonly { readonly bad: Tree; readonly good: Tree }[]>
> = {
  "constitution.1": [
    { bad: paths("a.ts", "package.json"), good: paths("a.ts", ".nvmrc") },
    { bad: paths("a.mts"), good: paths("web/a.mts", "web/.node-version") },
    { bad: paths("a.ts"), good: paths("a.py") },
  ],
  "constitution.2": [
    { bad: paths("a.ts", "tsconfig.json"), good: paths("a.ts", "package.json") },
    { bad: paths("a.ts"), good: paths("web/a.ts", "web/package.json") },
  ],
  "constitution.3": {
    bad: paths("package.json", "deno.json"),
    good: paths("package.json", "web/deno.json", "pyproject.toml"),
  },
  "constitution.3.lock": {
    bad: paths("package-lock.json", "yarn.lock"),
    good: paths("package-lock.json", "uv.lock", "web/yarn.lock"),
  },
  "constitution.11": {
    bad: { paths: ["features/b/F/Schema.ts"], facts: [], slices: [slice] },
    good: { paths: ["features/b/F/Schema.ts", "features/b/F/Tests.ts"], facts: [], slices: [slice] },
  },
};

/** `agree`: what three files import, and how many of them disagree. */
const imports: readonly (readonly [string, readonly string[], number])[] = [
  ["two libraries", ['import { DateTime } from "luxon";\n', 'import dayjs from "dayjs";\n'], 1],
  [
    "one library in many forms",
    ['import {\n  format,\n} from "date-fns/format";\n', 'export { parse } from "date-fns";\n'],
    0,
  ],
  ["loaded at run time", ['const moment = require("moment");\n', 'await import("luxon");\n'], 1],
  ["a name in a comment", ['import { DateTime } from "luxon";\n', '// import dayjs from "dayjs";\n'], 0],
  [
    "a name that begins alike",
    ['import { DateTime } from "luxon";\n', 'import x from "moments";\nimport y from "./moment";\n'],
    0,
  ],
];

describe("the TypeScript rules on changes and trees", () => {
  const sources = installedRules().filter(({ path }) => path.includes("/typescript/"));
  const runner = runnerOf({ sources, switches: {} });

  for (const [id, twins] of Object.entries(diffTwins)) {
    it(`${id}: found in its smallest change, not in the nearest`, () => {
      for (const { bad, good } of [twins].flat()) {
        const of = (change: typeof bad): readonly Finding[] =>
          runner.diff(changeOf(change)).filter(({ rule }) => rule === id);
        assert.equal(of(bad).length, 1, JSON.stringify(bad));
        assert.deepEqual(of(good), [], JSON.stringify(good));
      }
    });
  }

  for (const [id, twins] of Object.entries(treeTwins)) {
    it(`${id}: found in its smallest tree, not in the nearest`, () => {
      for (const { bad, good } of [twins].flat()) {
        const of = (tree: Tree): readonly Finding[] => runner.tree(tree).filter(({ rule }) => rule === id);
        assert.equal(of(bad).length, 1, JSON.stringify(bad.paths));
        assert.deepEqual(of(good), [], JSON.stringify(good.paths));
      }
    });
  }

  for (const [what, texts, disagreeing] of imports) {
    it(`constitution.4: ${what}`, () => {
      const files = texts.map((text, at) => ({ path: `src/${at}.ts`, text }));
      const facts = files.flatMap((file) => runner.facts(file).map((fact) => ({ ...fact, path: file.path })));
      const hits = runner.tree({ paths: files.map(({ path }) => path), facts, slices: [] });
      assert.equal(hits.filter(({ rule }) => rule === "constitution.4").length, disagreeing);
    });
  }

  it("every one has its twins", () => {
    const loaded = loadRules({ sources, switches: {} }).sets.flatMap(({ rules }) => rules);
    const ids = loaded
      .filter(({ rule }) => rule.kind === "diff-line" || rule.kind === "tree")
      .map(({ rule }) => rule.id)
      .filter((id) => guardRuleTwins["typescript"]?.[id] === undefined);
    const covered = [...Object.keys(diffTwins), ...Object.keys(treeTwins), "constitution.4"];
    assert.deepEqual(ids.toSorted(), covered.toSorted());
  });
});
