import assert from "node:assert/strict";
import type { ChangedFile } from "../../../shared/model/change.ts";
import { Contract, type ContractInput } from "../../../shared/model/contract.ts";
import { classOf } from "../../../shared/gates/file-class.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import { createScopeGate, refusedFiles } from "../../../shared/gates/scope.ts";
import { featureContract, found, type InputFacts, sliceDir, sliceFacts } from "../../support/gate-input.ts";

const contract = (more: Partial<ContractInput> = {}): Contract =>
  Contract.parse({ id: "A", title: "a", goal: "g", allowed: ["src/**"], ...more });
const changed = (path: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  status: "modified",
  path,
  oldMode: "100644",
  newMode: "100644",
  added: 1,
  removed: 1,
  binary: false,
  hunks: [{ oldStart: 1, newStart: 1, removed: ["a"], added: ["b"] }],
  ...more,
});
const added = (path: string, more: Partial<ChangedFile> = {}): ChangedFile =>
  changed(path, { status: "added", oldMode: "000000", removed: 0, ...more });
const deleted = (path: string): ChangedFile => changed(path, { status: "deleted", newMode: "000000" });

const link = (target: string): ChangedFile =>
  added("src/l", { newMode: "120000", hunks: [{ oldStart: 0, newStart: 1, removed: [], added: [target] }] });

describe("new files that were refused for being there", () => {
  const found = (rule: string, path: string, severity: "FAIL" | "WARN" = "FAIL"): Finding => ({
    rule,
    severity,
    message: "m",
    path,
    evidence: "",
    remedy: "r",
  });
  for (const [name, finding, file, gone] of [
    ["out of scope", found("out_of_scope", "x.py"), added("x.py"), ["x.py"]],
    ["a test configuration", found("test_config_touched", "s/conftest.py"), added("s/conftest.py"), ["s/conftest.py"]],
    ["a name nobody can import", found("file_name", "s/my-file.py"), added("s/my-file.py"), ["s/my-file.py"]],
    ["one that was there before", found("out_of_scope", "x.py"), changed("x.py"), []],
    ["one whose content is wrong", found("py.eval", "s/x.py"), added("s/x.py"), []],
    ["one that is only noted", found("junk_file", "s/x.pyc", "WARN"), added("s/x.pyc"), []],
  ] as const)
    it(name, () => assert.deepEqual(refusedFiles([finding], [file]), gone));
});

