import assert from "node:assert/strict";
import type { Finding } from "../../shared/model/finding.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import type { RuleRunner } from "../../shared/rulebook/run.ts";
import { guardRuleTwins } from "../support/guard-rule-twins.ts";
import { installedRules, realSyntax, runnerOf } from "../support/rulebook.ts";

/**
 * Twins for the rules of the TypeScript set that look at a file: the smallest text that must be found, and the nearest
 * that must not. A rule without a row fails the last test; rules on changes and trees are in
 * typescript-changes.contract.test.ts.
 */
interface FileTwin {
  readonly bad: string;
  readonly good: string;
  readonly path?: string;
  readonly goodPath?: string;
  readonly role?: string;
  readonly goodRole?: string;
  /** Lines of the findings; 1 when absent, 0 for one without a line. */
  readonly line?: number | readonly number[];
}

const handler = { path: "features/Billing/Invoice/Handler.ts", role: "handler" } as const;
const tests = { path: "features/Billing/Invoice/Tests.ts", role: "tests" } as const;

const fileTwins: Readonly<Record<string, FileTwin | readonly FileTwin[]>> = {
  "ts.eqeqeq": [
    { bad: "if (a == 1) f();\n", good: "if (a === 1) f();\n" },
    { bad: 'x = typeof a != "string";\n', good: 'x = "a == b";\n' },
    { bad: "if (a == b) f();\n", good: "if (a == null || undefined != b) f();\n" },
  ],
  "ts.var": [
    { bad: "var a = 1;\n", good: "let a = 1;\n" },
    { bad: "for (var i = 0; ; ) f();\n", good: "declare global {\n  var registry: Map<string, string>;\n}\n" },
    { bad: "var a;\n", good: "declare var process: unknown;\n", goodPath: "src/globals.d.ts" },
  ],
  "ts.any": [
    { bad: "const a: any = f();\n", good: "const any = f();\n" },
    { bad: "f(a as any);\n", good: "f(a as unknown);\n" },
    {
      bad: "function f(a: any[]): void {}\n",
      good: "type F<T extends (...args: any[]) => unknown> = ReturnType<T>;\n",
    },
    { bad: "let a: any;\n", good: "type A = Wrapper<any, never>;\n" },
  ],
  "ts.any.argument": [
    { bad: "const a: Record<string, any> = {};\n", good: "const a: Record<string, unknown> = {};\n" },
    { bad: "let a: Array<any>;\n", good: "function f<T extends Wrapper<any>>(a: T): T {\n  return a;\n}\n" },
  ],
  "ts.non-null": [
    { bad: "f(a!.b);\n", good: "f(!a.b, a !== b);\n" },
    { bad: "x = a[0]!;\n", good: "class A {\n  b!: string;\n}\n" },
  ],
  "ts.empty-catch": [
    {
      bad: "try {\n  f();\n} catch {}\n",
      good: "try {\n  f();\n} catch {\n  // the file may be gone already\n}\n",
      line: 3,
    },
    {
      bad: "try {\n  f();\n} catch (error) {\n}\n",
      good: "try {\n  f();\n} catch (error) {\n  log(error);\n}\n",
      line: 3,
    },
    { bad: "try {} catch {}\n", good: "const catched = {};\ntry {\n  f();\n} finally {}\n" },
  ],
  swallowed_exception: { bad: "f().catch(() => {});\n", good: "f().catch(() => log());\ng.catch({});\n" },
  "ts.eval": [
    { bad: "eval(a);\n", good: "model.eval(a);\nevaluate(a);\n" },
    { bad: "new Function(a);\n", good: "const f: Function = g;\nnew Functions(a);\n" },
    { bad: 'setTimeout("f()", 1);\n', good: "setTimeout(() => f(), 1);\nsetTimeout(f, 1);\n" },
    { bad: "eval(a);\n", good: "eval(a);\n", goodPath: "test/eval.test.ts" },
  ],
  "ts.debugger": { bad: "debugger;\n", good: 'const debuggers = "debugger;";\n' },
  "ts.throw-literal": [
    { bad: 'throw "no lines";\n', good: 'throw new Error("no lines");\n' },
    { bad: "throw { code: 1 };\n", good: "throw error;\nthrow failure({ code: 1 });\n" },
  ],
  "ts.nan": { bad: "if (a === NaN) f();\n", good: "if (Number.isNaN(a) || a === Nan) f();\n" },
  "ts.shell": [
    { bad: "execSync(`ls ${a}`);\n", good: "execSync(`ls`);\nexecFileSync(`ls`, [a]);\n" },
    { bad: "cp.execSync(`ls ${a}`);\n", good: "regex.exec(`ls ${a}`);\n" },
    { bad: "spawn(a, { shell: true });\n", good: "spawn(a, { shell: false });\n" },
  ],
  "ts.console": { ...handler, bad: "console.log(a);\n", good: "consoles.log(a);\nlog.console(a);\n" },
  "ts.unused-import": [
    { bad: 'import { a } from "./a.ts";\n', good: 'import { a } from "./a.ts";\na();\n' },
    { bad: 'import a from "a";\nx.a = 1;\n', good: 'import a from "a";\nx.b = a;\n' },
    { bad: 'import * as a from "a";\n', good: 'import * as a from "a";\na.b();\n' },
    { bad: 'import { a as b } from "a";\na();\n', good: 'import { a as b } from "a";\nb();\n' },
    { bad: 'import a = require("a");\n', good: 'import a = require("a");\na();\n' },
    { bad: 'import type { T } from "a";\nlet T1: number;\n', good: 'import type { T } from "a";\nlet x: T[];\n' },
    {
      bad: 'import { type T } from "a";\nf({ T: 1 });\n',
      good: 'import { type T } from "a";\nlet x: Map<string, T>;\n',
    },
    { bad: 'import type * as n from "a";\n', good: 'import type * as n from "a";\nlet x: n.T;\n' },
    { bad: 'import { a } from "a";\nexport { a } from "b";\n', good: 'import { a } from "a";\nexport { a };\n' },
    { bad: 'import { a } from "a";\nexport const b = 1;\n', good: 'import { a } from "a";\nexport default a;\n' },
    { bad: 'import { a } from "a";\nconst x = "a";\n', good: 'import { a } from "a";\nconst x = `${a}`;\n' },
    { bad: 'import { a } from "a";\nconst { b: { a: c } } = d;\n', good: 'import { a } from "a";\nf({ a });\n' },
    { bad: 'import { a } from "a"; // why\n', good: 'import { a } from "a"; // eslint-disable-line no-unused-vars\n' },
    {
      bad: 'import type { T } from "a";\n/** Makes a T. */\n',
      good: 'import type { T } from "a";\n/** Makes a {@link T}. */\n',
    },
    { bad: 'import { a } from "a";\n', good: 'import "a";\nexport * from "b";\nexport { c } from "d";\n' },
    { bad: 'import { D } from "a";\nclass A {}\n', good: 'import { D } from "a";\n@D\nclass A {}\n' },
    { bad: 'import { a } from "a";\n', good: 'import { a } from "a";\n', goodPath: "types/a.d.ts" },
    { bad: 'import { a } from "a";\ntype b = "a";\n', good: 'import { a } from "a";\ntype b = typeof a;\n' },
  ],
  "ts.type-import": [
    {
      ...handler,
      bad: 'import { T } from "./Schema.ts";\nlet a: T;\n',
      good: 'import type { T } from "./Schema.ts";\nlet a: T;\n',
    },
    {
      ...handler,
      bad: 'import { T } from "./Schema.ts";\nlet a: T;\n',
      good: 'import { type T } from "./Schema.ts";\nlet a: T;\n',
    },
    {
      ...handler,
      bad: 'import { E } from "./Schema.ts";\nlet e: E;\n',
      good: 'import { E } from "./Schema.ts";\nthrow new E();\n',
    },
    {
      ...tests,
      bad: 'import { T as U } from "./Schema.ts";\nlet a: U;\n',
      good: 'import { E as F } from "./Schema.ts";\nassert.throws(f, F);\n',
    },
    {
      ...handler,
      bad: 'import { B } from "./Schema.ts";\nclass A implements B {}\n',
      good: 'import { B } from "./Schema.ts";\nclass A extends B {}\n',
    },
    {
      ...handler,
      bad: 'import { T } from "./Schema.ts";\nlet a: T;\n',
      good: 'import { T } from "./Schema.ts";\nlet a: T;\n',
      goodPath: "src/a.ts",
      goodRole: "",
    },
    {
      ...handler,
      bad: 'import { T } from "./Schema.ts";\nlet a: T;\n',
      good: 'import { T } from "./Schema.ts";\n',
    },
  ],
  "ts.import-extension": [
    { ...handler, bad: 'import { a } from "./Schema";\n', good: 'import { a } from "./Schema.ts";\n' },
    { ...handler, bad: 'export { a } from "../Money/Schema";\n', good: 'export { a } from "../Money/Schema.ts";\n' },
    { ...tests, bad: 'import { a } from "./Handler.js";\n', good: 'import { a } from "../../lib/money.js";\n' },
    {
      ...handler,
      bad: 'import { a } from "..";\n'.replace("..", "../money"),
      good: 'import { a } from "money";\nimport b from "#lib/money";\n',
    },
  ],
  "ts.erasable": [
    { ...handler, bad: "enum A {\n  B,\n}\n", good: "declare enum A {\n  B,\n}\n" },
    {
      ...handler,
      bad: "namespace N {\n  export const a = 1;\n}\n",
      good: "declare namespace N {\n  const a: number;\n}\n",
    },
    {
      ...handler,
      bad: "class A {\n  constructor(private a: number) {}\n}\n",
      good: "class A {\n  private a = 1;\n  constructor(b: number) {}\n}\n",
      line: 2,
    },
    { ...handler, bad: 'import a = require("a");\n', good: 'import a from "a";\n' },
    { ...handler, bad: "export enum A {}\n", good: 'export const A = { b: "b" } as const;\n' },
  ],
  "slice.schema-types": [
    { path: "f/d/F/Schema.ts", role: "schema", bad: "export const a = 1;\n", good: "export interface A {}\n", line: 0 },
    { path: "f/d/F/Schema.ts", role: "schema", bad: "", good: "export type A = number;\n", line: 0 },
    { path: "f/d/F/Schema.ts", role: "schema", bad: "f();\n", good: "export class A extends Error {}\n", line: 0 },
  ],
  "slice.handler-callable": {
    ...handler,
    bad: "export const a = 1;\n",
    good: "export const a = (): number => 1;\n",
    line: 0,
  },
  "slice.controller-callable": {
    path: "f/d/F/Controller.ts",
    role: "controller",
    bad: "export {};\n",
    good: "export class A {\n  run(): void {}\n}\n",
    line: 0,
  },
  "slice.stub": [
    {
      ...handler,
      bad: 'export function f(): void {\n  throw new Error("not implemented yet");\n}\n',
      good: 'export function f(): void {\n  throw new InvoiceError("no lines");\n}\n',
    },
    {
      ...handler,
      bad: "const f = (): void => {\n  throw new NotImplementedError();\n};\n",
      good: 'const f = (): void => {\n  check();\n  throw new Error("not implemented");\n};\n',
    },
  ],
  "slice.test-runner": {
    ...tests,
    bad: 'import { test } from "vitest";\n',
    good: 'import { test } from "node:test";\n',
    line: 0,
  },
  "constitution.5": [
    {
      ...handler,
      bad: "const log = winston.createLogger({});\n",
      good: 'import { log } from "../../log.ts";\nlog.info("x");\n',
    },
    { ...handler, bad: "const log = pino();\n", good: "const log = shared.child({ slice: 1 });\n" },
    { ...handler, bad: "const log = new Logger();\n", good: "const order = new LoggerOrder();\n" },
  ],
  "constitution.6": {
    bad: "// increment i\ni += 1;\n",
    good: 'const url = "https://increment.example";\n// because the header counts\n',
  },
  "constitution.8": { bad: "x = '\u{1F600}';\n", good: "x = 'é → ✓ ©';\n" },
  "constitution.9": [
    { ...handler, bad: "export function f(a: number) {}\n", good: "export function f(a: number): void {}\n" },
    { ...handler, bad: "export const f = (a: number) => a;\n", good: "const f = (a: number) => a;\n" },
    { ...handler, bad: "export default function () {}\n", good: "export const f: Handle = (a) => a;\n" },
    {
      ...handler,
      bad: "export async function* f() {}\n",
      good: "export function f(a: unknown): asserts a is string {}\n",
    },
  ],
  "constitution.9.parameters": [
    { ...handler, bad: "export function f(a): void {}\n", good: "export function f(a = 1, b?: string): void {}\n" },
    { ...handler, bad: "export const f = (a): void => {};\n", good: "export const f: Handle = (a) => {};\n" },
    {
      ...handler,
      bad: "export function f(a?): void {}\n",
      good: "export function f(a: number): number[] {\n  return [a].map((b) => b);\n}\n",
    },
  ],
  "constitution.10": [
    { ...tests, bad: "function helper(): void {}\n", good: 'test("a", () => {});\n', line: 0 },
    {
      ...tests,
      bad: 'describe("a", () => {});\n',
      good: 'describe("a", () => {\n  it("b", () => {});\n});\n',
      line: 0,
    },
  ],
  "constitution.10.subject": [
    { ...tests, bad: 'import { a } from "node:fs";\n', good: 'import { handle } from "./Handler.ts";\n', line: 0 },
    {
      ...tests,
      bad: '// import { handle } from "./Handler.ts";\n',
      good: 'const { handle } = await import("./Handler.ts");\n',
      line: 0,
    },
    {
      ...tests,
      bad: 'import { a } from "../Order/Money.ts";\n',
      good: 'import { a } from "#features/Billing/Invoice/Handler.ts";\n',
      line: 0,
    },
  ],
  "harness_tamper.runner": [
    { ...handler, bad: 'import { mock } from "node:test";\n', good: 'import { mock } from "./test.ts";\n' },
    { ...handler, bad: 'const t = await import("vitest");\n', good: 'const t = await import("node:fs");\n' },
    { ...handler, bad: "check.equal = () => undefined;\n", good: "check.equals = () => undefined;\n" },
    { ...handler, bad: "check.deepEqual = noop;\n", good: "result.ok = true;\nresult.match = () => 1;\n" },
    { ...handler, bad: "check.strictEqual = function () {};\n", good: "comparison.equal = false;\n" },
    { ...handler, bad: 'const at = "--test-reporter-destination=";\n', good: 'const at = "--test";\n' },
    {
      ...handler,
      bad: 'import { it } from "node:test";\n',
      good: 'import { it } from "node:test";\n',
      goodPath: "f/d/F/Tests.ts",
      goodRole: "tests",
    },
  ],
  "harness_tamper.module": [
    {
      ...handler,
      role: "module",
      bad: 'import { mock } from "node:test";\n',
      good: 'import assert from "node:assert";\n',
    },
  ],
  "harness_tamper.slice": [
    { ...handler, bad: 'import { exit } from "node:process";\n', good: 'import { env } from "node:process";\n' },
    { ...handler, bad: 'process["exit"](0);\n', good: 'process["on"]("exit", f);\n' },
    { ...handler, bad: "globalThis.process.exit(0);\n", good: "job.process.end(0);\n" },
    { ...handler, bad: "process.exit(0);\n", good: "return exit(0);\n" },
    { ...tests, bad: "process.abort();\n", good: "assert.equal(process.exitCode, 1);\n" },
    { ...handler, bad: "process.exit(0);\n", good: "process.exit(0);\n", goodPath: "bin/cli.ts", goodRole: "" },
  ],
  hidden_payload: [
    { bad: 'eval(atob("Zg=="));\n', good: 'atob("Zg==");\n' },
    { bad: 'new Function(Buffer.from(a, "base64").toString());\n', good: 'Buffer.from(a, "base64").toString();\n' },
    { bad: "vm.runInNewContext(atob(a));\n", good: "vm.runInNewContext(source);\n" },
  ],
  stub_left: {
    bad: 'function f(): void {\n  throw new Error("Not implemented");\n}\n',
    good: 'function f(): void {\n  throw new Error("the currency is not known");\n}\n',
  },
};

