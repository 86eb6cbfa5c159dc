import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import type { CommandArgs } from "../../shared/app/context.ts";
import { type QaContext, type QaData, qa } from "../../shared/app/handlers/qa.ts";
import { openBystanders } from "../../shared/app/open-bystanders.ts";
import { isAbort } from "../../shared/base/abort.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { sourceRoot } from "../support/source-root.ts";

/** The handler over a real repository, real threads, a real Python, real pytest. */
const clean = { ".python-version": "3.11\n", "pyproject.toml": '[project]\nname = "x"\nversion = "1"\n' };
const slice = "features/billing/Invoice";
const feature = {
  ".features.json": '{"known_features": {"Invoice": "billing"}}\n',
  [`${slice}/__init__.py`]: '"""Invoice."""\n',
  [`${slice}/Schema.py`]: '"""Shapes."""\n\n\nclass Request:\n    """Inputs."""\n',
  [`${slice}/Handler.py`]: '"""Rules."""\n\n\ndef handle(a: int) -> int:\n    """One more."""\n    return a + 1\n',
  [`${slice}/Tests.py`]:
    '"""Tests."""\nfrom .Handler import handle\n\n\ndef test_one_more() -> None:\n    assert handle(1) == 2\n',
  [`${slice}/spec.md`]: "# Invoice\n",
};

