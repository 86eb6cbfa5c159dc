import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../../shared/adapters/files.ts";
import { ignoreMatcher } from "../../../shared/base/ignore.ts";
import { absPath, globMatcher, inRoot, type RepoPath } from "../../../shared/base/paths.ts";
import { acceptanceOf, contractOf, isMarkedProtected } from "../../../shared/features/contract-of.ts";
import { fewShots } from "../../../shared/features/few-shot.ts";
import { type LoadedPack, loadPacks, mainPack, packOfSlice, requiredFiles } from "../../../shared/features/packs.ts";
import { featureIn, openProject } from "../../../shared/features/registry-space.ts";
import { isScaffold, scaffoldFiles } from "../../../shared/features/scaffold.ts";
import { maxScannedFolders, type Scan, scanSlices } from "../../../shared/features/scan.ts";
import { checkSpec } from "../../../shared/features/spec-check.ts";
import { specFromTemplate } from "../../../shared/features/spec-write.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { targetText } from "../../../shared/model/target.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { sourceRoot } from "../../support/source-root.ts";

const root = absPath("/repo");
const never = new AbortController().signal;
const rules = inRoot(absPath(sourceRoot), "rules");
const invoice = { domain: "Billing", name: "Invoice" };
const slice = {
  "__init__.py": "",
  "Schema.py": "S = 1\n",
  "Handler.py": "def handle():\n    return 1\n",
  "Tests.py": "def test_a():\n    pass\n",
  "spec.md": "# x\n",
};

let python: LoadedPack;
before(async () => {
  const found = (await loadPacks(createFiles(), rules)).find(({ pack }) => pack.lang === "python");
  assert.ok(found);
  python = found;
});

function tree(...folders: readonly (readonly [string, Readonly<Record<string, string>>])[]): Record<string, string> {
  return Object.fromEntries(
    folders.flatMap(([folder, files]) =>
      Object.entries(files).map(([name, text]) => [`/repo/${folder}/${name}`, text]),
    ),
  );
}

async function scanned(files: MemoryFiles): Promise<Scan> {
  return scanSlices({ files, project: await openProject(files, root), packs: [python], paths: [] }, never);
}

describe("packs", () => {
  const minimal = {
    lang: "x",
    title: "X",
    extensions: [".x"],
    roles: { schema: "S.x", handler: "H.x", tests: "T.x" },
    templates: {},
    test: { argv: ["{runner}"], runners: [{ argv: ["x"] }], report: "junit", missing: "none" },
    grammar: "x",
  };
  const load = (text: string, lang = "x"): Promise<readonly LoadedPack[]> =>
    loadPacks(new MemoryFiles({ [`/rules/${lang}/pack.json`]: text }), absPath("/rules"));

  for (const [name, change, message] of [
    ["torn", () => "{", /rules\/x\/pack.json:1/],
    ["another folder", () => JSON.stringify({ ...minimal, lang: "y" }), /the folder is x/],
    [
      "a role that leaves the slice",
      () => JSON.stringify({ ...minimal, roles: { ...minimal.roles, tests: "../T.x" } }),
      /roles.tests|plain file name/,
    ],
    [
      "a template of no role",
      () => JSON.stringify({ ...minimal, templates: { view: "V.x" } }),
      /templates.view names no role/,
    ],
    [
      "a template that is not there",
      () => JSON.stringify({ ...minimal, templates: { handler: "H.x" } }),
      /template H.x of handler/,
    ],
  ] as const) {
    it(`refuses a pack with ${name}`, async () => {
      await assert.rejects(
        load(change()),
        (error) => isOrchError(error, "rules.invalid") && message.test(error.message),
      );
    });
  }

  it("an addition stands in for the installed file, or adds a language", async () => {
    const files = new MemoryFiles({ "/rules/x/pack.json": JSON.stringify(minimal) });
    const packs = await loadPacks(files, absPath("/rules"), [
      { lang: "x", path: ".orch/rules/x/pack.json" as RepoPath, text: JSON.stringify({ ...minimal, title: "Own" }) },
      { lang: "y", path: ".orch/rules/y/pack.json" as RepoPath, text: JSON.stringify({ ...minimal, lang: "y" }) },
    ]);
    assert.deepEqual(
      packs.map(({ pack }) => `${pack.lang} ${pack.title}`),
      ["x Own", "y X"],
    );
  });

  it("is chosen by the slice's files, then the manifest, then the sources, then Python", async () => {
    const [other] = await load(JSON.stringify({ ...minimal, manifests: ["x.toml"] }));
    assert.ok(other);
    const packs = [python, other];
    const main = (...paths: string[]): string | undefined =>
      mainPack(packs, paths as RepoPath[], "apps/web")?.pack.lang;
    assert.equal(packOfSlice(packs, ["S.x", "H.x", "Tests.py"])?.pack.lang, "x");
    assert.equal(packOfSlice(packs, ["README.md"]), undefined);
    assert.deepEqual(
      [
        main(),
        main("a.x"),
        main("a.x", "pyproject.toml"),
        main("apps/web/x.toml", "pyproject.toml"),
        main("x.toml", "pyproject.toml", "a.x", "b.x", "c.py"),
      ],
      ["python", "x", "python", "x", "x"],
    );
  });
});

