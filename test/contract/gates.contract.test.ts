import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { judgeOff } from "../../shared/adapters/judge-off.ts";
import { createThreadPool } from "../../shared/adapters/pool-threads.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createPythonCompile } from "../../shared/adapters/python-compile.ts";
import { createTreeSitterSyntax } from "../../shared/adapters/syntax-tree-sitter.ts";
import { createTestRunner } from "../../shared/adapters/test-runner.ts";
import { checkEnvironment } from "../../shared/adapters/test-runner-env.ts";
import { absPath, type RepoPath, repoPath } from "../../shared/base/paths.ts";
import { runGate } from "../../shared/engine/attempt.ts";
import { loadPacks } from "../../shared/features/packs.ts";
import { specFacts } from "../../shared/features/spec-rows.ts";
import { checkSpec } from "../../shared/features/spec-check.ts";
import { createGates } from "../../shared/gates/gates.ts";
import { Contract } from "../../shared/model/contract.ts";
import type { Finding } from "../../shared/model/finding.ts";
import type { Pack } from "../../shared/model/pack.ts";
import type { Gate, GateInput } from "../../shared/ports/gate.ts";
import type { Pool, RuleSettings } from "../../shared/ports/pool.ts";
import type { TestRunner } from "../../shared/ports/test-runner.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { createRuleRunner, type RuleRunner } from "../../shared/rulebook/run.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { report, short } from "../support/gate-input.ts";
import { changeOf } from "../support/memory-workspace.ts";
import { RecordingSink } from "../support/recording-sink.ts";
import { sourceRoot } from "../support/source-root.ts";
import { TempDir } from "../support/temp-dir.ts";

/** The whole table over the installed rules, the real threads, the real compiler and the real pytest. */
const dir = "features/Billing/Invoice";
const at = (name: string): string => `${dir}/${name}`;
const never = new AbortController().signal;

const spec = `# Invoice

## Overview

Sums the lines of an invoice in cents.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of int | none is negative |

## Outputs

| name | type | rule |
|---|---|---|
| total | int | the sum |

## Rules

1. The total is the sum of the lines.

## Errors

| case | when | what the caller gets |
|---|---|---|
| negative | a line is negative | ValueError |

## Examples

| input | expected |
|---|---|
| 1, 2 | 3 |

## Dependencies

None.
`;
const schema = `"""Invoice: shapes."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """The lines in cents."""

    lines: list[int]


@dataclass(frozen=True)
class Response:
    """The sum in cents."""

    total: int
`;
const handler = `"""Invoice: rules."""
from .Schema import Request, Response


def handle(request: Request) -> Response:
    """Sum the lines."""
    if any(line < 0 for line in request.lines):
        raise ValueError("a line is negative")
    return Response(total=sum(request.lines))
`;
const controller = `"""Invoice: door."""
from dataclasses import asdict
from typing import Any

from .Handler import handle
from .Schema import Request


def control(payload: dict[str, Any]) -> dict[str, Any]:
    """Turn a decoded payload into a request, the response into data."""
    return asdict(handle(Request(**payload)))
`;
const tests = `"""Invoice: tests."""
import pytest

from .Controller import control
from .Handler import handle
from .Schema import Request


def test_sum() -> None:
    assert handle(Request(lines=[1, 2])).total == 3


def test_negative() -> None:
    with pytest.raises(ValueError):
        handle(Request(lines=[-1]))


def test_control() -> None:
    assert control({"lines": [1, 2]}) == {"total": 3}
`;
const start: Readonly<Record<string, string>> = {
  ".features.json": '{"known_features": {"Invoice": "Billing"}}\n',
  ".python-version": "3.11\n",
  "AGENTS.md": "# Constitution\n",
  "pyproject.toml": '[project]\nname = "shop"\nversion = "0.1.0"\n',
  [at("spec.md")]: spec,
  [at("__init__.py")]: '"""Invoice."""\n',
};
const good: Readonly<Record<string, string>> = {
  [at("Schema.py")]: schema,
  [at("Handler.py")]: handler,
  [at("Controller.py")]: controller,
  [at("Tests.py")]: tests,
};