describe("qa", function () {
  this.timeout(600_000);
  const never = new AbortController().signal;
  let bench: Bench;

  async function start(files: Readonly<Record<string, string>>, folder = "répo with space"): Promise<void> {
    bench = await makeBench({ files: { ...clean, ...files }, folder });
  }
  afterEach(() => bench[Symbol.asyncDispose]());

  function context(more: Partial<QaContext> = {}): QaContext {
    const machine = { ...bench.context.machine, installRoot: absPath(sourceRoot) };
    const { process, files, runDir } = bench.context;
    return {
      ...bench.context,
      machine,
      cwd: bench.context.root,
      bystanders: openBystanders({ ...bench.context, machine }),
      testRunner: createTestRunner({ process, files, machine, home: inRoot(runDir, "home") }),
      ...more,
    };
  }

  async function run(
    given: Partial<CommandArgs> = {},
    more: Partial<QaContext> = {},
  ): Promise<CommandResult & { readonly data: QaData }> {
    const result = await qa(context(more), args(given), never);
    return { ...result, data: result.data as QaData };
  }

  const rulesOf = ({ data }: { readonly data: QaData }): string[] =>
    data.findings.map(({ rule, path: at, line }) => [rule, at, line].filter((part) => part !== undefined).join(" "));

  it("a clean project passes: exit 0, its features' tests ran", async () => {
    await start(feature);
    const result = await run();
    assert.deepEqual(
      [
        result.ok,
        result.code,
        rulesOf(result),
        result.data.files,
        result.data.syntax.verified,
        result.data.skipped,
        result.data.rules.broken,
      ],
      [true, 0, [], 4, true, [], []],
      JSON.stringify(result.data.findings, null, 1),
    );
    assert.deepEqual(
      result.data.tests.map(({ target, outcome, counts }) => [target, outcome, counts?.passed]),
      [["billing/Invoice", "passed", 1]],
    );
    assert.match(result.summary, /^4 source files, 0 failures, 0 warnings, tests of 1 of 1 feature green$/);
  });

  it("every file gets an answer, whatever it holds", async () => {
    await start({ "good.py": "A = 1\n", "notes.txt": "plain\n", "with space é.py": "import os\n" });
    const at = (name: string): string => path.join(bench.context.root, name);
    fs.writeFileSync(at("latin.py"), Buffer.from("s = 'caf\xe9'\n", "latin1"));
    fs.writeFileSync(at("bytes.py"), Buffer.from([0x61, 0, 0xff]));
    fs.writeFileSync(at("crlf.py"), "a = 1 \r\n");
    fs.writeFileSync(at("bom.py"), "\uFEFFa = 1\n");
    fs.writeFileSync(at("huge.py"), "x = 1\n".repeat(1_500_000));
    fs.writeFileSync(at("picture.png"), Buffer.from([0x89, 0x50, 0, 0]));
    fs.symlinkSync("good.py", at("link.py"));
    fs.mkdirSync(at("loop"));
    fs.symlinkSync("..", at("loop/up"));
    const result = await run();
    assert.deepEqual(
      result.data.skipped.map(({ path: name, why }) => `${name}: ${why}`),
      ["bytes.py: binary", "huge.py: larger than 8 MiB", "link.py: a symbolic link"],
    );
    assert.deepEqual([result.data.files, result.code], [8, 1]);
    assert.deepEqual(rulesOf(result), [
      "syntax latin.py 1",
      "py.unused-import with space é.py 1",
      "pep8.W291 crlf.py 1",
    ]);
  });

  it("without trust the audit runs and the tests do not; that is not green, it says so and names the next step", async () => {
    await start(feature);
    await bench.distrust();
    const result = await run();
    assert.deepEqual(
      result.data.tests.map(({ outcome }) => outcome),
      ["not-run"],
    );
    assert.deepEqual(
      [result.ok, result.code, result.error?.code, result.next[0], result.data.files],
      [false, 7, "trust.needed", "orch trust", 4],
    );
    assert.match(result.summary, /1 not run/);
    assert.deepEqual(bench.asked, []);
  });

  for (const [choice, code, outcome] of [
    ["no", 7, "not-run"],
    ["trust", 0, "passed"],
  ] as const) {
    it(`asks a person before the first test would run; after "${choice}" the audit goes on`, async () => {
      await start(feature);
      await bench.distrust();
      bench.answer({ choice, by: "kim" });
      const result = await run();
      assert.deepEqual([result.code, result.data.tests[0]?.outcome, result.data.files], [code, outcome, 4]);
      assert.deepEqual(
        bench.asked.map(({ title }) => title),
        ["Trust this repository? qa runs the tests of its features"],
      );
    });
  }

  it("red tests and missing tests fail it", async () => {
    await start({
      ...feature,
      [`${slice}/Tests.py`]:
        '"""Tests."""\nfrom .Handler import handle\n\n\ndef test_one_more() -> None:\n    assert handle(1) == 3\n',
    });
    const red = await run();
    assert.deepEqual(
      [red.code, red.data.tests[0]?.outcome, red.data.findings[0]?.rule, red.data.findings[0]?.severity],
      [1, "failed", "tests_failed", "FAIL"],
    );
    assert.deepEqual(red.next, [`edit ${slice}/Tests.py`, "orch qa"]);
    fs.rmSync(path.join(bench.context.root, slice, "Tests.py"));
    const gone = await run();
    assert.deepEqual([gone.code, gone.data.tests[0]?.outcome], [1, "no-tests"]);
    assert.ok(rulesOf(gone).includes(`constitution.11 ${slice}/Tests.py`));
  });

  it("paths: relative to where one stands, ignored ones too when named, nothing outside", async () => {
    await start({ "a/one.py": "import os\n", "b/two.py": "import os\n", ".gitignore": "ignored/\n" });
    fs.mkdirSync(path.join(bench.context.root, "ignored"));
    fs.writeFileSync(path.join(bench.context.root, "ignored/three.py"), "import os\n");
    const of = async (words: readonly string[], cwd = bench.context.root): Promise<string[]> =>
      rulesOf(await run({ words }, { cwd }));
    assert.deepEqual(await of(["a"]), ["py.unused-import a/one.py 1"]);
    assert.deepEqual(await of(["one.py"], inRoot(bench.context.root, "a")), ["py.unused-import a/one.py 1"]);
    assert.deepEqual(await of(["ignored"]), ["py.unused-import ignored/three.py 1"]);
    assert.deepEqual(await of([bench.context.root]), ["py.unused-import a/one.py 1", "py.unused-import b/two.py 1"]);
    for (const [word, message] of [
      ["/usr", /outside of this repository/],
      ["..", /outside of this repository/],
      ["gone", /there is no gone/],
    ] as const) {
      const refusal = await refused(run({ words: [word] }));
      assert.deepEqual([refusal.code, refusal.exit], ["path.refused", 2]);
      assert.match(refusal.message, message);
    }
  });

  it("--changed looks at what differs from the default branch, committed or not", async () => {
    await start({ "old.py": "import os\n", "edited.py": "A = 1\n" });
    const { repo } = bench;
    await repo.git("switch", "-q", "-c", "work");
    await repo.commit("work", { "committed.py": "import re\n" });
    await repo.write("edited.py", "import os\n");
    await repo.write("fresh.py", "import io\n");
    const result = await run({ changed: "" });
    assert.deepEqual(rulesOf(result), [
      "py.unused-import committed.py 1",
      "py.unused-import edited.py 1",
      "py.unused-import fresh.py 1",
    ]);
    assert.equal(result.data.files, 3);
    assert.deepEqual(rulesOf(await run({ changed: "HEAD" })), [
      "py.unused-import edited.py 1",
      "py.unused-import fresh.py 1",
    ]);
    assert.equal((await refused(run({ changed: "nowhere" }))).code, "usage.invalid");
  });

  it("a second audit of the same bytes is answered from the cache, and only those", async () => {
    await start({ "a.py": "import os\n", "b.py": "import os\n" });
    const audited: string[] = [];
    const progress = (more: Partial<QaContext> = {}): Promise<CommandResult & { readonly data: QaData }> =>
      run({}, more);
    const first = await progress();
    const place = path.join(bench.context.machine.cacheDir, "audit");
    const [file = ""] = fs.readdirSync(place);
    const kept = JSON.parse(fs.readFileSync(path.join(place, file), "utf8")) as {
      files: Record<string, { answer: { findings: { message: string }[] } }>;
    };
    // A mark in the kept answer shows where an answer comes from.
    const finding = kept.files["a.py"]?.answer.findings[0];
    assert.ok(finding);
    finding.message = "from the cache";
    fs.writeFileSync(path.join(place, file), JSON.stringify(kept));
    const second = await progress();
    assert.deepEqual(
      second.data.findings.map(({ path: at, message }) => [at, message === "from the cache"]),
      [
        ["a.py", true],
        ["b.py", false],
      ],
    );
    fs.writeFileSync(path.join(bench.context.root, "a.py"), "import re\n");
    const third = await progress();
    assert.deepEqual(
      third.data.findings.map(({ message }) => message),
      ["re is imported and not used", "os is imported and not used"],
    );
    const config = { ...bench.context.config, rules: { "py.unused-import": "warn" as const } };
    const fourth = await progress({ config });
    assert.deepEqual(
      fourth.data.findings.map(({ severity }) => severity),
      ["WARN", "WARN"],
    );
    fs.writeFileSync(path.join(place, file), "{ damaged");
    assert.deepEqual((await progress()).data.findings, third.data.findings);
    assert.deepEqual([first.code, audited], [1, []]);
  });

  it("a trusted rule file of the project counts, a broken one is named and the rest runs", async () => {
    const rule = {
      id: "own.word",
      group: "standards",
      kind: "line",
      severity: "FAIL",
      message: "m",
      remedy: "r",
      pattern: "FORBIDDEN",
    };
    await start({
      "a.py": "FORBIDDEN = 1\n",
      ".orch/rules/python/own.json": JSON.stringify({
        set: "python",
        checks: [rule, { ...rule, id: "own.query", kind: "ast", pattern: undefined, query: "(nonsense) @x" }],
      }),
      ".orch/rules/python/broken.json": "{\n  nope\n",
    });
    const result = await run();
    assert.deepEqual(rulesOf(result), ["own.word a.py 1"]);
    assert.deepEqual(
      result.data.rules.broken.map(({ path: at, line, rule: id }) => [at, line, id]),
      [
        [".orch/rules/python/broken.json", 2, undefined],
        [".orch/rules/python/own.json", 1, "own.query"],
      ],
    );
    await bench.distrust();
    assert.deepEqual(rulesOf(await run()), []);
  });

  it("--sarif and --junit hold what the document holds", async () => {
    await start({ ...feature, "with space.py": "import os\n" });
    const result = await run({ sarif: "out/qa.sarif", junit: "out/qa.xml" });
    const sarif = JSON.parse(fs.readFileSync(path.join(bench.context.root, "out/qa.sarif"), "utf8")) as {
      version: string;
      runs: {
        results: {
          ruleId: string;
          level: string;
          locations: { physicalLocation: { artifactLocation: { uri: string }; region: { startLine: number } } }[];
        }[];
      }[];
    };
    const [hit] = sarif.runs[0]?.results ?? [];
    assert.deepEqual(
      [
        sarif.version,
        hit?.ruleId,
        hit?.level,
        hit?.locations[0]?.physicalLocation.artifactLocation.uri,
        hit?.locations[0]?.physicalLocation.region.startLine,
      ],
      ["2.1.0", "py.unused-import", "error", "with%20space.py", 1],
    );
    const xml = fs.readFileSync(path.join(bench.context.root, "out/qa.xml"), "utf8");
    assert.match(xml, /<testsuite name="rules" tests="2" failures="1">/);
    assert.match(xml, /<testcase classname="billing\/Invoice" name="test_one_more"/);
    assert.equal(result.code, 1);
  });

  it("no interpreter: the syntax is said to be unverified, and that is not kept", async () => {
    await start({ "a.py": "return 1\n" });
    const { machine } = context();
    const blind = await run({}, { machine: { ...machine, env: { ...machine.env, PATH: "/nowhere" } } });
    assert.deepEqual([blind.code, rulesOf(blind), blind.data.syntax.verified], [0, ["syntax_unverified"], false]);
    assert.deepEqual(rulesOf(await run()), ["syntax a.py 1"]);
  });

  it("changes nothing in the repository, and leaves no byte code", async () => {
    await start(feature);
    const before = await bench.repo.git("status", "--porcelain", "--ignored");
    await run();
    assert.equal(await bench.repo.git("status", "--porcelain", "--ignored"), before);
  });

  it("an unborn branch and an empty repository are audited too", async () => {
    bench = await makeBench({ firstCommit: false });
    assert.deepEqual([(await run()).data.files, (await run({ changed: "" })).data.files], [0, 0]);
    fs.writeFileSync(path.join(bench.context.root, "a.py"), "import os\n");
    assert.ok(rulesOf(await run({ changed: "" })).includes("py.unused-import a.py 1"));
  });

  it("an abort ends it", async () => {
    await start({ "a.py": "A = 1\n" });
    const controller = new AbortController();
    controller.abort();
    await assert.rejects(qa(context(), args(), controller.signal), isAbort);
  });
});
