import assert from "node:assert/strict";
import { isAbort } from "../../../shared/base/abort.ts";
import { type AbsPath, absPath, type RepoPath, repoPath } from "../../../shared/base/paths.ts";
import { Contract } from "../../../shared/model/contract.ts";
import type { WorkerReport } from "../../../shared/model/attempt.ts";
import type { ChangedFile } from "../../../shared/model/change.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";
import type { Bystanders, Touched, TouchedFile } from "../../../shared/ports/bystanders.ts";
import type { Exit, Output, ProcessSpec } from "../../../shared/ports/process.ts";
import type { TestCase, TestOrder, TestRun } from "../../../shared/ports/test-runner.ts";
import { type CheckVisibility, createChecksGate } from "../../../shared/gates/checks.ts";
import { scopeStops } from "../../../shared/gates/scope.ts";
import { featureContract, found, gateInput, short, sliceDir, sliceFacts } from "../../support/gate-input.ts";

const tests = [
  {
    name: "tests",
    argv: ["python3", "-m", "pytest", "{report}"],
    report: "junit" as const,
    timeout_s: 20,
    env: { A: "1" },
  },
];
const contract = featureContract({ checks: tests });
const workerReport: WorkerReport = {
  kind: "done",
  summary: "",
  claims: [],
  concerns: [],
  refused: [],
  problems: [],
  usage: unknownUsage,
  durationMs: 1,
};
const failing: TestCase = {
  name: "test_total",
  file: "features/Billing/Invoice/Tests.py",
  line: 7,
  outcome: "failed",
  message: "assert 3 == 4",
  output: "/repo/features/Billing/Invoice/Tests.py:7: AssertionError",
  durationMs: 1,
};
const passing: TestCase = { name: "test_a", outcome: "passed", message: "", output: "", durationMs: 1 };
const counts = (cases: readonly TestCase[]): Extract<TestRun, { kind: "ran" }>["counts"] => ({
  passed: cases.filter(({ outcome }) => outcome === "passed").length,
  failed: cases.filter(({ outcome }) => outcome === "failed").length,
  errors: cases.filter(({ outcome }) => outcome === "error").length,
  skipped: cases.filter(({ outcome }) => outcome === "skipped").length,
});
const did = (cases: readonly TestCase[], exit = 0): TestRun => ({
  kind: "ran",
  tests: cases,
  counts: counts(cases),
  exit,
  output: "the output",
  durationMs: 5,
});

function gateWith(
  run: TestRun | (() => Promise<TestRun>),
  exit?: Exit & Output,
  bystanders?: Bystanders,
  visibility?: CheckVisibility,
): { readonly gate: ReturnType<typeof createChecksGate>; readonly orders: TestOrder[]; readonly specs: ProcessSpec[] } {
  const orders: TestOrder[] = [];
  const specs: ProcessSpec[] = [];
  let marker = 0;
  const gate = createChecksGate(
    {
      tests: {
        run: (order) => {
          orders.push(order);
          order.onStart?.(41, "start");
          return typeof run === "function" ? run() : Promise.resolve(run);
        },
      },
      process: {
        run: (spec) => {
          specs.push(spec);
          return Promise.resolve(
            exit ?? {
              kind: "not-started",
              reason: "ENOENT",
              stdout: new Uint8Array(),
              stderr: new Uint8Array(),
              durationMs: 0,
              leftovers: 0,
            },
          );
        },
      },
      env: { PATH: "/usr/bin" },
      bystanders,
      ids: { next: () => `m-${(marker += 1)}` },
      groupOf: (rule) => (rule === "secret" ? "integrity" : rule === "py.E501" ? "standards" : undefined),
    },
    visibility,
  );
  return { gate, orders, specs };
}