describe("gates over the installed rules", function () {
  this.timeout(600_000);
  let pack: Pack;
  let pool: Pool;
  let runner: RuleRunner;
  let settings: RuleSettings;
  let home: TempDir;
  let testRunner: TestRunner;
  const files = createFiles();
  const machine = { env: { PATH: "/usr/bin:/bin" }, platform: "posix" as const };

  before(async () => {
    home = new TempDir();
    const rules = path.join(sourceRoot, "rules");
    const sources = ["python", "diff", "tree"].map((set) => ({
      path: `rules/${set}/core.json`,
      text: fs.readFileSync(path.join(rules, set, "core.json"), "utf8"),
      project: false,
    }));
    settings = { sources, switches: {} };
    runner = createRuleRunner(loadRules(settings), createTreeSitterSyntax(absPath(sourceRoot)));
    pool = createThreadPool({ installRoot: absPath(sourceRoot), threads: 1 });
    const packs = await loadPacks(files, absPath(rules));
    const python = packs.find((one) => one.pack.lang === "python");
    assert.ok(python);
    ({ pack } = python);
    testRunner = createTestRunner({ process: createProcess(), files, machine, home: home.at("home") });
  });
  after(async () => {
    await pool[Symbol.asyncDispose]();
    runner[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  /** All gates over the tree that `change` makes of `base`; undefined deletes. */
  async function judged(
    change: Readonly<Record<string, string | undefined>>,
    base = start,
  ): Promise<Readonly<Record<string, readonly string[]>>> {
    using tree = new TempDir();
    const after_ = new Map(Object.entries(base));
    for (const [name, text] of Object.entries(change)) {
      if (text === undefined) after_.delete(name);
      else after_.set(name, text);
    }
    for (const [name, text] of after_) {
      fs.mkdirSync(path.dirname(tree.at(name)), { recursive: true });
      fs.writeFileSync(tree.at(name), text);
    }
    const dirPath = repoPath(dir);
    const testsPath = repoPath(at("Tests.py"));
    const registry = repoPath(".features.json");
    assert.ok(dirPath !== undefined && testsPath !== undefined && registry !== undefined);
    const chosen = await testRunner.choose(pack, { root: tree.path, tests: testsPath, dir: dirPath }, never);
    assert.ok(chosen.kind === "command", JSON.stringify(chosen));
    const sink = new RecordingSink();
    const input: GateInput = {
      contract: Contract.parse({
        id: "Invoice",
        title: "Billing/Invoice",
        goal: "g",
        allowed: [`${dir}/**`, ...Object.values(pack.roles).map((name) => at(String(name)))],
        protected: [at("spec.md"), ...pack.rootFiles],
        checks: [
          {
            name: "tests",
            argv: [...chosen.command.argv],
            report: "junit",
            env: { ...chosen.command.env },
            timeout_s: 60,
          },
        ],
        acceptance: [{ id: "1", text: "sums", check: "tests" }],
      }),
      attempt: 1,
      root: tree.path,
      change: changeOf("base", new Map(Object.entries(base)), after_),
      report: report(),
      slice: {
        target: { domain: "Billing", name: "Invoice" },
        dir: dirPath,
        pack,
        controller: true,
        registry,
        spec: specFacts(spec, undefined),
      },
      soFar: [],
      attemptDir: { relative: "Invoice/attempt-1", absolute: home.at("run", "Invoice", "attempt-1") },
      sink,
      read: (name) => files.read(tree.at(name)),
      readBase: (name) => Promise.resolve(base[name] === undefined ? undefined : new TextEncoder().encode(base[name])),
    };
    const gates: readonly Gate[] = createGates({
      book: loadRules(settings),
      syntax: createTreeSitterSyntax(absPath(sourceRoot)),
      runner,
      pool,
      settings,
      listFiles: () =>
        Promise.resolve(
          [...after_.keys()].flatMap((name): readonly RepoPath[] => {
            const known = repoPath(name);
            return known === undefined ? [] : [known];
          }),
        ),
      checkSpec,
      exact: {
        extensions: pack.extensions,
        syntax: createPythonCompile({
          process: createProcess(),
          env: checkEnvironment(machine, home.at("home")),
          cwd: home.path,
        }),
      },
      tests: testRunner,
      process: createProcess(),
      env: checkEnvironment(machine, home.at("home")),
      ids: { next: (prefix) => `${prefix}-1` },
      judge: judgeOff,
      limits: { acceptRevise: 0.85, acceptWarn: 0.7 },
    });
    const out: Record<string, readonly string[]> = {};
    let soFar: readonly Finding[] = [];
    for (const gate of gates) {
      const { result } = await runGate(gate, { ...input, soFar }, new FakeClock(), never);
      if (result.kind === "ran") {
        if (result.findings.length > 0) out[gate.id] = result.findings.map(short);
        soFar = [...soFar, ...result.findings];
      } else out[gate.id] = [result.kind === "skipped" ? `skipped: ${result.why}` : `broken: ${result.error.message}`];
    }
    assert.ok(!fs.readdirSync(tree.at(dir)).includes("__pycache__"), "byte code was written");
    return out;
  }
  const judgeIsOff = { acceptance: ["skipped: the judge is off: no judge is configured"] };
  const notRun = (why: string): readonly string[] => [
    `skipped: running it makes no sense before this is mended: ${why}`,
  ];

  it("the order of the table", () =>
    assert.deepEqual(
      createGates({
        book: loadRules({ sources: [], switches: {} }),
        syntax: createTreeSitterSyntax(absPath(sourceRoot)),
        runner,
        pool,
        settings,
        listFiles: () => Promise.resolve([]),
        checkSpec,
        tests: testRunner,
        process: createProcess(),
        env: {},
        ids: { next: (prefix) => prefix },
        judge: judgeOff,
        limits: { acceptRevise: 0.85, acceptWarn: 0.7 },
      }).map(({ id, phase }) => `${phase} ${id}`),
      [
        "readiness readiness",
        ...[
          "report",
          "extraction",
          "truncation",
          "scope",
          "appearance",
          "integrity",
          "tests",
          "special-cases",
          "spec",
          "structure",
          "standards",
          "constitution",
          "root-files",
          "registry-sync",
          "checks",
        ].map((id) => `change ${id}`),
        "judgement acceptance",
      ],
    ));

  it("a good slice passes every gate, its tests run, nothing is left in the tree", async () =>
    assert.deepEqual(await judged(good), judgeIsOff));

  it("a red test comes back with its place and output", async () => {
    const out = await judged({
      ...good,
      [at("Handler.py")]: handler.replace("sum(request.lines)", "len(request.lines)"),
    });
    assert.deepEqual(out, {
      ...judgeIsOff,
      checks: [`FAIL check_failed ${at("Tests.py")}:10`, `FAIL check_failed ${at("Tests.py")}:19`],
    });
  });

  it("an import that fails is red", async () => {
    const out = await judged({
      ...good,
      [at("Handler.py")]: handler.replace("Request, Response", "Request, Response, Nothing  # noqa"),
    });
    assert.ok(
      out["checks"]?.some((one) => one.startsWith("FAIL check_failed")),
      JSON.stringify(out),
    );
  });

  it("a syntax error is found exactly, and nothing is run", async () => {
    const out = await judged({ ...good, [at("Handler.py")]: handler.replace("def handle", "def def handle") });
    assert.ok(out["standards"]?.includes(`FAIL syntax ${at("Handler.py")}:5`), JSON.stringify(out));
    assert.ok(out["checks"]?.[0]?.startsWith("skipped: running it makes no sense"), JSON.stringify(out));
  });

  it("an unused import, PEP 8, a bare except", async () => {
    const bad = handler
      .replace('"""Invoice: rules."""\n', '"""Invoice: rules."""\nimport os\n')
      .replace("    return", "    try:\n        pass\n    except:\n        raise\n    return");
    const out = await judged({ ...good, [at("Handler.py")]: bad });
    assert.deepEqual(out["standards"], [
      `FAIL py.unused-import ${at("Handler.py")}:2`,
      `FAIL pep8.E722 ${at("Handler.py")}:12`,
    ]);
  });

  it("a missing and an empty Tests file", async () => {
    const { [at("Tests.py")]: _tests, ...rest } = good;
    const gone = await judged(rest);
    assert.deepEqual(
      [gone["structure"], gone["checks"]],
      [[`FAIL slice_file_missing ${at("Tests.py")}`], notRun("Tests.py (tests) is missing")],
    );
    const empty = await judged({ ...rest, [at("Tests.py")]: "\n" });
    assert.ok(empty["structure"]?.includes(`FAIL tests_empty ${at("Tests.py")}`));
    assert.deepEqual(empty["checks"], notRun("Tests.py holds no tests"));
  });

  it("a Tests file without tests, and one that skips itself", async () => {
    const none = await judged({ ...good, [at("Tests.py")]: '"""Invoice: tests."""\n' });
    assert.ok(none["checks"]?.[0] === "FAIL check_ran_nothing", JSON.stringify(none));
    const skipping = await judged({
      ...good,
      [at("Tests.py")]: tests.replace("def test_sum", '@pytest.mark.skip(reason="later")\ndef test_sum'),
    });
    assert.ok(
      skipping["tests"]?.some((one) => one.startsWith(`FAIL skip_marker ${at("Tests.py")}`)),
      JSON.stringify(skipping),
    );
    assert.ok(skipping["checks"]?.[0]?.startsWith("skipped"));
  });

  it("tests that end the process by themselves do not pass", async () => {
    const out = await judged({
      ...good,
      [at("Tests.py")]: `${tests}\n\ndef test_zz() -> None:\n    import os\n    os._exit(0)\n`,
    });
    assert.ok(
      [...(out["integrity"] ?? []), ...(out["checks"] ?? [])].some((one) => one.startsWith("FAIL")),
      JSON.stringify(out),
    );
  });

  it("assertions taken away", async () => {
    const base = { ...start, ...good };
    const out = await judged(
      {
        [at("Tests.py")]: tests.replace(
          "    assert handle(Request(lines=[1, 2])).total == 3\n",
          "    handle(Request(lines=[1, 2]))\n",
        ),
      },
      base,
    );
    assert.ok(
      out["tests"]?.some((one) => one.startsWith("FAIL assertion_removed")),
      JSON.stringify(out),
    );
  });

  it("a secret is found and never shown", async () => {
    const secret = ["ghp", "_", "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"].join("");
    const out = await judged({ ...good, [at("Handler.py")]: `${handler}\n\nTOKEN: str = "${secret}"\n` });
    assert.ok(
      out["integrity"]?.some((one) => one.startsWith("FAIL secret ")),
      JSON.stringify(out),
    );
    assert.ok(!JSON.stringify(out).includes(secret));
    assert.ok(out["checks"]?.[0]?.startsWith("skipped"));
  });

  it("files outside the slice, root files, the registry", async () => {
    const out = await judged({
      ...good,
      "src/app.py": "x = 1\n",
      "pyproject.toml": "[project]\n",
      ".features.json": "{}\n",
    });
    assert.deepEqual(out["scope"]?.toSorted(), [
      "FAIL manifest_touched pyproject.toml:2",
      "FAIL out_of_scope .features.json",
      "FAIL out_of_scope src/app.py",
      "FAIL protected_touched pyproject.toml",
    ]);
    assert.deepEqual(out["registry-sync"], ["FAIL registry_unsynced .features.json"]);
    assert.ok(out["checks"]?.[0]?.startsWith("skipped"));
  });

  it("a project without root files and AGENTS.md: told, not failed, named as built in", async () => {
    const { "AGENTS.md": _agents, ".python-version": _version, "pyproject.toml": _project, ...bare } = start;
    const out = await judged(good, bare);
    const all = Object.values(out).flat();
    assert.deepEqual(
      all.filter((one) => one.startsWith("FAIL")),
      [],
      JSON.stringify(out),
    );
    assert.ok(
      out["constitution"]?.every((one) => one.startsWith("WARN constitution.")),
      JSON.stringify(out),
    );
  });

  it("a stub is no implementation", async () => {
    const out = await judged({
      ...good,
      [at("Handler.py")]: handler.replace(/ {4}if any[\s\S]*$/, '    raise NotImplementedError("later")\n'),
    });
    assert.ok(
      Object.values(out)
        .flat()
        .some((one) => one.startsWith("FAIL") && one.includes("Handler.py")),
      JSON.stringify(out),
    );
  });

  it("a spec that is not fit blocks", async () => {
    const out = await judged({}, { ...start, ...good, [at("spec.md")]: "# Invoice\n" });
    assert.ok(
      out["readiness"]?.some((one) => one.startsWith("FAIL spec.section")),
      JSON.stringify(out),
    );
  });
});
