import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { absPath } from "../../shared/base/paths.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { loadInitKit } from "../../shared/app/init-kit.ts";
import { articlesText } from "../../shared/features/constitution.ts";
import { leftOut, packageName } from "../../shared/features/init-files.ts";
import { InitKit } from "../../shared/model/init-kit.ts";
import { readRuleFile } from "../../shared/model/rule-file.ts";
import type { Rule } from "../../shared/model/rule.ts";
import { assertGolden } from "../support/golden.ts";
import { sourceRoot } from "../support/source-root.ts";

const rulesOf = (set: string): readonly Rule[] => {
  const read = readRuleFile(fs.readFileSync(path.join(sourceRoot, "rules", set, "core.json"), "utf8"));
  return read.kind === "ok" ? read.checks.flatMap((check) => (check.kind === "rule" ? [check.rule] : [])) : [];
};
const installed = fs
  .readdirSync(path.join(sourceRoot, "rules"))
  .filter((name) => fs.existsSync(path.join(sourceRoot, "rules", name, "core.json")));
const python = rulesOf("python");

describe("the constitution that init writes", () => {
  it("agrees with the rules: 11 articles, each with every rule that holds it, and no rule without an article", async () => {
    const machine = {
      installRoot: absPath(sourceRoot),
      version: "",
      configDir: absPath("/c"),
      stateDir: absPath("/s"),
      cacheDir: absPath("/k"),
      env: {},
      platform: "posix" as const,
    };
    const kit = await loadInitKit(
      { files: createFiles(), process: createProcess(), machine },
      { folder: absPath("/srv/shop"), paths: [] },
      new AbortController().signal,
    );
    const text = kit.files.find((file) => file.path === "AGENTS.md")?.text ?? "";
    const numbers = [...text.matchAll(/^(\d+)\. \*\*/gm)].map((match) => Number(match[1]));
    assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    const blocks = text.split(/^(?=\d+\. \*\*)/m).slice(1);
    const languages = new Set(
      installed.filter((set) => fs.existsSync(path.join(sourceRoot, "rules", set, "pack.json"))),
    );
    const rules = installed.filter((set) => set === "python" || !languages.has(set)).flatMap(rulesOf);
    for (const rule of rules) {
      if (rule.group !== "constitution" && rule.article === undefined) continue;
      assert.ok(rule.article !== undefined, `${rule.id} belongs to no article`);
      assert.ok(blocks[rule.article - 1]?.includes(`\`${rule.id}\``), `${rule.id} is not in article ${rule.article}`);
    }
    assertGolden("init-python/AGENTS.md", text);
  });

  it("says which rules are off and which only warn, and refuses an article that nothing holds", () => {
    const articles = [
      { article: 2, title: "B", text: "b." },
      { article: 1, title: "A", text: "a." },
    ];
    const rules = [
      { id: "x.1", article: 1, severity: "FAIL", default: "on" },
      { id: "x.1.more", article: 1, severity: "WARN", default: "on" },
      { id: "x.2", article: 2, severity: "FAIL", default: "off" },
    ] as const;
    assert.equal(
      articlesText(articles, rules),
      "1. **A.** a.\n   Rules: `x.1`, `x.1.more` (warns).\n2. **B.** b.\n   Rule: `x.2` (off until it is switched on).",
    );
    assert.throws(() => articlesText([{ article: 3, title: "C", text: "c." }], rules), /article 3/);
  });

  it("has its words in order in every kit", () => {
    for (const set of installed) {
      const file = path.join(sourceRoot, "rules", set, "init", "init.json");
      if (!fs.existsSync(file)) continue;
      const kit = InitKit.parse(JSON.parse(fs.readFileSync(file, "utf8")));
      assert.deepEqual(
        kit.articles.map(({ article }) => article),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
      );
    }
  });
});

describe("leftOut", () => {
  const rows: readonly (readonly [string, readonly string[], string | undefined])[] = [
    [".python-version", [], undefined],
    [".python-version", [".python-version"], "there"],
    [".python-version", [".tool-versions"], "instead"],
    ["pyproject.toml", ["README.md"], undefined],
    ["pyproject.toml", ["setup.py"], "second"],
    ["pyproject.toml", ["requirements-dev.txt"], "second"],
    ["AGENTS.md", ["requirements.txt", ".tool-versions"], undefined],
    [".gitignore", [".gitignore"], "there"],
  ];
  for (const [file, names, wanted] of rows) {
    it(`${file} beside ${names.join(", ") || "nothing"}: ${wanted ?? "written"}`, () =>
      assert.equal(leftOut(file, names, python)?.kind, wanted));
  }
});

describe("packageName", () => {
  for (const [folder, name] of [
    ["shop", "shop"],
    ["My Shop ü!", "My-Shop-u"],
    ["..x..", "x"],
    ["日本", "project"],
    ["a_b.c-d", "a_b.c-d"],
  ] as const) {
    it(`${folder} -> ${name}`, () => assert.equal(packageName(folder), name));
  }
});