describe("scaffold", () => {
  const golden = path.join(sourceRoot, "test", "golden", "scaffold-python");

  it("writes the golden tree", async () => {
    const project = await openProject(new MemoryFiles(), root);
    const feature = featureIn(project.spaces[0], invoice);
    const files = [
      { path: feature.spec, text: specFromTemplate(python.templates["spec"] ?? "", invoice, "") },
      ...scaffoldFiles(python, feature, { controller: true }),
    ];
    const made = Object.fromEntries(files.map(({ path: at, text }) => [at, text]));
    if (process.env["RESET_GOLDEN"] === "1") {
      fs.rmSync(golden, { recursive: true, force: true });
      for (const [at, text] of Object.entries(made)) {
        fs.mkdirSync(path.dirname(path.join(golden, at)), { recursive: true });
        fs.writeFileSync(path.join(golden, at), text);
      }
    }
    const expected = Object.fromEntries(
      fs
        .readdirSync(golden, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath, entry.name))
        .map((at) => [path.relative(golden, at).replaceAll("\\", "/"), fs.readFileSync(at, "utf8")]),
    );
    assert.deepEqual(made, expected);
  });

  it("has no placeholder left, no controller when none is wanted, and a spec whose only faults are gaps", async () => {
    const project = await openProject(new MemoryFiles(), root);
    const feature = featureIn(project.spaces[0], invoice);
    const files = scaffoldFiles(python, feature, { controller: false });
    assert.deepEqual(
      files.map(({ path: at }) => at.slice(feature.dir.length + 1)),
      ["Schema.py", "Handler.py", "Tests.py", "__init__.py"],
    );
    assert.ok(files.every(({ text }) => !text.includes("{{")));
    const findings = checkSpec(specFromTemplate(python.templates["spec"] ?? "", invoice, "Totals."), {
      path: feature.spec,
      feature: "Invoice",
    });
    assert.deepEqual(
      findings.map(({ severity, rule }) => `${severity} ${rule}`),
      ["WARN spec.empty", "WARN spec.empty", "FAIL spec.rules"],
    );
    const handler = files.find(({ role }) => role === "handler")?.text ?? "";
    assert.deepEqual(
      [isScaffold(python, feature, handler.replaceAll("\n", "\r\n")), isScaffold(python, feature, `${handler}x = 1\n`)],
      [true, false],
    );
  });
});