describe("gate: checks, tests with a report", () => {
  const rows: readonly [string, TestRun, readonly string[]][] = [
    ["green", did([passing]), []],
    ["one red", did([passing, failing], 1), ["FAIL check_failed features/Billing/Invoice/Tests.py:7"]],
    [
      "an import error is red",
      did([{ ...failing, outcome: "error" }], 2),
      ["FAIL check_failed features/Billing/Invoice/Tests.py:7"],
    ],
    [
      "red by its counts alone",
      { ...did([passing], 1), counts: { passed: 1, failed: 2, errors: 0, skipped: 0 } } as TestRun,
      ["FAIL check_failed"],
    ],
    ["no test failed, yet it did not end well", did([passing], 3), ["FAIL check_failed"]],
    ["nothing passed", did([]), ["FAIL check_ran_nothing"]],
    [
      "no tests ran",
      { kind: "no-tests", tests: [], exit: 5, output: "collected 0 items", durationMs: 1 },
      ["FAIL check_ran_nothing"],
    ],
    [
      "all skipped",
      { kind: "no-tests", tests: [{ ...passing, outcome: "skipped" }], exit: 0, output: "", durationMs: 1 },
      ["FAIL check_ran_nothing"],
    ],
    ["too slow", { kind: "timed-out", timeoutMs: 20_000, output: "..." }, ["FAIL check_failed"]],
    [
      "killed, or no report",
      { kind: "broken", message: "it left no report", output: "os._exit" },
      ["FAIL check_failed"],
    ],
    [
      "the tool is missing",
      { kind: "missing-tool", message: "python3 could not be started: ENOENT" },
      ["broken: python3 could not be started: ENOENT"],
    ],
  ];
  for (const [name, run, wanted] of rows)
    it(name, async () => assert.deepEqual(await found(gateWith(run).gate, { contract }), wanted));

  it("a test that was skipped is one", async () => {
    const tests = [{ ...passing, outcome: "skipped" as const }];
    const run: TestRun = { kind: "no-tests", tests, exit: 0, output: "", durationMs: 1 };
    const message = async (more: TestRun): Promise<string | undefined> => {
      const result = await gateWith(more).gate.run(gateInput({ contract }), new AbortController().signal);
      return result.kind === "ran" ? result.findings[0]?.message : result.kind;
    };
    assert.equal(await message(run), "tests ran nothing: its one test was skipped");
    assert.equal(await message({ ...run, tests: [...tests, ...tests] }), "tests ran nothing: all 2 tests were skipped");
  });

  it("a test that skips itself fails a worker's attempt, and is nobody's fault otherwise", async () => {
    const { gate } = gateWith(did([passing, { ...passing, name: "test_b", outcome: "skipped", message: "not today" }]));
    const findings = async (input: ReturnType<typeof gateInput>): Promise<readonly string[]> => {
      const done = await gate.run(input, new AbortController().signal);
      return done.kind === "ran" ? done.findings.map(({ rule, severity }) => `${severity} ${rule}`) : [done.kind];
    };
    const input = gateInput({ contract });
    const { report: _worker, ...merge } = input;
    assert.deepEqual(
      [await findings({ ...input, report: workerReport }), await findings(merge)],
      [["FAIL check_skipped"], []],
    );
  });

  it("an error that several tests run into is shown whole once; assertions are alike by chance", async () => {
    const unnamed = { ...failing, message: "NameError: name 'BASE' is not defined", output: "long" };
    const asserted = { ...failing, message: "AssertionError: assert 3 == 4" };
    const cases = [unnamed, { ...unnamed, name: "test_b" }, asserted, { ...asserted, name: "test_c" }];
    const result = await gateWith(did(cases, 1)).gate.run(gateInput({ contract }), new AbortController().signal);
    assert.ok(result.kind === "ran");
    assert.deepEqual(
      result.findings.map(({ message, evidence }) => [message.split(" ")[0], evidence]),
      [
        ["test_total", "long"],
        ["test_b", "The same as test_total."],
        ["test_total", "features/Billing/Invoice/Tests.py:7: AssertionError"],
        ["test_c", "features/Billing/Invoice/Tests.py:7: AssertionError"],
      ],
    );
  });

  it("a file of node --test of which no test was heard has tests, or is a script", async () => {
    const argv = ["node", "--test", "--test-reporter=junit", "--test-reporter-destination={report}"];
    const of = featureContract({ checks: [{ name: "tests", argv, report: "junit" }] });
    const run: TestRun = {
      ...(did([passing]) as Extract<TestRun, { kind: "ran" }>),
      output: "\u2714 a.test.js (7.1ms)\n",
    };
    const judged = (text: string): Promise<readonly string[]> =>
      found(gateWith(run).gate, { contract: of, after: { "a.test.js": text } });
    assert.deepEqual(await judged('import test from "node:test";\ntest("a", f);\n'), [
      "FAIL check_cut_short a.test.js",
    ]);
    assert.deepEqual(await judged('import assert from "node:assert";\nassert.ok(f());\n'), []);
  });

  describe("files of node --test of which no test was heard", () => {
    const seen = async (
      argv: readonly string[],
      output: string,
      after: Readonly<Record<string, string>>,
      before: Readonly<Record<string, string>> = {},
      { cwd = ".", visibility = "own" }: { readonly cwd?: string; readonly visibility?: CheckVisibility } = {},
    ): Promise<readonly string[]> => {
      const run: TestRun = { ...(did([passing]) as Extract<TestRun, { kind: "ran" }>), output };
      const checks = [{ name: "tests", argv: [...argv], report: "junit" as const, cwd }];
      const of = featureContract(visibility === "own" ? { checks } : { hidden_checks: checks });
      return await found(gateWith(run, undefined, undefined, visibility).gate, {
        contract: of,
        before,
        after: { ...before, ...after },
      });
    };
    const head = 'import test from "node:test";\n';
    const of = (name: string): string =>
      `${head}import { run } from "./${name}.mjs";\ntest("runs ${name}", () => run());\n`;
    const base = {
      "src/a.mjs": 'export { run } from "./deep/run.mjs";\n',
      "src/b.mjs": "export const run = () => 1;\n",
      "src/deep/run.mjs": "export const run = () => 1;\n",
      "src/a.test.mjs": of("a"),
      "src/b.test.mjs": of("b"),
    };
    const added = { "src/new/add.mjs": "export const add = (a, b) => a + b;\n" };
    const ends = { "src/deep/run.mjs": "process.exit(0);\n" };
    const node = (...words: readonly string[]): readonly string[] => ["node", "--test", ...words];
    const both = ["src/a.test.mjs", "src/b.test.mjs"];
    const a = "\u2714 src/a.test.mjs (7.1ms)\n";
    const windows = `${head}import { describe } from "node:test";\nif (process.platform === "win32") describe("w", () => {\n  test("a", () => {});\n});\n`;

    it("the change touches what the file loads, or the file", async () => {
      const fail = ["FAIL check_cut_short src/a.test.mjs"];
      assert.deepEqual(
        [
          await seen(node(...both), a, ends, base),
          await seen(node("src/*.test.mjs"), a, ends, base),
          await seen(node("./src/a.test.mjs"), a, ends, base),
          await seen(node("/repo/src/a.test.mjs"), a.replace("src", "/repo/src"), ends, base),
          await seen(node("src"), a, ends, base),
          await seen(node(), a, ends, base),
          await seen(node("--test-reporter", "spec"), a, ends, base),
          await seen(node(), a.replace("src/", ""), ends, base, { cwd: "src" }),
          await seen(node(), a, { "src/a.test.mjs": of("b") }, base),
          await seen(["node", "--import", "./src/new/add.mjs", "--test"], a, added, base),
        ],
        Array.from({ length: 10 }, () => fail),
      );
      assert.deepEqual(await seen(node(), a, ends, base, { visibility: "hidden" }), [
        "FAIL hidden_check_failed src/a.test.mjs",
      ]);
    });
    it("the change has no part in it", async () => {
      assert.deepEqual(await seen(node(...both), a, added, base), ["WARN check_cut_short src/a.test.mjs"]);
      assert.deepEqual(await seen(node(...both), a, added, base, { visibility: "hidden" }), []);
    });
    for (const option of [
      ["--test-name-pattern", "adds"],
      ["--test-name-pattern=adds"],
      ["--test-skip-pattern=x"],
      ["--test-only"],
    ])
      it(`${option.join(" ")} leaves tests out`, async () =>
        assert.deepEqual(await seen(node(...option, ...both), a, { ...added, ...ends }, base), []));
    it("a test that is named after a file", async () => {
      const names = `${head}for (const name of names) test(\`src/\${name}\`, () => {});\n`;
      const after = { ...ends, "src/names.test.mjs": names };
      const heard = "\u2714 src/a.test.mjs (0.2ms)\n\u2714 src/b.test.mjs (0.1ms)\n";
      assert.deepEqual(await seen(node("src/names.test.mjs"), heard, after, base), []);
      assert.deepEqual(await seen(node(), "\u2714 src/tool.mjs (0.2ms)\n", { "src/tool.mjs": of("b") }, base), []);
      assert.deepEqual(await seen(node(), `\u2714 runs a (0.9ms)\n${a}`, ends, base), []);
    });
    it("tests for another platform alone", async () =>
      assert.deepEqual(await seen(node(), a, { "src/a.test.mjs": windows }, base), [
        "WARN check_cut_short src/a.test.mjs",
      ]));
  });

  it("a finding holds the failing output, without the machine's paths", async () => {
    const input = gateInput({ contract });
    const result = await gateWith(did([failing], 1)).gate.run(input, new AbortController().signal);
    assert.ok(result.kind === "ran");
    const [one] = result.findings;
    assert.deepEqual(
      [one?.message, one?.evidence],
      ["test_total failed: assert 3 == 4", "features/Billing/Invoice/Tests.py:7: AssertionError"],
    );
    assert.deepEqual(
      [result.log?.path, input.sink.sidecars.get("Invoice/attempt-1/checks.log")],
      ["Invoice/attempt-1/checks.log", "$ python3 -m pytest {report}\nthe output\n"],
    );
  });

  it("is started with the report in the attempt's folder, a marker, and told to the log", async () => {
    const { gate, orders } = gateWith(did([passing]));
    const input = gateInput({ contract });
    await gate.run(input, new AbortController().signal);
    const [order] = orders;
    assert.deepEqual(
      [order?.report, order?.root, order?.timeoutMs, order?.env, order?.marker],
      ["/runs/r-1/Invoice/attempt-1/tests.xml", "/repo", 20_000, { PYTHONDONTWRITEBYTECODE: "1", A: "1" }, "m-1"],
    );
    assert.deepEqual(input.sink.events, [
      {
        type: "process.started",
        contract: "Invoice",
        attempt: 1,
        pid: 41,
        startTime: "start",
        marker: "m-1",
        what: "check tests",
      },
      { type: "process.ended", pid: 41, how: "exited 0" },
    ]);
  });

  it("many red tests are counted, not all listed", async () => {
    const many = await found(
      gateWith(
        did(
          Array.from({ length: 40 }, () => failing),
          1,
        ),
      ).gate,
      { contract },
    );
    assert.equal(many.length, 16);
  });

  it("long output keeps its end", async () => {
    const result = await gateWith(did([{ ...failing, output: `${"x".repeat(9000)} the end` }], 1)).gate.run(
      gateInput({ contract }),
      new AbortController().signal,
    );
    const evidence = result.kind === "ran" ? (result.findings[0]?.evidence ?? "") : "";
    assert.ok(
      evidence.length < 2_700 && evidence.endsWith("the end") && evidence.startsWith("[... 6508 characters cut ...]"),
    );
  });

  const file = { oldMode: "100644", newMode: "100644", binary: false, hunks: [] };
  const since: readonly [string, readonly ChangedFile[], readonly string[]][] = [
    ["nothing", [], []],
    ["a new file is told", [{ ...file, status: "added", path: "cover.xml" }], ["WARN check_left_file"]],
    ["a changed one fails", [{ ...file, status: "modified", path: "a.py" }], ["FAIL check_changed_tree a.py"]],
    [
      "what a build writes is told",
      [{ ...file, status: "modified", path: "dist/a.js" }],
      ["WARN check_changed_tree dist/a.js"],
    ],
    [
      "reports and caches of tools are nobody's matter",
      [
        { ...file, status: "modified", path: ".coverage" },
        { ...file, status: "added", path: "coverage/lcov.info" },
      ],
      [],
    ],
    ["a removed one fails", [{ ...file, status: "deleted", path: "a.py" }], ["FAIL check_changed_tree a.py"]],
    [
      "a link in the place of a folder fails",
      [{ ...file, status: "type-changed", path: "sub", oldMode: "160000", newMode: "120000" }],
      ["FAIL check_changed_tree sub"],
    ],
  ];
  for (const [name, files, expected] of since) {
    it(`what the checks did to the tree: ${name}`, async () => {
      const { gate } = gateWith(did([passing]));
      const input = { ...gateInput({ contract, report: workerReport }), changedSince: () => Promise.resolve(files) };
      assert.deepEqual(await found(gate, input), expected);
    });
  }

  it("an abort goes through", async () => {
    const abort = new DOMException("x", "AbortError");
    await assert.rejects(
      gateWith(() => Promise.reject(abort)).gate.run(gateInput({ contract }), new AbortController().signal),
      isAbort,
    );
  });
});

