import assert from "node:assert/strict";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import { absPath, inRoot, type RepoPath } from "../../shared/base/paths.ts";
import { type LoadedPack, loadPacks, roleFiles } from "../../shared/features/packs.ts";
import { featureIn, openProject } from "../../shared/features/registry-space.ts";
import { isScaffold, scaffoldFiles } from "../../shared/features/scaffold.ts";
import { specFromTemplate } from "../../shared/features/spec-write.ts";
import { checkSpec } from "../../shared/features/spec-check.ts";
import type { Target } from "../../shared/model/target.ts";
import type { ChosenCommand, TestRun } from "../../shared/ports/test-runner.ts";
import { installedRules, realSyntax, runnerOf } from "../support/rulebook.ts";
import { sourceRoot } from "../support/source-root.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;
const target = { domain: "my-shop", name: "Invoice" };
const node = path.dirname(process.execPath);

async function typescript(): Promise<LoadedPack> {
  const packs = await loadPacks(createFiles(), inRoot(absPath(sourceRoot), "rules"));
  const loaded = packs.find(({ pack }) => pack.lang === "typescript");
  assert.ok(loaded);
  return loaded;
}

async function scaffold(
  root: TempDir,
  of: Target = target,
  extra: Readonly<Record<string, string>> = {},
): Promise<string> {
  const files = createFiles();
  const project = await openProject(files, root.path);
  const feature = featureIn(project.spaces[0], of);
  await files.makeDir(root.at(feature.dir));
  for (const { path: at, text } of scaffoldFiles(await typescript(), feature, { controller: true }))
    await files.write(root.at(at), text);
  for (const [name, text] of Object.entries(extra)) await files.write(root.at(feature.dir, name), text);
  return feature.dir;
}

function runnerIn(root: TempDir, search: string): ReturnType<typeof createTestRunner> {
  return createTestRunner({
    process: createProcess(),
    files: createFiles(),
    machine: { env: { PATH: search, LC_ALL: "C.UTF-8" }, platform: "posix" },
    home: root.at("home"),
  });
}

async function choose(root: TempDir, dir: string, search = `${node}:/usr/bin:/bin`): Promise<ChosenCommand> {
  const { pack } = await typescript();
  const subject = { root: root.path, tests: `${dir}/${pack.roles.tests}` as RepoPath, dir: dir as RepoPath };
  return runnerIn(root, search).choose(pack, subject, never);
}

async function test(root: TempDir, dir: string): Promise<TestRun> {
  const chosen = await choose(root, dir);
  assert.ok(chosen.kind === "command", JSON.stringify(chosen));
  const report = root.at("home", "report.xml");
  return runnerIn(root, node).run({ ...chosen.command, root: root.path, report, timeoutMs: 30_000 }, never);
}