describe("the TypeScript rules", function () {
  this.timeout(600_000);
  const sources = installedRules().filter(({ path }) => path.includes("/typescript/"));
  const everything = { "constitution.6": "warn" } as const;
  let runner: RuleRunner;
  before(() => {
    runner = runnerOf({ sources, switches: everything }, realSyntax());
  });
  after(() => runner[Symbol.dispose]());

  const found = async (id: string, text: string, path: string, role: string): Promise<readonly Finding[]> => {
    const run = await runner.file({ path, text, ...(role === "" ? {} : { role }) });
    return run.findings.filter(({ rule }) => rule === id);
  };

  for (const [id, twins] of Object.entries(fileTwins)) {
    it(`${id}: found in its smallest case, not in the nearest`, async () => {
      for (const twin of [twins].flat()) {
        const { bad, good, path = "src/mod.ts", goodPath = path, role = "", goodRole = role, line = 1 } = twin;
        const hits = await found(id, bad, path, role);
        assert.deepEqual(
          hits.map((hit) => hit.line ?? 0),
          [line].flat(),
          JSON.stringify(bad),
        );
        assert.deepEqual(await found(id, good, goodPath, goodRole), [], JSON.stringify(good));
      }
    });
  }

  it("none is broken, and every one that looks at a file has its twins", () => {
    const loaded = loadRules({ sources, switches: everything }).sets.flatMap(({ rules }) => rules);
    const ids = loaded
      .filter(({ rule }) => rule.kind !== "diff-line" && rule.kind !== "tree")
      .map(({ rule }) => rule.id)
      .filter((id) => guardRuleTwins["typescript"]?.[id] === undefined);
    assert.deepEqual(runner.broken(), []);
    assert.deepEqual(ids.toSorted(), Object.keys(fileTwins).toSorted());
  });

  it("what both languages have is in the same group, and the articles are the same", () => {
    const of = (lang: string) =>
      new Map(
        loadRules({
          sources: installedRules().filter(({ path }) => path.includes(`/${lang}/`)),
          switches: everything,
        }).sets.flatMap(({ rules }) => rules.map(({ rule }) => [rule.id, rule] as const)),
      );
    const [python, typescript] = [of("python"), of("typescript")];
    const other = [...typescript.values()].filter(({ id, group, article }) => {
      const twin = python.get(id);
      return twin !== undefined && (twin.group !== group || twin.article !== article);
    });
    assert.deepEqual(
      other.map(({ id }) => id),
      [],
    );
    const articles = (rules: ReadonlyMap<string, { readonly article?: number | undefined }>): readonly number[] =>
      [...new Set([...rules.values()].flatMap(({ article }) => article ?? []))].toSorted((a, b) => a - b);
    assert.deepEqual(articles(typescript), articles(python));
  });

  it("what is worse in the source than in its tests is a warning there", async () => {
    const cases = {
      "ts.any": "let a: any;\n",
      "ts.empty-catch": "try {\n  f();\n} catch {}\n",
      "ts.unused-import": 'import a from "a";\n',
      "constitution.8": "x = '\u{1F600}';\n",
    };
    for (const [id, text] of Object.entries(cases)) {
      const severities = await Promise.all(
        ["src/mod.ts", "src/mod.test.ts"].map(async (path) =>
          (await found(id, text, path, "")).map((hit) => hit.severity),
        ),
      );
      assert.deepEqual(severities, [["FAIL"], ["WARN"]], id);
    }
  });
});