describe("gate: checks, plain commands", () => {
  const output = {
    stdout: new TextEncoder().encode("out\n"),
    stderr: new TextEncoder().encode("\u001B[31merr\n"),
    durationMs: 1,
    leftovers: 0,
  };
  const lint = featureContract({ checks: [{ name: "lint", argv: "ruff check src", cwd: "sub" }] });
  const rows: readonly [string, Exit & Output, readonly string[]][] = [
    ["green", { kind: "exited", code: 0, ...output }, []],
    ["red", { kind: "exited", code: 1, ...output }, ["FAIL check_failed"]],
    ["ended by a signal is not success", { kind: "signalled", signal: "SIGSEGV", ...output }, ["FAIL check_failed"]],
    ["too slow", { kind: "timed-out", ...output }, ["FAIL check_failed"]],
    ["too loud", { kind: "too-much-output", ...output }, ["FAIL check_failed"]],
    ["missing", { kind: "not-started", reason: "ENOENT", ...output }, ["broken: ruff could not be started: ENOENT"]],
    ["left a process behind", { kind: "exited", code: 0, ...output, leftovers: 2 }, ["WARN process_left"]],
  ];
  for (const [name, exit, wanted] of rows)
    it(name, async () => assert.deepEqual(await found(gateWith(did([]), exit).gate, { contract: lint }), wanted));

  const said = (text: string): Exit & Output => ({
    kind: "exited",
    code: 0,
    ...output,
    stdout: new Uint8Array(),
    stderr: new TextEncoder().encode(text),
  });
  const ended: readonly [readonly string[], string, boolean][] = [
    [["python3", "-B", "-m", "unittest", "-q"], "", true],
    [["python3", "-m", "unittest"], "nets 100\n", true],
    [["python3", "-m", "unittest"], "Ran 0 tests in 0.000s\n\nOK\n", true],
    [["python3", "-m", "unittest"], ".\nRan 2 tests in 0.001s\n\nOK\n", false],
    [["python3.12", "-m", "pytest", "-q"], "", true],
    [["/venv/bin/pytest"], " \n", true],
    [["pytest", "-qq"], ".. [100%]\n", false],
    [["pytest", "-p", "no:terminal"], "", false],
    [["python3", "-c", "import unittest"], "m-2\n", false],
    [["python3", "-m", "mypy", "-c", "import unittest"], "", false],
    [["python3", "-m", "mypy", "unittest"], "", false],
    [["ruff", "check"], "", false],
  ];
  for (const [argv, text, none] of ended)
    it(`${argv.join(" ")} that ends with ${JSON.stringify(text.slice(0, 20))}`, async () => {
      const of = featureContract({ checks: [{ name: "tests", argv: [...argv] }] });
      assert.deepEqual(
        await found(gateWith(did([]), said(text)).gate, { contract: of }),
        none ? ["FAIL check_ran_nothing"] : [],
      );
    });

  it("argv, folder and environment are the check's, nothing is inherited", async () => {
    const { gate, specs } = gateWith(did([]), { kind: "exited", code: 0, ...output });
    await found(gate, {
      contract: featureContract({ checks: [{ name: "lint", argv: "ruff check src", cwd: "sub", env: { B: "2" } }] }),
    });
    assert.deepEqual(
      [specs[0]?.argv, specs[0]?.cwd, specs[0]?.env],
      [["ruff", "check", "src"], "/repo/sub", { PATH: "/usr/bin", PYTHONDONTWRITEBYTECODE: "1", B: "2" }],
    );
  });

  it("a folder that leaves the repository is refused", async () => {
    const away = Contract.parse({ ...lint, checks: [{ name: "x", argv: ["true"], cwd: "../.." }] });
    await assert.rejects(found(gateWith(did([])).gate, { contract: away }), /leaves the repository/);
  });

  it("a stopped command is an abort, never a result", async () => {
    await assert.rejects(found(gateWith(did([]), { kind: "cancelled", ...output }).gate, { contract: lint }), isAbort);
  });
});

