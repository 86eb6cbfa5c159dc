import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import { isAbort } from "../../shared/base/abort.ts";
import { type AbsPath, absPath, inRoot, type RepoPath } from "../../shared/base/paths.ts";
import { loadPacks } from "../../shared/features/packs.ts";
import type { Pack } from "../../shared/model/pack.ts";
import type { TestRun, TestRunner, TestSubject } from "../../shared/ports/test-runner.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

/** Real pytest of the system, real processes. */
const dir = "features/my-billing/Invoice" as RepoPath;
const tests = `${dir}/Tests.py` as RepoPath;
const never = new AbortController().signal;

describe("test runner", function () {
  this.timeout(600_000);
  let repo: TempRepo;
  let outside: AbsPath;
  let pack: Pack;

  beforeEach(async () => {
    repo = await makeTempRepo({ folder: "répo with space" });
    outside = absPath(await mkdtemp(join(tmpdir(), "orch-runner-")));
    const [python] = await loadPacks(createFiles(), inRoot(absPath(sourceRoot), "rules"));
    assert.ok(python);
    pack = python.pack;
  });
  afterEach(async () => {
    await repo.cleanup();
    await rm(outside, { recursive: true, force: true });
  });

  const runner = (env: Record<string, string> = {}): TestRunner =>
    createTestRunner({
      process: createProcess(),
      files: createFiles(),
      machine: { env: { PATH: "/usr/bin:/bin", SECRET_TOKEN: "hidden", ...env }, platform: "posix" },
      home: inRoot(outside, "home"),
    });
  const subject = (): TestSubject => ({ root: repo.root, tests, dir });

  async function run(text: string, files: Record<string, string> = {}, timeoutMs?: number): Promise<TestRun> {
    await repo.write(`${dir}/__init__.py`, "");
    await repo.write(`${dir}/Handler.py`, "def total(lines):\n    return sum(lines)\n");
    await repo.write(tests, text);
    for (const [path, body] of Object.entries(files)) await repo.write(path, body);
    const one = runner();
    const chosen = await one.choose(pack, subject(), never);
    assert.ok(chosen.kind === "command", JSON.stringify(chosen));
    const { argv, env } = chosen.command;
    return one.run(
      { argv, env, root: repo.root, report: inRoot(outside, "a/report.xml"), timeoutMs: timeoutMs ?? 60_000 },
      never,
    );
  }

  it("takes away an empty folder that a plugin of the test program left, and no other", async () => {
    await repo.write("kept-before/.keep", "");
    const plugin =
      'import os\n\n\ndef pytest_configure():\n    os.makedirs(".left-empty")\n    os.makedirs("left-full")\n    open("left-full/a", "w").close()\n';
    const done = await run("def test_one():\n    assert 1 + 1 == 2\n", { "conftest.py": plugin });
    assert.equal(done.kind, "ran");
    const names = await readdir(repo.root);
    assert.deepEqual(
      [names.includes(".left-empty"), names.includes("left-full"), names.includes("kept-before")],
      [false, true, true],
    );
  });

  it("tells each test, where it failed and what it printed, and leaves nothing in the tree", async () => {
    const text = [
      "import unittest",
      "import pytest",
      "from .Handler import total",
      "",
      "def test_sum():",
      "    assert total([1, 2]) == 3",
      "",
      "class TestMore:",
      "    def test_wrong(self):",
      "        print('seen \\x1b[31m by a person')",
      "        assert total([1]) == 2",
      "",
      "    @pytest.mark.skip(reason='not today')",
      "    def test_later(self):",
      "        pass",
      "",
      "    @pytest.fixture",
      "    def boom(self):",
      "        raise ValueError('no ground')",
      "",
      "    def test_ground(self, boom):",
      "        pass",
      "",
    ].join("\n");
    const result = await run(text);
    assert.ok(result.kind === "ran", JSON.stringify(result));
    assert.deepEqual(
      {
        exit: result.exit,
        counts: result.counts,
        tests: result.tests.map(({ name, file, line, outcome, message }) => ({ name, file, line, outcome, message })),
      },
      {
        exit: 1,
        counts: { passed: 1, failed: 1, errors: 1, skipped: 1 },
        tests: [
          { name: "test_sum", file: tests, line: 5, outcome: "passed", message: "" },
          { name: "TestMore::test_wrong", file: tests, line: 11, outcome: "failed", message: "assert 1 == 2" },
          { name: "TestMore::test_later", file: tests, line: 13, outcome: "skipped", message: "not today" },
          {
            name: "TestMore::test_ground",
            file: tests,
            line: 19,
            outcome: "error",
            message: 'failed on setup with "ValueError: no ground"',
          },
        ],
      },
    );
    const wrong = result.tests[1]?.output ?? "";
    assert.ok(wrong.includes("seen  by a person") && !wrong.includes("\u001B"), wrong);
    assert.equal(await repo.git("status", "--short", "--ignored"), "?? features/");
    assert.deepEqual((await readdir(inRoot(repo.root, dir))).toSorted(), ["Handler.py", "Tests.py", "__init__.py"]);
  });

  for (const [name, text] of [
    ["an empty Tests file", ""],
    ["a file without tests", "from .Handler import total\n"],
    ["the scaffold's skip", 'import pytest\n\npytest.skip("not implemented yet", allow_module_level=True)\n'],
    ["only skipped tests", "import pytest\n\n\n@pytest.mark.skip\ndef test_a():\n    pass\n"],
  ] as const) {
    it(`tells ${name} from success`, async () => {
      const result = await run(text);
      assert.equal(result.kind, "no-tests", JSON.stringify(result));
    });
  }

  for (const [name, text, message] of [
    ["a missing module", "import no_such_thing\n", "ModuleNotFoundError: No module named 'no_such_thing'"],
    ["a syntax error", "def test_a(:\n", "SyntaxError: invalid syntax"],
  ] as const) {
    it(`tells ${name} as an error of the Tests file`, async () => {
      const result = await run(text);
      assert.ok(result.kind === "ran", JSON.stringify(result));
      const [only] = result.tests;
      assert.deepEqual(
        [result.counts, only?.name, only?.outcome, only?.message],
        [{ passed: 0, failed: 0, errors: 1, skipped: 0 }, "Tests.py", "error", message],
      );
    });
  }

  it("concludes nothing from a program that ends itself before it reports", async () => {
    const result = await run("import os\n\n\ndef test_a():\n    os._exit(0)\n");
    assert.ok(result.kind === "broken", JSON.stringify(result));
    assert.match(result.message, /exit code 0 and left no report/);
  });

  it("ends tests that hang, children included", async () => {
    const result = await run("import subprocess\n\n\ndef test_a():\n    subprocess.run(['sleep', '600'])\n", {}, 3000);
    assert.equal(result.kind, "timed-out", JSON.stringify(result));
  });

  it("does not take an older report for this run's", async () => {
    await run("def test_a():\n    pass\n");
    const result = await run("import os\nos._exit(3)\n");
    assert.equal(result.kind, "broken", JSON.stringify(result));
  });

  it("shows the tests the allow-listed environment and a home of their own", async () => {
    const result = await run(
      "import os\n\n\ndef test_env():\n    print(sorted(os.environ), os.environ['HOME'])\n    assert 0\n",
    );
    assert.ok(result.kind === "ran", JSON.stringify(result));
    const output = result.tests[0]?.output ?? "";
    assert.ok(output.includes(inRoot(outside, "home")) && !output.includes("SECRET_TOKEN"), output);
  });

  it("takes absolute imports from the root, and a src layout of the features folder", async () => {
    const result = await run(
      "from features.common import x\nfrom .Handler import total\n\n\ndef test_a():\n    assert x == total([1])\n",
      { "features/common.py": "x = 1\n" },
    );
    assert.ok(result.kind === "ran" && result.exit === 0, JSON.stringify(result));
  });

  it("prefers the project's .venv, and tries every python3 on PATH", async () => {
    await repo.write("bin/python3", "#!/bin/sh\nexit 1\n", 0o755);
    const broken = runner({ PATH: `${repo.path("bin")}:/usr/bin:/bin` });
    const fallen = await broken.choose(pack, subject(), never);
    assert.ok(fallen.kind === "command");
    assert.equal(fallen.command.runner, "/usr/bin/python3 -m pytest");
    await repo.write(".venv/bin/python", '#!/bin/sh\nexec /usr/bin/python3 "$@"\n', 0o755);
    const own = await runner().choose(pack, subject(), never);
    assert.ok(own.kind === "command");
    assert.equal(own.command.runner, ".venv/bin/python -m pytest");
    const elsewhere = await runner().choose(pack, { ...subject(), root: repo.base, toolsRoot: repo.root }, never);
    assert.ok(elsewhere.kind === "command");
    assert.equal(elsewhere.command.argv[0], repo.path(".venv/bin/python"));
  });

  it("uses uv in a uv project", async () => {
    await repo.write("bin/uv", '#!/bin/sh\nshift 2\n[ "$1" = python ] && shift\nexec /usr/bin/python3 "$@"\n', 0o755);
    await repo.write("pyproject.toml", "[project]\nname = 'x'\nversion = '1'\n");
    const search = { PATH: `${repo.path("bin")}:/usr/bin:/bin` };
    const without = await runner(search).choose(pack, subject(), never);
    assert.equal(without.kind === "command" && without.command.runner, "python3 -m pytest");
    await repo.write("uv.lock", "version = 1\n");
    const locked = await runner(search).choose(pack, subject(), never);
    assert.ok(locked.kind === "command");
    assert.equal(locked.command.runner, "uv run --frozen python -m pytest");
    assert.equal(locked.command.env["UV_PROJECT_ENVIRONMENT"], repo.path(".venv"));
  });

  it("says what to install when there is no runner", async () => {
    const result = await runner({ PATH: repo.path("nowhere") }).choose(pack, subject(), never);
    assert.deepEqual(result, { kind: "missing-tool", message: pack.test.missing });
  });

  it("names each program that it asked, in the order of the runners and of PATH", async () => {
    const bare = "#!/bin/sh\nexit 1\n";
    for (const name of ["shims/python3", "shims/python", "usr/python3"]) await repo.write(name, bare, 0o755);
    await repo.write(".venv/bin/python", bare, 0o755);
    const search = { PATH: `${repo.path("shims")}:${repo.path("usr")}` };
    const result = await runner(search).choose(pack, subject(), never);
    const asked = [
      ".venv/bin/python",
      ...["shims/python3", "usr/python3", "shims/python"].map((name) => repo.path(name)),
    ];
    assert.deepEqual(result, { kind: "missing-tool", message: `${pack.test.missing}. Asked: ${asked.join(", ")}` });
  });

  it("rejects with an AbortError when it is cancelled, and a later call is not hurt by it", async () => {
    const one = runner();
    const controller = new AbortController();
    const pending = one.choose(pack, subject(), controller.signal);
    controller.abort();
    await assert.rejects(pending, isAbort);
    assert.equal((await one.choose(pack, subject(), never)).kind, "command");
  });
});