/** What the TypeScript templates promise, held against the real Node and the real compiler. */
describe("the TypeScript scaffold", function () {
  this.timeout(600_000);

  it("says that it is not implemented, and no report calls that green", async () => {
    using root = new TempDir();
    const dir = await scaffold(root);
    const run = await test(root, dir);
    assert.ok(run.kind === "no-tests", JSON.stringify(run));
    assert.deepEqual(
      run.tests.map(({ name, outcome, message }) => [name, outcome, message]),
      [["Invoice", "skipped", "not implemented yet: orch do writes the tests of spec.md"]],
    );
  });

  it("imports as it is, throws, and is green once handler and tests are written", async () => {
    using root = new TempDir();
    const head =
      'import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { control } from "./Controller.ts";\n\n';
    const open = await scaffold(root, target, {
      "Tests.ts": `${head}test("open", () => {\n  assert.throws(() => control({}), /orch do/);\n});\n`,
    });
    const first = await test(root, open);
    assert.ok(first.kind === "ran" && first.exit === 0, JSON.stringify(first));
    const done = await scaffold(root, target, {
      "Handler.ts":
        'import type { Request, Response } from "./Schema.ts";\n\nexport function handle(request: Request): Response {\n  return { ...request, paid: true };\n}\n',
      "Tests.ts": `${head}test("done", () => {\n  assert.deepEqual(control({ id: 1 }), { id: 1, paid: true });\n});\n`,
    });
    const second = await test(root, done);
    assert.ok(second.kind === "ran" && second.counts.passed === 1 && second.exit === 0, JSON.stringify(second));
  });

  it("passes the strict compiler as it is, also with the longest names", async () => {
    using root = new TempDir();
    const dir = await scaffold(root, { domain: "d".repeat(64), name: `F${"x".repeat(63)}` });
    const options = {
      strict: true,
      noEmit: true,
      module: "nodenext",
      target: "es2024",
      allowImportingTsExtensions: true,
      erasableSyntaxOnly: true,
      verbatimModuleSyntax: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noUnusedLocals: true,
      noUnusedParameters: true,
      typeRoots: [path.join(sourceRoot, "node_modules", "@types")],
      types: ["node"],
    };
    const files = createFiles();
    await files.write(root.at("package.json"), '{ "type": "module" }\n');
    await files.write(root.at("tsconfig.json"), JSON.stringify({ compilerOptions: options, include: [`${dir}/*.ts`] }));
    const tsc = path.join(sourceRoot, "node_modules", "typescript", "bin", "tsc");
    const exit = await createProcess().run(
      {
        argv: [process.execPath, tsc, "-p", root.path],
        cwd: root.path,
        env: { PATH: node },
        timeoutMs: 50_000,
        maxOutputBytes: 100_000,
      },
      never,
    );
    const output = new TextDecoder().decode(exit.stdout) + new TextDecoder().decode(exit.stderr);
    assert.deepEqual([exit.kind, exit.kind === "exited" && exit.code, output], ["exited", 0, ""]);
  });

  it("breaks no rule but those that say it is not written yet", async () => {
    using root = new TempDir();
    const dir = await scaffold(root);
    using rules = runnerOf({ sources: installedRules(), switches: {} }, realSyntax());
    const { pack } = await typescript();
    const found: string[] = [];
    for (const { role, name } of roleFiles(pack)) {
      const text = (await createFiles().readText(root.at(dir, name))) ?? "";
      const run = await rules.file({ path: `${dir}/${name}`, text, role });
      found.push(...run.findings.map(({ rule }) => `${name} ${rule}`));
    }
    assert.deepEqual(found.toSorted(), [
      "Handler.ts slice.stub",
      "Handler.ts stub_left",
      "Handler.ts stub_left.throw",
      "Tests.ts constitution.10",
      "Tests.ts constitution.10.subject",
    ]);
  });

  it("is known as a scaffold, and its spec is well-formed", async () => {
    using root = new TempDir();
    const loaded = await typescript();
    const project = await openProject(createFiles(), root.path);
    const feature = featureIn(project.spaces[0], target);
    const handler = scaffoldFiles(loaded, feature, { controller: false }).find(({ role }) => role === "handler");
    assert.equal(isScaffold(loaded, feature, handler?.text.replaceAll("\n", "\r\n") ?? ""), true);
    const spec = specFromTemplate(loaded.templates["spec"] ?? "", target, "Totals");
    const faults = checkSpec(spec, { path: "spec.md", feature: "Invoice" }).filter(
      ({ severity }) => severity === "FAIL",
    );
    assert.deepEqual(
      faults.map(({ rule }) => rule),
      ["spec.rules"],
      "only what the person has not said yet",
    );
  });
});