describe("gate: checks, when nothing may run", () => {
  const fail = (rule: string, severity: Finding["severity"] = "FAIL"): Finding => ({
    rule,
    severity,
    message: "why",
    evidence: "",
    remedy: "",
  });
  for (const rule of [...scopeStops, "syntax", "slice_file_missing", "tests_empty", "truncation", "secret"]) {
    it(`not after ${rule}`, async () => {
      const { gate, orders } = gateWith(did([passing]));
      assert.deepEqual(await found(gate, { contract, soFar: [fail(rule)] }), [
        "skipped: running it makes no sense before this is mended: why",
      ]);
      assert.equal(orders.length, 0);
    });
  }
  for (const one of [
    fail("py.E501"),
    fail("extraction"),
    fail("over_budget"),
    fail("syntax", "WARN"),
    fail("secret", "WARN"),
  ]) {
    it(`but after ${short(one)}`, async () =>
      assert.deepEqual(await found(gateWith(did([passing])).gate, { contract, soFar: [one] }), []));
  }
  it("no checks", async () =>
    assert.deepEqual(await found(gateWith(did([])).gate, { contract: featureContract() }), [
      "skipped: the contract names no checks",
    ]));
});

describe("gate: checks, what they did beside", () => {
  const at = (text: string): RepoPath => {
    const path = repoPath(text);
    assert.ok(path);
    return path;
  };
  const handler = `${sliceDir}/Handler.py`;
  const work = { contract, before: { [handler]: "one\n" }, after: { [handler]: "two\n" } };
  const base: TouchedFile = { path: at("notes.txt"), how: "changed", was: "uncommitted", kept: "entry", surely: false };
  const file = (path: string, more: Partial<TouchedFile> = {}): TouchedFile => ({
    ...base,
    path: at(path),
    ...more,
  });
  const watching = (
    touched: Touched,
  ): { readonly bystanders: Bystanders; readonly seen: string[]; readonly keep: readonly AbsPath[] } => {
    const seen: string[] = [];
    const keep = [absPath("/repo/notes.txt")];
    const bystanders: Bystanders = {
      watch: ({ by, known }) => {
        seen.push(`watch ${by} ${known.join()}`);
        return Promise.resolve({
          keep,
          done: () => Promise.resolve(void seen.push("done")).then(() => touched),
          takeAway: (paths) => Promise.resolve(void seen.push(`away ${paths.join()}`)).then(() => "t-2"),
        });
      },
    };
    return { bystanders, seen, keep };
  };
  const appeared = { how: "appeared", was: "absent", kept: "elsewhere" } as const;
  const clean = { was: "clean", kept: "elsewhere" } as const;
  const rows: readonly [string, TouchedFile, string, string][] = [
    ["uncommitted work", file("notes.txt"), "FAIL uncommitted_changed", "FAIL uncommitted_changed"],
    ["gone", file("notes.txt", { how: "vanished" }), "FAIL uncommitted_changed", "FAIL uncommitted_changed"],
    ["grew", file("notes.txt", { how: "grew" }), "WARN uncommitted_changed", "WARN uncommitted_changed"],
    ["of a build", file("build/a.o"), "WARN uncommitted_changed", "WARN uncommitted_changed"],
    ["committed", file("lib/a.py", clean), "FAIL check_left_change", "WARN check_left_change"],
    ["a leftover", file("lib/out.txt", appeared), "WARN check_left_change", "WARN check_left_change"],
    ["a lock file", file("uv.lock", appeared), "WARN check_left_change", "WARN check_left_change"],
    ["in the slice", file(`${sliceDir}/out.txt`, appeared), "FAIL check_left_change", "WARN check_left_change"],
    ...["conftest.py", "sitecustomize.py", "lib/x.pth", "package.json", "json.py", ".vscode/tasks.json", ".env"].map(
      (path): [string, TouchedFile, string, string] => [
        path,
        file(path, appeared),
        "FAIL check_left_change",
        "WARN check_left_change",
      ],
    ),
  ];
  for (const [name, one, byWorker, byPerson] of rows) {
    it(`${name}: ${byWorker} in do, ${byPerson} elsewhere`, async () => {
      const { bystanders } = watching({ files: [one], entry: "t-1" });
      const { gate } = gateWith(did([passing]), undefined, bystanders);
      const told = async (more: { readonly report?: WorkerReport }): Promise<readonly string[]> =>
        await found(gate, { ...work, slice: sliceFacts(), ...more });
      assert.deepEqual(await told({ report: workerReport }), [`${byWorker} ${one.path}`]);
      assert.deepEqual(await told({}), [`${byPerson} ${one.path}`]);
    });
  }

  it("names what brings it back, and says whose it is only where that is known", async () => {
    const messages = async (touched: Touched): Promise<readonly string[]> => {
      const { gate } = gateWith(did([passing]), undefined, watching(touched).bystanders);
      const input = gateInput({ ...work, report: workerReport });
      const result = await gate.run(input, new AbortController().signal);
      return result.kind === "ran" ? result.findings.map(({ message }) => message) : [];
    };
    assert.deepEqual(
      await messages({ files: [file("a"), file("b", { surely: true, how: "vanished" })], entry: "t-1" }),
      [
        "a, which is not committed, changed while the checks ran, by them, or by somebody who saved it meanwhile; what it held comes back with: orch restore t-1",
        "b, which is not committed, vanished while the checks ran, by them; what it held comes back with: orch restore t-1",
      ],
    );
    assert.deepEqual(await messages({ files: [file("big", { kept: "no" }), file("conftest.py", appeared)] }), [
      "big, which is not committed, changed while the checks ran, by them, or by somebody who saved it meanwhile; it could not be kept",
      "conftest.py appeared while the checks ran, and later runs load it by themselves; it was taken away, and comes back with: orch restore t-2",
    ]);
  });

  it("keeps them from the check, takes away only what a worker's tests planted, and looks again after a stop", async () => {
    const planted = watching({ files: [file("conftest.py", appeared), file("out.txt", appeared)] });
    const worked = gateWith(did([passing]), undefined, planted.bystanders);
    await found(worked.gate, { ...work, report: workerReport });
    assert.deepEqual(planted.seen, [`watch do ${handler}`, "done", "away conftest.py"]);
    assert.deepEqual(worked.orders[0]?.keep, planted.keep);

    const merged = watching({ files: [file("conftest.py", appeared)] });
    await found(gateWith(did([passing]), undefined, merged.bystanders).gate, work);
    assert.deepEqual(merged.seen, ["watch merge ", "done"]);

    const stopped = watching({ files: [] });
    const stop = (): Promise<TestRun> => Promise.reject(new DOMException("stopped", "AbortError"));
    const run = found(gateWith(stop, undefined, stopped.bystanders).gate, work);
    await assert.rejects(run, isAbort);
    assert.deepEqual(stopped.seen, ["watch merge ", "done"]);
  });
});
