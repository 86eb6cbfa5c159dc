import { createRequire } from "node:module";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { createThreadPool } from "../../shared/adapters/pool-threads.ts";
import { createPythonCompile } from "../../shared/adapters/python-compile.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { RuleSettings } from "../../shared/ports/pool.ts";
import { auditFile, textOf } from "../../shared/rulebook/audit-file.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { installedRules, realSyntax, runnerOf } from "../support/rulebook.ts";
import { sourceRoot } from "../support/source-root.ts";

/**
 * One whole process of the bench: `contender.js <what> <file with a list of files>`. Prints one JSON line
 * `{files, found}`: how many files it answered, and something that could not be known without doing the work.
 */
const twenty: Readonly<Record<"line" | "ast", readonly string[]>> = {
  line: ["pep8.W191", "pep8.W291", "pep8.W293", "pep8.E501", "pep8.E703", "pep8.E711", "pep8.E721", "constitution.8"],
  ast: [
    "swallowed_exception",
    "py.broad-except",
    "py.mutable-default",
    "py.eval",
    "py.assert-tuple",
    "py.star-import",
    "py.global",
    "py.os-system",
    "py.is-literal",
    "py.raise-notimplemented",
  ],
};
/** More of kind `ast`, to tell what each further one costs. */
const tenMore = ["py.shell-true", "py.breakpoint", "always_equal", "stub_left"];

const contenders: Readonly<Record<string, (files: readonly AbsPath[]) => Promise<{ files: number; found: number }>>> = {
  read: (files) =>
    Promise.resolve({ files: files.length, found: files.reduce((sum, file) => sum + fs.readFileSync(file).length, 0) }),
  "parse only": (files) => withRules(files, subset([]), true),
  "20 rules": (files) => withRules(files, subset([...twenty.line, "py.brackets", ...twenty.ast])),
  "24 rules": (files) => withRules(files, subset([...twenty.line, "py.brackets", ...twenty.ast, ...tenMore])),
  "all rules": (files) => withRules(files, everything()),
  "all rules, 2 threads": (files) => withThreads(files, 2),
  "all rules, 1 thread": (files) => withThreads(files, 1),
  "python compile": async (files) => {
    const syntax = createPythonCompile({
      process: createProcess(),
      env: { PATH: process.env["PATH"] ?? "" },
      cwd: absPath("/"),
    });
    const result = await syntax.check(files, new AbortController().signal);
    if (result.kind !== "checked") throw new Error(result.why);
    return {
      files: result.answers.size,
      found: [...result.answers.values()].filter(({ kind }) => kind === "ok").length,
    };
  },
  "ruff (wasm)": (files) => Promise.resolve(withRuff(files)),
  "5 files, warm": fiveFiles,
};

function everything(): RuleSettings {
  return { sources: installedRules(), switches: {} };
}

interface SetFile {
  readonly checks: readonly { readonly id: string; readonly kind: string; readonly group: string }[];
}

function subset(ids: readonly string[]): RuleSettings {
  const [python] = installedRules().filter(({ path: place }) => place === "rules/python/core.json");
  if (!python) throw new Error("rules/python/core.json is missing");
  const file = JSON.parse(python.text) as SetFile;
  const licence = {
    id: "bench.licence",
    group: "standards",
    kind: "text-required",
    severity: "WARN",
    message: "no licence",
    remedy: "Add one",
    pattern: "[Ll]icen[cs]e|[Cc]opyright",
  };
  const checks = [...file.checks.filter(({ id }) => ids.includes(id)), ...(ids.length === 0 ? [] : [licence])];
  if (ids.length > 0 && checks.length !== ids.length + 1)
    throw new Error(`some of the bench's rules are gone: ${checks.length} of ${ids.length + 1}`);
  const text = JSON.stringify({ ...file, checks: checks.map((check) => ({ ...check, default: "on" })) });
  return { sources: [{ path: python.path, text, project: false }], switches: {} };
}