describe("scanSlices", () => {
  it("finds slices by structure and tells registered from unregistered", async () => {
    const files = new MemoryFiles({
      "/repo/.features.json": JSON.stringify({ known_features: { Invoice: "Billing", Gone: "Billing", Half: "Shop" } }),
      ...tree(
        ["features/Billing/Invoice", { ...slice, "Controller.py": "" }],
        ["features/Billing/Extra", slice],
        ["features/Shop/Half", { "Schema.py": "", "spec.md": "" }],
        ["features/Shop/Draft", { "spec.md": "" }],
        ["features/Shop/NoSlice", { "Tests.py": "def test_x(): pass\n" }],
        ["features/Shop", { "Tests.py": "", "Handler.py": "", "Schema.py": "" }],
        ["features/Shop/con", slice],
        ["features/__pycache__/x", slice],
        ["features/.hidden/x", slice],
        ["tests/Billing/Invoice", slice],
      ),
    });
    const { features, skipped } = await scanned(files);
    assert.deepEqual(
      features.map((one) => [
        targetText(one.feature.target),
        one.registered,
        one.complete,
        one.missing.join(),
        one.controller,
      ]),
      [
        ["Billing/Extra", false, true, "", false],
        ["Billing/Gone", true, false, requiredFiles(python.pack, false).join(), false],
        ["Billing/Invoice", true, true, "", true],
        ["Shop/Draft", false, false, "Schema.py,Handler.py,Tests.py,__init__.py", false],
        ["Shop/Half", true, false, "Handler.py,Tests.py,__init__.py", false],
      ],
    );
    assert.deepEqual(
      skipped.map(({ path: at }) => at),
      ["features/Shop/con"],
    );
  });

  it("follows links inside the repository only, and no loop holds it up", async () => {
    const files = new MemoryFiles({
      ...tree(["shelf/Invoice", slice]),
      "/outside/Thing/Schema.py": "",
      "/outside/Thing/Handler.py": "",
      "/outside/Thing/Tests.py": "",
    });
    await files.symlink("../../shelf/Invoice", absPath("/repo/features/Billing/Invoice"));
    await files.symlink("/outside", absPath("/repo/features/Leak"));
    await files.symlink("../../../outside/Thing", absPath("/repo/features/Billing/Thing"));
    await files.symlink(".", absPath("/repo/features/Billing/Loop"));
    await files.symlink("nowhere", absPath("/repo/features/Billing/Broken"));
    const { features, skipped } = await scanned(files);
    assert.deepEqual(
      features.map(({ feature }) => targetText(feature.target)),
      ["Billing/Invoice"],
    );
    assert.deepEqual(skipped.map(({ path: at }) => at).toSorted(), ["features/Billing/Thing", "features/Leak"]);
  });

  it("does not look into a features folder that a link leads away", async () => {
    const files = new MemoryFiles({
      "/repo/.features.json": '{"known_features": {"Invoice": "Billing"}}',
      "/outside/Billing/Invoice/Schema.py": "",
    });
    await files.symlink("/outside", absPath("/repo/features"));
    const { features, skipped } = await scanned(files);
    assert.deepEqual(
      [features.map(({ complete }) => complete), skipped.map(({ path: at }) => at)],
      [[false], ["features"]],
    );
  });

  it("stops at its limit and says so", async () => {
    const files = new MemoryFiles();
    files.list = (at) =>
      Promise.resolve(
        at === "/repo/features"
          ? [{ name: "D", kind: "directory" }]
          : at === "/repo/features/D"
            ? Array.from({ length: maxScannedFolders + 5 }, (_, n) => ({ name: `F${n}`, kind: "directory" }))
            : [],
      );
    await files.makeDir(absPath("/repo/features"));
    const { skipped } = await scanned(files);
    assert.match(skipped[0]?.why ?? "", /more than 20000 folders/);
  });

  it("rejects when it is aborted", async () => {
    const files = new MemoryFiles(tree(["features/Billing/Invoice", slice]));
    const project = await openProject(files, root);
    await assert.rejects(scanSlices({ files, project, packs: [python], paths: [] }, AbortSignal.abort()), {
      name: "AbortError",
    });
  });
});

