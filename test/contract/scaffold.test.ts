import assert from "node:assert/strict";
import { createFiles } from "../../shared/adapters/files.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import { absPath, inRoot, type RepoPath } from "../../shared/base/paths.ts";
import { loadPacks } from "../../shared/features/packs.ts";
import { featureIn, openProject } from "../../shared/features/registry-space.ts";
import { scaffoldFiles } from "../../shared/features/scaffold.ts";
import type { Target } from "../../shared/model/target.ts";
import type { TestRun } from "../../shared/ports/test-runner.ts";
import { sourceRoot } from "../support/source-root.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;
const python = "/usr/bin/python3";
const env = { PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" };

/** What the Python templates promise, held against the real interpreter, pytest and pycodestyle. */
describe("the Python scaffold", function () {
  this.timeout(600_000);

  async function scaffold(
    root: TempDir,
    target: Target,
    extra: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const files = createFiles();
    const [loaded] = await loadPacks(files, inRoot(absPath(sourceRoot), "rules"));
    assert.ok(loaded);
    const project = await openProject(files, root.path);
    const feature = featureIn(project.spaces[0], target);
    await files.makeDir(root.at(feature.dir));
    for (const { path, text } of scaffoldFiles(loaded, feature, { controller: true }))
      await files.write(root.at(path), text);
    for (const [name, text] of Object.entries(extra)) await files.write(root.at(feature.dir, name), text);
    return feature.dir;
  }

  async function test(root: TempDir, dir: string): Promise<TestRun> {
    const runner = createTestRunner({
      process: createProcess(),
      files: createFiles(),
      machine: { env, platform: "posix" },
      home: root.at("home"),
    });
    const [loaded] = await loadPacks(createFiles(), inRoot(absPath(sourceRoot), "rules"));
    assert.ok(loaded);
    const chosen = await runner.choose(
      loaded.pack,
      { root: root.path, tests: `${dir}/Tests.py` as RepoPath, dir: dir as RepoPath },
      never,
    );
    assert.ok(chosen.kind === "command");
    return runner.run({ ...chosen.command, root: root.path, report: root.at("home", "report.xml") }, never);
  }

  it("says that it is not implemented, and no report calls that green", async () => {
    using root = new TempDir();
    const dir = await scaffold(root, { domain: "my-shop", name: "Invoice" });
    const run = await test(root, dir);
    assert.ok(run.kind === "no-tests", JSON.stringify(run));
    assert.deepEqual(
      run.tests.map(({ outcome, message }) => [outcome, message]),
      [["skipped", "not implemented yet: orch do writes the tests of spec.md"]],
    );
  });

  it("imports as it is, raises NotImplementedError, and is green once handler and tests are written", async () => {
    using root = new TempDir();
    const open = await scaffold(
      root,
      { domain: "my-shop", name: "Invoice" },
      {
        "Tests.py":
          "import pytest\n\nfrom .Controller import control\n\n\ndef test_open() -> None:\n    with pytest.raises(NotImplementedError, match='orch do'):\n        control({})\n",
      },
    );
    const first = await test(root, open);
    assert.ok(first.kind === "ran" && first.exit === 0, JSON.stringify(first));
    const done = await scaffold(
      root,
      { domain: "my-shop", name: "Invoice" },
      {
        "Handler.py":
          "from .Schema import Request, Response\n\n\ndef handle(request: Request) -> Response:\n    return Response()\n",
        "Tests.py": "from .Controller import control\n\n\ndef test_done() -> None:\n    assert control({}) == {}\n",
      },
    );
    const second = await test(root, done);
    assert.ok(second.kind === "ran" && second.counts.passed === 1, JSON.stringify(second));
  });

  it("passes pycodestyle and compiles, also with the longest names", async () => {
    using root = new TempDir();
    const dir = await scaffold(root, { domain: "d".repeat(64), name: `F${"x".repeat(63)}` });
    for (const argv of [
      ["-m", "pycodestyle", "--max-line-length=79", dir],
      [
        "-c",
        "import sys, pathlib\nfor path in pathlib.Path(sys.argv[1]).glob('*.py'):\n    compile(path.read_text(), str(path), 'exec')",
        dir,
      ],
    ]) {
      const exit = await createProcess().run(
        { argv: [python, ...argv], cwd: root.path, env, timeoutMs: 30_000, maxOutputBytes: 100_000 },
        never,
      );
      const output = new TextDecoder().decode(exit.stdout) + new TextDecoder().decode(exit.stderr);
      assert.deepEqual([exit.kind, exit.kind === "exited" && exit.code, output], ["exited", 0, ""]);
    }
  });

  it("uses every name it imports and types every function", async () => {
    using root = new TempDir();
    const dir = await scaffold(root, { domain: "Billing", name: "Invoice" });
    const look = [
      "import ast, pathlib, sys",
      "for path in sorted(pathlib.Path(sys.argv[1]).glob('*.py')):",
      "    tree = ast.parse(path.read_text())",
      "    names = {a.asname or a.name for n in ast.walk(tree) if isinstance(n, (ast.Import, ast.ImportFrom)) for a in n.names}",
      "    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}",
      "    print([path.name + ' ' + n for n in sorted(names - used)] + [n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and not n.returns])",
    ].join("\n");
    const exit = await createProcess().run(
      { argv: [python, "-c", look, dir], cwd: root.path, env, timeoutMs: 30_000, maxOutputBytes: 100_000 },
      never,
    );
    assert.equal(new TextDecoder().decode(exit.stdout).replaceAll("\n", " ").trim(), "[] [] [] [] []");
  });
});