describe("the TypeScript tests", function () {
  this.timeout(600_000);
  const head = 'import assert from "node:assert/strict";\nimport { test } from "node:test";\n';
  const wait = "await new Promise((resolve) => setTimeout(resolve, 200));";

  /** `node --test` on the file calls the first three of these green. Node 22 still reports the test before the fault. */
  const notGreen: readonly (readonly [string, string, string, RegExp])[] = [
    ["no test at all", `${head}export const a: number = 1;\nassert.ok(a);\n`, "broken", /left no report/],
    [
      "an exit before the tests",
      `${head}test("a", () => assert.ok(false));\nprocess.exit(0);\n`,
      "broken",
      /left no report/,
    ],
    [
      "an exit after the first of them",
      `${head}test("a", async () => { ${wait} });\ntest("b", () => process.exit(0));\ntest("c", () => assert.ok(false));\n`,
      "broken",
      /cannot be read|left no report/,
    ],
    [
      "an exit code of its own",
      `${head}test("a", () => assert.ok(false));\nprocess.on("exit", () => { process.exitCode = 0; });\n`,
      "ran",
      /falsy/,
    ],
    [
      "a fault between the tests",
      `${head}test("a", () => {});\nthrow new Error("half way");\n`,
      "broken ran",
      /half way/,
    ],
    ["a syntax fault", `${head}test("a", () => { let x: = 1 });\n`, "broken", /Unexpected token/],
    [
      "an import that is not there",
      `${head}import { a } from "./Money.ts";\ntest("a", () => a());\n`,
      "broken",
      /Cannot find module/,
    ],
    ["an enum", `${head}enum A { B }\ntest("a", () => void A.B);\n`, "broken", /enum is not supported/],
    ["everything skipped", `${head}test.skip("a", () => {});\n`, "no-tests", /true/],
  ];
  for (const [what, text, kind, words] of notGreen)
    it(`are not green with ${what}`, async () => {
      using root = new TempDir();
      const run = await test(root, await scaffold(root, target, { "Tests.ts": text }));
      assert.ok(kind.split(" ").includes(run.kind), JSON.stringify(run));
      assert.match(JSON.stringify(run), words);
      assert.ok(run.kind !== "ran" || run.counts.failed > 0 || run.exit !== 0);
    });

  it("name what is red, and where", async () => {
    using root = new TempDir();
    const text = `${head}import { describe } from "node:test";\n\ndescribe("totals", () => {\n  test("adds up", () => {\n    assert.equal(1 + 1, 3);\n  });\n});\n`;
    const run = await test(root, await scaffold(root, target, { "Tests.ts": text }));
    assert.ok(run.kind === "ran");
    const [{ name, file, line, message } = {}] = run.tests;
    assert.deepEqual([run.tests.length, file, line], [1, "features/my-shop/Invoice/Tests.ts", 7]);
    // Node 22 names no suite, and loses the line ends of a message.
    assert.match(name ?? "", /^(?:totals::)?adds up$/);
    assert.match(message ?? "", /^Expected values to be strictly equal: ?2 !== 3$/);
  });

  it("run in a folder with spaces and letters of other alphabets, and leave nothing behind", async () => {
    using root = new TempDir();
    const files = createFiles();
    const inside = "ré pö/x";
    await files.makeDir(root.at(inside));
    await files.write(root.at(inside, "Tests.ts"), `${head}test("a", () => assert.ok(true));\n`);
    await files.makeDir(root.at("home"));
    const before = await files.list(root.path);
    const run = await test(root, inside);
    assert.ok(run.kind === "ran" && run.counts.passed === 1, JSON.stringify(run));
    assert.deepEqual(await files.list(root.path), before);
  });

  it("ask for a Node that strips types, and say what to install where there is none", async () => {
    using root = new TempDir();
    const dir = await scaffold(root);
    const none = await choose(root, dir, root.path);
    assert.deepEqual(none.kind === "missing-tool" && /22\.18 or newer/.test(none.message), true);
    const files = createFiles();
    for (const [name, script] of [
      ["old", "#!/bin/sh\nexit 9\n"],
      ["flag", `#!/bin/sh\ncase "$1" in --experimental-strip-types) exit 0;; esac\nexit 1\n`],
    ] as const) {
      await files.makeDir(root.at(name));
      await files.write(root.at(name, "node"), script, { mode: 0o755 });
    }
    assert.equal((await choose(root, dir, root.at("old"))).kind, "missing-tool");
    const flagged = await choose(root, dir, root.at("flag"));
    assert.ok(flagged.kind === "command" && flagged.command.argv.includes("--experimental-strip-types"));
    const second = await choose(root, dir, `${root.at("old")}:${node}`);
    assert.ok(second.kind === "command" && second.command.argv[0] === path.join(node, "node"), JSON.stringify(second));
  });
});