describe("fewShots", () => {
  const registry = (names: readonly string[]): string =>
    JSON.stringify({ known_features: Object.fromEntries(names.map((name) => [name, "Billing"])) });
  const sized = (size: number): Record<string, string> => ({ ...slice, "Handler.py": `x = "${"a".repeat(size)}"\n` });

  async function shots(files: MemoryFiles, ignored = "", count = 2): Promise<readonly string[]> {
    const project = await openProject(files, root);
    const scan = await scanned(files);
    const wish = {
      root,
      feature: featureIn(project.spaces[0], { domain: "Billing", name: "New" }),
      lang: "python",
      scan,
      count,
      ignored: ignoreMatcher(ignored),
    };
    return (await fewShots(files, wish, never)).map(({ target, files: some }) => `${target.name}:${some.length}`);
  }

  it("takes the smallest working neighbours, whole", async () => {
    const names = ["Big", "Small", "Middle", "New", "Stub", "Partial", "Huge"];
    const project = await openProject(new MemoryFiles(), root);
    const stub = scaffoldFiles(python, featureIn(project.spaces[0], { domain: "Billing", name: "Stub" }), {
      controller: false,
    });
    const files = new MemoryFiles({
      "/repo/.features.json": registry(names),
      ...tree(
        ["features/Billing/Big", sized(2000)],
        ["features/Billing/Small", sized(1)],
        ["features/Billing/Middle", sized(100)],
        ["features/Billing/New", slice],
        ["features/Billing/Partial", { "Schema.py": "" }],
        ["features/Billing/Huge", sized(40_000)],
        ["features/Billing/Unregistered", slice],
        ["features/Shop/Other", slice],
        [
          "features/Billing/Stub",
          {
            ...slice,
            ...Object.fromEntries(stub.map(({ path: at, text }) => [at.slice(at.lastIndexOf("/") + 1), text])),
          },
        ],
      ),
    });
    assert.deepEqual(await shots(files), ["Small:4", "Middle:4"]);
    assert.deepEqual(await shots(files, "", 10), ["Small:4", "Middle:4", "Big:4"]);
    assert.deepEqual(await shots(files, "", 0), []);
    assert.deepEqual(await shots(files, "**/Small/Handler.py"), ["Middle:4", "Big:4"]);
  });

  it("takes no binary file and no link", async () => {
    const files = new MemoryFiles({
      "/repo/.features.json": registry(["A", "B"]),
      ...tree(["features/Billing/A", slice], ["features/Billing/B", slice]),
      "/etc/secret": "x",
    });
    files.put("/repo/features/Billing/A/Handler.py", Uint8Array.of(0xff, 0xfe, 0));
    await files.remove(absPath("/repo/features/Billing/B/Handler.py"));
    await files.symlink("/etc/secret", absPath("/repo/features/Billing/B/Handler.py"));
    assert.deepEqual(await shots(files), []);
  });
});

