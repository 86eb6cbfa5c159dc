import assert from "node:assert/strict";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { type AbsPath, inRoot } from "../../shared/base/paths.ts";
import { createChecksGate } from "../../shared/gates/checks.ts";
import { featureContract, gateInput } from "../support/gate-input.ts";
import { TempDir } from "../support/temp-dir.ts";

/** Code in an argument, run by the real programs: an end with success that came before the last statement is none. */
describe("the end of a check that is code", function () {
  this.timeout(600_000);
  let dir: TempDir;
  let root: AbsPath;
  beforeEach(async () => {
    dir = new TempDir();
    root = dir.at("tree");
    await mkdir(root);
  });
  afterEach(() => dir[Symbol.dispose]());

  interface Seen {
    readonly rules: readonly string[];
    readonly log: string;
  }

  /** What the gate finds, and what stands in its log, with a module of this text beside the check. */
  async function seen(argv: readonly string[], module = "", name = "own.py"): Promise<Seen> {
    await writeFile(inRoot(root, name), module);
    let count = 0;
    const gate = createChecksGate({
      tests: { run: () => Promise.reject(new Error("no report was asked for")) },
      process: createProcess(),
      env: { PATH: `${path.dirname(process.execPath)}:${process.env["PATH"] ?? ""}`, HOME: dir.at("home") },
      ids: { next: () => `m-${(count += 1)}-${process.pid}` },
      groupOf: () => undefined,
    });
    const contract = featureContract({ checks: [{ name: "own", argv: [...argv] }] });
    const names = (await readdir(root)).filter((one) => /^\w[\w.]*\.(?:py|cjs)$/.test(one));
    const texts = names.map(async (one) => [one, await readFile(inRoot(root, one), "utf8")] as const);
    const input = gateInput({ contract, after: Object.fromEntries(await Promise.all(texts)) });
    const result = await gate.run({ ...input, root }, new AbortController().signal);
    assert.ok(result.kind === "ran", JSON.stringify(result));
    return {
      rules: result.findings.map(({ rule }) => rule),
      log: String(input.sink.sidecars.get("Invoice/attempt-1/checks.log")),
    };
  }

  const python = (code: string, ...rest: readonly string[]): readonly string[] => [
    "python3",
    "-B",
    "-c",
    code,
    ...rest,
  ];
  const asserts = python("from own import own; assert own() == 1");
  const value = "\n\ndef own():\n    return 0\n";

  const early: Readonly<Record<string, string>> = {
    "os._exit by pieces": `import importlib\n\ngetattr(importlib.import_module("o" "s"), "_ex" + "it")(0)${value}`,
    "encoded code": `exec(bytes([105,109,112,111,114,116,32,111,115,59,111,115,46,95,101,120,105,116,40,48,41]))${value}`,
    "the own process as a library": `import ctypes\n\nctypes.CDLL(None).exit(0)${value}`,
    "sys.exit while it is imported": `import sys\n\nsys.exit(0)${value}`,
    "sys.exit where it is asked": "import sys\n\n\ndef own():\n    sys.exit(0)\n",
    "SystemExit with nothing": "def own():\n    raise SystemExit\n",
    "at the end, after the assertion failed": `import atexit\nimport os\n\natexit.register(os._exit, 0)${value}`,
    "another program in its place": `import os\n\nos.execv("/bin/true", ["true"])${value}`,
    "a hook for what failed": `import os\nimport sys\n\nsys.excepthook = lambda *a: os._exit(0)${value}`,
  };
  for (const [name, module] of Object.entries(early))
    it(`python: ${name}`, async () => assert.deepEqual((await seen(asserts, module)).rules, ["check_cut_short"]));

  const leaves = "import sys\n\n\ndef own():\n    sys.exit(0)\n";
  const earlyIn: Readonly<Record<string, readonly [code: string, module: string]>> = {
    "the interpreter's exit where it is asked": ["import own\nassert own.own() == 1", "def own():\n    exit(0)\n"],
    "in a last statement with an assertion to come": [
      "import own\nif True:\n    a = own.own()\n    assert a == 1",
      leaves,
    ],
    "in the assertion of a last statement": ["import own\nif True:\n    assert (own.own()\n        == 1)", leaves],
    "in a loop that asserts first": ["import own\nfor one in [1, 2]:\n    assert one == 1\n    own.own()", leaves],
    "in a function that asserts after it": [
      "import own\nif True:\n    def main():\n        a = own.own()\n        assert a == 1\n    main()",
      leaves,
    ],
  };
  for (const [name, [code, module]] of Object.entries(earlyIn))
    it(`python: ${name}`, async () => assert.deepEqual((await seen(python(code), module)).rules, ["check_cut_short"]));

  const ends: Readonly<Record<string, readonly string[]>> = {
    "assertions that hold": python("from own import own; assert own() == 0"),
    "over lines": python("from own import own\nfor one in [0]:\n    assert own() == one\n"),
    "with flags": ["python3", "-Bs", "-W", "ignore", "-c", "import own; assert own.own() == 0"],
    "with the code at the flag": ["python3", "-cimport own; assert own.own() == 0"],
    "by a starter": ["env", "A=1", "python3", "-c", "import os; assert os.environ['A'] == '1'"],
    arguments: python("import sys; assert sys.argv == ['-c', 'a', 'b'], sys.argv", "a", "b"),
    "an empty input": python("import sys; assert sys.stdin.read() == ''"),
    "names of its own alone": python(
      "assert set(globals()) >= {'__name__'} and '_run' not in globals() and __name__ == '__main__'",
    ),
    "a future import": python(
      "from __future__ import annotations\ndef f(a: nothing): ...\nassert f.__annotations__ == {'a': 'nothing'}",
    ),
    "an exit of its own": python("import sys; from own import own; sys.exit(own())"),
    "an exit of its own in between": python(
      "import sys\nfrom own import own\nif own() == 0:\n    sys.exit(0)\nsys.exit(1)",
    ),
    "the interpreter's exit in between": python("from own import own\nif own() == 0:\n    exit(0)\nexit(1)"),
    "the interpreter's exit inside": python("with open('own.py') as h:\n    assert h.read()\n    exit()"),
    "the interpreter's quit": python("from own import own; assert own() == 0; quit()"),
    "tests after an assertion": python(
      "import unittest\nclass T(unittest.TestCase):\n  def test_own(self):\n    assert 1\nif __name__ == '__main__':\n  assert 1\n  unittest.main(argv=['x'])",
    ),
    "a main that exits": python("import own; own.main()"),
    tests: python(
      "import unittest, own\nclass T(unittest.TestCase):\n    def test_own(self):\n        self.assertEqual(own.own(), 0)\nunittest.main()",
    ),
    "an end by hand": python("import os, own; assert own.own() == 0; os._exit(0)"),
    nothing: python(""),
    "closed output": python("import sys; sys.stdout.close(); sys.stderr.close(); assert True"),
  };
  const honest = `import sys${value}\n\ndef main():\n    sys.exit(0)\n`;
  for (const [name, argv] of Object.entries(ends))
    it(`python, honest: ${name}`, async () => assert.deepEqual((await seen(argv, honest)).rules, []));

  it("python: what fails looks as it would without", async () => {
    const { rules, log } = await seen(python("from own import own\nprint('said')\nassert own() == 1, 'wrong'"), honest);
    assert.deepEqual(rules, ["check_failed"]);
    const lines = log.split("\n").filter((line) => !/^\s+(?:assert own|~|\^)/.test(line));
    assert.deepEqual(lines.slice(-6), [
      "said",
      "Traceback (most recent call last):",
      '  File "<string>", line 3, in <module>',
      "AssertionError: wrong",
      "",
      "",
    ]);
    assert.match((await seen(python("def ("), honest)).log, /File "<string>", line 1\n[\s\S]*SyntaxError/);
    assert.deepEqual((await seen(python("raise SystemExit(3)"), honest)).rules, ["check_failed"]);
  });

  it("python: the mark is in no output", async () => {
    const { log } = await seen(python("print('said')"), honest);
    assert.equal(log, "$ python3 -B -c print('said')\nsaid\n\n");
  });

  const node = (code: string, ...flags: readonly string[]): readonly string[] => ["node", ...flags, "-e", code];
  const given = 'const { own } = require("./own.cjs"); require("assert").equal(own(), 1)';
  const earlyNode: Readonly<Record<string, string>> = {
    "while it is loaded": 'process["ex" + "it"](0);\n',
    "where it is asked": "exports.own = () => process.reallyExit(0);\n",
    later: "setTimeout(() => process.exit(0), 1); exports.own = () => { while (true) process.exit(0); };\n",
  };
  for (const [name, module] of Object.entries(earlyNode))
    it(`node: an exit ${name}`, async () =>
      assert.deepEqual((await seen(node(given), module, "own.cjs")).rules, ["check_cut_short"]));

  const own = "exports.own = () => 1; exports.later = async () => 1;\n";
  const endsNode: Readonly<Record<string, readonly string[]>> = {
    "an assertion": node(given),
    "with a comment": node(`${given} // the end`),
    "what it waits for": node('require("./own.cjs").later().then((v) => require("assert").equal(v, 1))'),
    "a module": node(
      'import assert from "node:assert"; import { own } from "./own.cjs"; assert.equal(await own(), 1);',
      "--input-type=module",
    ),
    "an end by hand": node(`${given}; process.exit(0)`),
    "no assertion": node('require("./own.cjs").own()'),
    "the code at the flag": ["node", `--eval=${given}`],
    "caught output": node(
      "let o = ''; process.stdout.write = process.stderr.write = (s) => { o += s; return true; }; console.error('x'); require('assert').equal(o, 'x\\n')",
    ),
    "an -e of the program's own": ["node", "cli.cjs", "-e", "expect"],
    "an -e behind the end of the options": ["node", "--", "cli.cjs", "-e", "expect"],
  };
  for (const [name, argv] of Object.entries(endsNode))
    it(`node, honest: ${name}`, async () => {
      await writeFile(inRoot(root, "cli.cjs"), 'if (process.argv[3] !== "expect") process.exit(1);\n');
      assert.deepEqual((await seen(argv, own, "own.cjs")).rules, []);
    });
  for (const flags of [["-r", "./pre.cjs"], ["--import", "./pre.cjs"], ["--input-type", "commonjs"], ["--no-warnings"]])
    it(`node ${flags.join(" ")}: an exit before the end`, async () => {
      await writeFile(inRoot(root, "pre.cjs"), "");
      const argv = node(given, ...flags);
      assert.deepEqual((await seen(argv, own, "own.cjs")).rules, []);
      assert.deepEqual((await seen(argv, "exports.own = () => process.reallyExit(0);\n", "own.cjs")).rules, [
        "check_cut_short",
      ]);
    });

  it("node: an exit in what it waits for", async () => {
    const argv = node('require("./own.cjs").later().then((v) => require("assert").equal(v, 2))');
    const module = "exports.later = async () => process.exit(0);\n";
    assert.deepEqual((await seen(argv, module, "own.cjs")).rules, ["check_cut_short"]);
    assert.deepEqual((await seen(argv, own, "own.cjs")).rules, ["check_failed"]);
  });

  const pytest =
    "from own import own\n\n\ndef test_a():\n    assert own() == 0\n\n\ndef test_b():\n    assert own() == 1\n";
  for (const flags of [[], ["-q"], ["-v"], ["-qq"]])
    it(`pytest ${flags.join(" ")} that is ended in the middle`, async () => {
      await writeFile(inRoot(root, "test_own.py"), pytest);
      const argv = ["python3", "-m", "pytest", "-p", "no:cacheprovider", ...flags, "test_own.py"];
      const module =
        "import os\n\ncalls = []\n\n\ndef own():\n    calls.append(1)\n    return 0 if len(calls) == 1 else os._exit(0)\n";
      assert.deepEqual((await seen(argv, module)).rules, ["check_ran_nothing"]);
      assert.deepEqual(
        (await seen(argv, "def own():\n    return len(own.__dict__) or own.__dict__.setdefault('a', 0)\n")).rules,
        [],
      );
    });

  it("node --test: a file that is ended before its tests are heard of", async () => {
    const head = 'const test = require("node:test"); const { own } = require("./own.cjs");\n';
    await writeFile(inRoot(root, "own.test.cjs"), `${head}test("a", () => require("assert").equal(own(), 1));\n`);
    const argv = ["node", "--test", "own.test.cjs"];
    assert.deepEqual((await seen(argv, 'process["ex" + "it"](0);\n', "own.cjs")).rules, ["check_cut_short"]);
    assert.deepEqual((await seen(argv, "exports.own = () => process.exit(0);\n", "own.cjs")).rules, [
      "check_cut_short",
    ]);
    assert.deepEqual((await seen(argv, own, "own.cjs")).rules, []);
    await writeFile(inRoot(root, "own.test.cjs"), 'require("assert").equal(require("./own.cjs").own(), 1);\n');
    assert.deepEqual((await seen(argv, own, "own.cjs")).rules, []);
  });
});