async function withRules(
  files: readonly AbsPath[],
  settings: RuleSettings,
  parseOnly = false,
): Promise<{ files: number; found: number }> {
  if (parseOnly) return await parseAll(files);
  using runner = runnerOf(settings, realSyntax());
  let found = 0;
  for (const file of files) {
    const answer = await auditFile(runner, { path: path.relative("/", file), bytes: fs.readFileSync(file) });
    found += answer.kind === "audited" ? answer.findings.length : 0;
  }
  return { files: files.length, found };
}

async function parseAll(files: readonly AbsPath[]): Promise<{ files: number; found: number }> {
  const result = await realSyntax().matcher("python", [], []);
  if (result.kind !== "ready") throw new Error(result.why);
  using matcher = result.matcher;
  let found = 0;
  for (const file of files) {
    using parsed = matcher.parse(textOf(fs.readFileSync(file)), 60_000);
    found += parsed ? 1 : 0;
  }
  return { files: files.length, found };
}

async function withThreads(files: readonly AbsPath[], threads: number): Promise<{ files: number; found: number }> {
  await using pool = createThreadPool({ installRoot: absPath(sourceRoot), threads });
  const orders = files.map((at) => ({ path: path.relative("/", at), at }));
  const answers = await pool.audit(everything(), orders, new AbortController().signal);
  return {
    files: answers.length,
    found: answers.reduce((sum, one) => sum + (one.kind === "audited" ? one.findings.length : 0), 0),
  };
}

interface RuffModule {
  readonly Workspace: new (options: unknown, encoding: unknown) => { check(text: string): readonly unknown[] };
  readonly PositionEncoding: { readonly Utf16: unknown };
}

/** The nearest ruff has to the all-rules run: pycodestyle's codes, unused imports, a few bugbear and security ones. */
function withRuff(files: readonly AbsPath[]): { files: number; found: number } {
  const ruff = createRequire(import.meta.url)("@astral-sh/ruff-wasm-nodejs") as RuffModule;
  const select = [
    "E",
    "W",
    "F401",
    "F403",
    "F632",
    "F901",
    "B006",
    "S102",
    "S307",
    "S605",
    "S110",
    "PLW0603",
    "T100",
    "BLE001",
  ];
  const workspace = new ruff.Workspace(
    { preview: true, "line-length": 79, lint: { select } },
    ruff.PositionEncoding.Utf16,
  );
  let found = 0;
  for (const file of files) found += workspace.check(textOf(fs.readFileSync(file))).length;
  return { files: files.length, found };
}

/** What a gate pays for five files in a process that has its grammar: milliseconds, as `found`. */
async function fiveFiles(files: readonly AbsPath[]): Promise<{ files: number; found: number }> {
  const settings = everything();
  using runner = runnerOf(settings, realSyntax());
  if (loadRules(settings).broken.length > 0) throw new Error("a rule is broken");
  const usual = files.filter((file) => fs.statSync(file).size < 8000).slice(0, 25);
  const round = async (some: readonly AbsPath[]): Promise<number> => {
    const started = performance.now();
    for (const file of some) await auditFile(runner, { path: path.relative("/", file), bytes: fs.readFileSync(file) });
    return performance.now() - started;
  };
  await round(usual);
  const times: number[] = [];
  for (let at = 0; at < 25; at += 5) times.push(await round(usual.slice(at, at + 5)));
  return { files: 5, found: times.toSorted((a, b) => a - b)[2] ?? 0 };
}

if (process.argv[1] !== undefined && fs.realpathSync(process.argv[1]) === import.meta.filename) {
  const [, , what = "", list = ""] = process.argv;
  const contender = contenders[what];
  if (!contender) throw new Error(`no contender ${what}: ${Object.keys(contenders).join(", ")}`);
  const files = fs
    .readFileSync(list, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(absPath);
  process.stdout.write(`${JSON.stringify(await contender(files))}\n`);
}