describe("contractOf", () => {
  const spec =
    "# Invoice\n\n## Overview\n\nTotals.\n\n## Rules\n\n1. Sum.\n\n## Errors\n\n| case | when | what the caller gets |\n|---|---|---|\n| Empty | no lines | `EmptyError` |\n\n## Examples\n\n| input | expected |\n|---|---|\n| `[1]` | `1` |\n";

  it("is the feature as one contract", async () => {
    const project = await openProject(
      new MemoryFiles({ "/repo/.features.json": '{"features_dir": "src/[x] slices"}' }),
      root,
    );
    const feature = { ...featureIn(project.spaces[0], invoice), id: "Invoice.web" };
    const contract = contractOf({
      feature,
      pack: python.pack,
      spec,
      request: " fast please ",
      controller: false,
      tests: {
        argv: ["python3", "-m", "pytest", "--junitxml={report}"],
        env: { A: "{root}" },
        runner: "python3 -m pytest",
        timeoutMs: 60_000,
      },
      maxAttempts: 4,
      marked: ["src/[x] slices/Billing/Invoice/rates.csv" as RepoPath],
      fewShots: ["features/Billing/Tax/Handler.py" as RepoPath],
      existingLines: 100,
    });
    const dir = "src/[x] slices/Billing/Invoice";
    assert.deepEqual(
      { ...contract, protected: contract.protected.slice(0, 2) },
      {
        ...contract,
        id: "Invoice.web",
        title: "Billing/Invoice",
        goal: `Implement ${dir}/spec.md, tests included.\n\nTotals.\n\nThe person adds: fast please`,
        non_goals: ["no Controller.py: this feature has no controller"],
        max_attempts: 4,
        allowed: [
          "src/\\[x\\] slices/Billing/Invoice/**",
          `${dir}/Schema.py`,
          `${dir}/Handler.py`,
          `${dir}/Tests.py`,
          `${dir}/__init__.py`,
        ],
        protected: [`${dir}/spec.md`, "AGENTS.md"],
        max_diff_lines: 2200,
        max_test_diff_lines: 6600,
        acceptance: [
          { id: "example-1", text: "[1] -> 1", check: "tests" },
          { id: "error-1", text: "Empty: when no lines, the caller gets EmptyError", check: "tests" },
        ],
        checks: [
          {
            name: "tests",
            argv: ["python3", "-m", "pytest", "--junitxml={report}"],
            timeout_s: 60,
            cwd: ".",
            report: "junit",
            env: { A: "{root}" },
          },
        ],
        examples: [{ input: "[1]", expected: "1" }],
        rules: ["Sum."],
        include_untracked: [dir, ".features.json"],
      },
    );
    assert.ok(contract.protected.includes(`${dir}/rates.csv`) && contract.protected.includes("pyproject.toml"));
    assert.ok(contract.protected.includes(`${dir}/Controller.py`), "a model may not add what the person left out");
    const allowed = globMatcher(contract.allowed);
    assert.deepEqual(
      [`${dir}/Handler.py`, `${dir}/deep/x.py`, `${dir}2/x.py`, "src/x slices/Billing/Invoice/a.py"].map(allowed),
      [true, true, false, false],
    );
  });

  it("maps every acceptance row to the tests check, at most sixty", () => {
    const rows = Array.from({ length: 80 }, (_, at) => `| ${at} | ${at} |`).join("\n");
    const many = acceptanceOf(spec.replace("| `[1]` | `1` |", rows));
    assert.deepEqual(
      [many.length, new Set(many.map(({ id }) => id)).size, many.every(({ check }) => check === "tests")],
      [60, 60, true],
    );
  });

  for (const [text, marked] of [
    ["# orch: protected\nx = 1\n", true],
    ["#!/usr/bin/env python\n\n  // ORCH: protected by Ann\n", true],
    ["<!-- orch: protected -->\n", true],
    ['"""orch: protected"""\n', true],
    ["x = 'orch: protected'\n", false],
    ["\n\n\n\n\n# orch: protected\n", false],
    ["# orch: protectedish\n", false],
  ] as const) {
    it(`${JSON.stringify(text)} ${marked ? "is" : "is not"} marked`, () =>
      assert.equal(isMarkedProtected(text), marked));
  }
});

describe("ignoreMatcher", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["secret.md", "a/b/secret.md", true],
    ["/secret.md", "a/secret.md", false],
    ["a/*.md", "a/x.md", true],
    ["a/*.md", "b/a/x.md", false],
    ["build/", "x/build/y.py", true],
    ["build/", "x/build", false],
    ["*.py\n!keep.py", "a/keep.py", false],
    ["a/\n!a/keep.py", "a/keep.py", true],
    ["# comment\n\n\\#odd", "#odd", true],
    ["x{1}.md", "x{1}.md", true],
    ["x{1}.md", "x1.md", false],
    ["**/private/**", "a/private/b.md", true],
    ["trailing.md  ", "trailing.md", true],
    [".env*", "a/.env.local", true],
    ["", "a", false],
  ];
  for (const [text, at, ignored] of rows)
    it(`${JSON.stringify(text)} ${ignored ? "ignores" : "leaves"} ${at}`, () =>
      assert.equal(ignoreMatcher(text)(at), ignored));
});