/** Each row: the smallest change that must be found, or the nearest that must not. */
const rows: readonly [string, Partial<ContractInput>, readonly ChangedFile[], readonly string[]][] = [
  ["nothing changed", {}, [], ["FAIL no_change"]],
  ["read only, and nothing changed", { mode: "read_only" }, [], []],
  ["read only, and it wrote", { mode: "read_only" }, [changed("src/a.py")], ["FAIL read_only_violation src/a.py"]],
  ["inside", {}, [changed("src/a.py"), added("src/x/y.py")], []],
  ["outside", {}, [changed("lib/a.py")], ["FAIL out_of_scope lib/a.py"]],
  ["a name that only begins alike", {}, [added("src2/a.py")], ["FAIL out_of_scope src2/a.py"]],
  ["* does not cross folders", { allowed: ["src/*"] }, [added("src/x/a.py")], ["FAIL out_of_scope src/x/a.py"]],
  ["* stays in its folder", { allowed: ["src/*"] }, [added("src/a.py")], []],
  ["case counts", {}, [added("SRC/a.py")], ["FAIL out_of_scope SRC/a.py"]],
  ["protected", { protected: ["src/keep/**"] }, [changed("src/keep/a.py")], ["FAIL protected_touched src/keep/a.py"]],
  ["beside what is protected", { protected: ["src/keep/**"] }, [changed("src/keep2/a.py")], []],
  [
    "a rename out of scope, both sides count",
    {},
    [changed("src/b.py", { status: "renamed", oldPath: "lib/a.py" })],
    ["FAIL out_of_scope lib/a.py"],
  ],
  [
    "a rename of a protected file",
    { protected: ["src/a.py"] },
    [changed("src/b.py", { status: "renamed", oldPath: "src/a.py" })],
    ["FAIL protected_touched src/a.py"],
  ],
  [
    "a copy leaves its source alone",
    {},
    [changed("src/b.py", { status: "copied", oldPath: "lib/a.py", oldMode: "000000" })],
    [],
  ],
  [
    "an existing test",
    { allowed: ["tests/**"] },
    [changed("tests/test_a.py")],
    ["FAIL existing_test_touched tests/test_a.py"],
  ],
  [
    "an existing test, deleted",
    { allowed: ["tests/**"] },
    [deleted("tests/test_a.py")],
    ["FAIL existing_test_touched tests/test_a.py"],
  ],
  [
    "an existing test, renamed away",
    { allowed: ["**"] },
    [changed("src/a.py", { status: "renamed", oldPath: "tests/test_a.py" })],
    ["FAIL existing_test_touched tests/test_a.py"],
  ],
  ["an existing test, named exactly", { allowed: ["tests/**", "tests/test_a.py"] }, [changed("tests/test_a.py")], []],
  ["a new test", { allowed: ["tests/**"] }, [added("tests/test_b.py")], []],
  ["a snapshot", { allowed: ["**"] }, [changed("src/a.snap")], ["FAIL existing_test_touched src/a.snap"]],
  ["a manifest", { allowed: ["**"] }, [changed("pyproject.toml")], ["FAIL manifest_touched pyproject.toml:1"]],
  [
    "a new manifest counts too",
    {},
    [added("src/requirements-dev.txt")],
    ["FAIL manifest_touched src/requirements-dev.txt"],
  ],
  ["a manifest, named exactly", { allowed: ["pyproject.toml"] }, [changed("pyproject.toml")], []],
  ["no manifest, only a like name", { allowed: ["**"] }, [changed("src/pyproject.toml.md")], []],
  ["git's files", { allowed: ["**"] }, [added(".gitattributes")], ["FAIL git_meta_touched .gitattributes"]],
  ["an agent's files", { allowed: ["**"] }, [added("src/CLAUDE.md")], ["FAIL agent_config_touched src/CLAUDE.md"]],
  [
    "an editor's files",
    { allowed: ["**"] },
    [added(".vscode/tasks.json")],
    ["FAIL agent_config_touched .vscode/tasks.json"],
  ],
  [
    "continuous integration",
    { allowed: ["**"] },
    [changed(".github/workflows/x.yml")],
    ["FAIL ci_touched .github/workflows/x.yml:1"],
  ],
  ["test configuration", {}, [added("src/conftest.py")], ["FAIL test_config_touched src/conftest.py"]],
  ["lint configuration", { allowed: ["**"] }, [changed("ruff.toml")], ["FAIL lint_config_touched ruff.toml:1"]],
  ["a link inside", {}, [link("x/../a.py")], []],
  ["a link out of the scope", {}, [link("../lib/a.py")], ["FAIL symlink_escape src/l"]],
  ["a link out of the repository", {}, [link("../../a.py")], ["FAIL symlink_escape src/l"]],
  ["an absolute link", {}, [link("/etc/passwd")], ["FAIL symlink_escape src/l"]],
  ["a link to a protected file", { protected: ["src/p.py"] }, [link("p.py")], ["FAIL symlink_escape src/l"]],
  [
    "a link that does not say where",
    {},
    [added("src/l", { newMode: "120000", hunks: [] })],
    ["FAIL symlink_escape src/l"],
  ],
  [
    "a file becomes a link",
    {},
    [{ ...link("/tmp/x"), status: "type-changed", oldMode: "100644" }],
    ["FAIL symlink_escape src/l"],
  ],
  [
    "a link becomes a file",
    {},
    [changed("src/l", { status: "type-changed", oldMode: "120000" })],
    ["FAIL file_type_change src/l"],
  ],
  ["a submodule", {}, [added("src/m", { newMode: "160000" })], ["FAIL submodule_change src/m"]],
  ["executable now", {}, [changed("src/a.sh", { newMode: "100755" })], ["WARN mode_change src/a.sh"]],
  ["executable from the start", {}, [added("src/a.sh", { newMode: "100755" })], []],
  [
    "a book on one line",
    {},
    [added("src/a.txt", { hunks: [{ oldStart: 0, newStart: 1, removed: [], added: ["x".repeat(200_001)] }] })],
    ["WARN large_file src/a.txt"],
  ],
  [
    "a long line",
    {},
    [added("src/a.txt", { hunks: [{ oldStart: 0, newStart: 1, removed: [], added: ["x".repeat(20_000)] }] })],
    [],
  ],
  ["a binary", {}, [added("src/a.bin", { binary: true, hunks: [] })], ["WARN binary_added src/a.bin"]],
  ["a binary taken away", {}, [{ ...deleted("src/a.bin"), binary: true, hunks: [] }], []],
  ["names one disk cannot hold both", {}, [added("src/A.py"), added("src/a.py")], ["FAIL path_collision src/a.py"]],
  [
    "accents in two forms",
    {},
    [added("src/\u00e9.py"), added("src/e\u0301.py")],
    ["FAIL path_collision src/e\u0301.py"],
  ],
  ["a rename that changes case only", {}, [deleted("src/A.py"), added("src/a.py")], []],
  ["over the budget", { max_diff_lines: 3 }, [changed("src/a.py", { added: 2, removed: 2 })], ["FAIL over_budget"]],
  ["at the budget", { max_diff_lines: 4 }, [changed("src/a.py", { added: 2, removed: 2 })], []],
  ["tests have their own, three times as large", { max_diff_lines: 2 }, [added("src/test_a.py", { added: 6 })], []],
  ["and may not pass it", { max_diff_lines: 2 }, [added("src/test_a.py", { added: 7 })], ["FAIL over_test_budget"]],
  [
    "or the one that is named",
    { max_diff_lines: 2, max_test_diff_lines: 1 },
    [added("src/test_a.py", { added: 2 })],
    ["FAIL over_test_budget"],
  ],
];

describe("gate: scope", () => {
  const gate = createScopeGate();
  for (const [name, more, files, wanted] of rows) {
    it(name, async () => assert.deepEqual(await found(gate, { files, contract: contract(more) }), wanted));
  }

  const feature = async (facts: InputFacts): Promise<readonly string[]> =>
    found(gate, { contract: featureContract(), slice: sliceFacts(), ...facts });
  it("a slice: its own files, the existing Tests file among them", async () =>
    assert.deepEqual(
      await feature({
        before: { [`${sliceDir}/Tests.py`]: "x\n" },
        after: { [`${sliceDir}/Tests.py`]: "y\n", [`${sliceDir}/Money.py`]: "z\n" },
      }),
      [],
    ));
  it("a slice: spec.md, its neighbour, another test of it", async () =>
    assert.deepEqual(
      await feature({
        before: { [`${sliceDir}/spec.md`]: "x\n", [`${sliceDir}/test_old.py`]: "x\n" },
        after: {
          [`${sliceDir}/spec.md`]: "y\n",
          [`${sliceDir}/test_old.py`]: "y\n",
          "features/Billing/InvoiceB/Handler.py": "z\n",
        },
      }),
      [
        "FAIL protected_touched features/Billing/Invoice/spec.md",
        "FAIL existing_test_touched features/Billing/Invoice/test_old.py",
        "FAIL out_of_scope features/Billing/InvoiceB/Handler.py",
      ],
    ));
});

describe("file classes", () => {
  const table: Readonly<Record<string, string | undefined>> = {
    ".git/config": "git_meta_touched",
    "a/.git/hooks/x": "git_meta_touched",
    ".gitignore": "git_meta_touched",
    ".husky/pre-commit": "git_meta_touched",
    ".orch/config.json": "agent_config_touched",
    "AGENTS.md": "agent_config_touched",
    ".mcp.json": "agent_config_touched",
    "x.code-workspace": "agent_config_touched",
    ".cursor/rules/a.mdc": "agent_config_touched",
    "uv.lock": "manifest_touched",
    "sub/package.json": "manifest_touched",
    "tox.ini": "test_config_touched",
    "evil.pth": "test_config_touched",
    "vitest.config.ts": "test_config_touched",
    "tsconfig.build.json": "lint_config_touched",
    Jenkinsfile: "ci_touched",
    "src/app.py": undefined,
    "src/git.py": undefined,
    "src/agents.md": undefined,
    "docs/package.md": undefined,
    "src/lockfile.py": undefined,
  };
  for (const [path, rule] of Object.entries(table))
    it(`${path}: ${rule ?? "plain"}`, () => assert.equal(classOf(path)?.rule, rule));
});
