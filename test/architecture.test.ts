// Who may import whom, as data, and the walk that holds every source file to it. A check is a function over a path and
// a text; each one is fed a synthetic violation below, so a check that can no longer fail is itself a red test.
import assert from "node:assert/strict";
import fs from "node:fs";
import { isBuiltin } from "node:module";
import path from "node:path";

interface Grant {
  readonly types?: true; // only `import type`
  readonly files?: readonly string[]; // only these files of the imported room
  readonly from?: readonly string[]; // only from these files of the importing room
}
interface Room {
  readonly dir: string;
  readonly may: Readonly<Record<string, Grant>>;
  readonly node: boolean; // Node built-ins at all; BUILTINS narrows further
}

const any: Grant = {};
const types: Grant = { types: true };
const runDoor: Grant = {
  files: ["client.ts", "tail.ts", "drop.ts", "run-feed.ts", "short-command.ts", "host-files.ts"],
};
const nouns = { base: any, model: any, ports: any };
const host = {
  base: any,
  model: any,
  ports: types,
  events: any,
  app: { files: ["commands.ts", "given-words.ts"] },
  runner: runDoor,
  dashboard: { files: ["page.ts"] },
};

const ROOMS = {
  base: { dir: "shared/base", may: {}, node: false },
  model: { dir: "shared/model", may: { base: any }, node: false },
  ports: { dir: "shared/ports", may: { base: types, model: types }, node: false },
  rulebook: { dir: "shared/rulebook", may: nouns, node: false },
  prompts: { dir: "shared/prompts", may: nouns, node: false },
  events: { dir: "shared/events", may: nouns, node: false },
  features: { dir: "shared/features", may: { ...nouns, prompts: any }, node: false },
  gates: { dir: "shared/gates", may: { ...nouns, rulebook: any, prompts: any }, node: false },
  engine: { dir: "shared/engine", may: { ...nouns, events: any, prompts: any }, node: false },
  // The pool's thread is an entry of its own, as runner/main.ts is: it brings rulebook and syntax trees together.
  adapters: {
    dir: "shared/adapters",
    may: { ...nouns, prompts: { files: ["extract.ts"] }, rulebook: { from: ["pool-worker.ts"] } },
    node: true,
  },
  app: {
    dir: "shared/app",
    may: { ...nouns, rulebook: any, prompts: any, events: any, features: any, gates: any, engine: any, adapters: any },
    node: true,
  },
  dashboard: {
    dir: "shared/dashboard",
    may: { base: any, model: any, events: any, runner: { files: ["tail.ts"], from: ["serve.ts"] } },
    node: true,
  },
  runner: {
    dir: "shared/runner",
    may: { base: any, model: any, ports: types, events: any, app: { from: ["main.ts"] } },
    node: true,
  },
  cli: {
    dir: "shared/cli",
    may: { base: any, model: any, ports: types, events: any, app: any, dashboard: any, runner: runDoor },
    node: true,
  },
  extension: { dir: "extension", may: host, node: true },
  "nvim-plugin": { dir: "nvim-plugin/src", may: host, node: true },
} satisfies Record<string, Room>;

/** Where a package may be imported: a file, or a folder ending in "/". A package that is not listed may be nowhere. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  execa: ["shared/adapters/process.ts"],
  "simple-git": ["shared/adapters/git*.ts"],
  "@anthropic-ai/sandbox-runtime": ["shared/adapters/sandbox-srt.ts"],
  neovim: ["nvim-plugin/src/"],
  vscode: ["extension/"],
  zod: ["shared/model/", "shared/app/config.ts", "shared/adapters/"],
  commander: ["shared/cli/"],
  picocolors: ["shared/cli/"],
  picomatch: ["shared/base/paths.ts", "shared/rulebook/", "shared/gates/", "shared/features/", "shared/adapters/"],
  "jsonc-parser": ["shared/model/", "shared/features/registry.ts", "shared/app/config.ts", "shared/adapters/"],
  "fast-xml-parser": ["shared/gates/", "shared/adapters/"],
  atomically: ["shared/adapters/"],
  openai: ["shared/adapters/"],
  "web-tree-sitter": ["shared/adapters/"],
  "@vscode/tree-sitter-wasm": ["shared/adapters/"],
};

/** Built-ins with an owner. The others are free in every room that has Node at all. */
const BUILTINS: Readonly<Record<string, readonly string[]>> = {
  child_process: ["shared/adapters/process.ts", "shared/runner/client.ts"],
  fs: [
    "shared/adapters/",
    ...["client", "tail", "drop", "run-feed", "host-files"].map((name) => `shared/runner/${name}.ts`),
  ],
  worker_threads: ["shared/adapters/"],
  sqlite: ["shared/adapters/"],
  http: ["shared/adapters/", "shared/dashboard/serve.ts"],
  https: ["shared/adapters/"],
  net: ["shared/adapters/", "shared/dashboard/serve.ts"],
};

const AMBIENT: readonly { readonly what: RegExp; readonly except: readonly string[] }[] = [
  { what: /\bDate\.now\b/, except: [] },
  { what: /\bnew Date\(\s*\)/, except: [] },
  { what: /\bMath\.random\b/, except: [] },
  { what: /\bprocess\.env\b/, except: ["shared/runner/client.ts"] },
  { what: /\bprocess\.cwd\b/, except: [] },
  { what: /\bconsole\b(?=\s*[.[])/, except: [] },
];

const BANNED = new Set(["util", "utils", "helper", "helpers", "common", "manager", "service"]);
const MAX_LINES = 500;
const TOP_LEVEL =
  /^(\..+|package\.json|package-lock\.json|package\.nls.*\.json|tsconfig\.json|extension|nvim-plugin|shared|rules|personas|test|docs|(README|CHANGELOG|SECURITY|AGENTS)\.md|LICENSE)$/;
const BUILT = new Set(["node_modules", "out", "dist", "artifacts"]);

// --- reading a source file -------------------------------------------------------------------------------------

interface Source {
  readonly code: string; // comments and template texts blanked, each string replaced by "<its index>"
  readonly strings: readonly string[];
  readonly comments: string;
}
interface Import {
  readonly from: string;
  readonly typeOnly: boolean;
}

const TOKEN =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<regex>(?<=(?:^|[=(,:[!&|?{};>]|\breturn)\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*)|(?<tick>`)|(?<open>\{)|(?<close>\})/g;

function readSource(text: string): Source {
  const strings: string[] = [];
  let comments = "";
  let code = "";
  const holes: number[] = []; // brace depth at which each open ${ ends
  let depth = 0;
  const endOfTemplate = (from: number): number => {
    for (let i = from; i < text.length; i++) {
      if (text[i] === "\\") i++;
      else if (text[i] === "`") return i + 1;
      else if (text[i] === "$" && text[i + 1] === "{") {
        holes.push(depth++);
        return i + 2;
      }
    }
    return text.length;
  };
  const token = new RegExp(TOKEN);
  let at = 0;
  for (;;) {
    token.lastIndex = at;
    const match = token.exec(text);
    if (!match) return { code: code + text.slice(at), strings, comments };
    code += text.slice(at, match.index);
    at = match.index + match[0].length;
    const { comment, string, regex, tick, open } = match.groups ?? {};
    if (comment !== undefined) {
      comments += `${comment}\n`;
      code += comment.replace(/[^\n]/g, " ");
    } else if (string !== undefined) code += `"${strings.push(string.slice(1, -1)) - 1}"`;
    else if (regex !== undefined) code += "/x/";
    else if (tick !== undefined) at = endOfTemplate(at);
    else if (open !== undefined) {
      depth++;
      code += "{";
    } else if (holes.at(-1) === --depth) {
      holes.pop();
      at = endOfTemplate(at);
    } else code += "}";
  }
}

function importsOf({ code, strings }: Source): Import[] {
  const found: Import[] = [];
  const add = (index: string | undefined, typeOnly: boolean): unknown =>
    found.push({ from: strings[Number(index)] ?? "", typeOnly });
  for (const m of code.matchAll(/^[ \t]*(?:import|export)\s+(type\s+(?!from\b))?[^;"]*?\bfrom\s*"(\d+)"/gm)) {
    add(m[2], m[1] !== undefined);
  }
  for (const m of code.matchAll(/^[ \t]*import\s*"(\d+)"/gm)) add(m[1], false);
  for (const m of code.matchAll(/\bimport\(\s*"(\d+)"\s*\)(\s*\.\s*[A-Z])?/g)) add(m[1], m[2] !== undefined);
  for (const m of code.matchAll(/\brequire(?:\.resolve)?\(\s*"(\d+)"\s*\)/g)) add(m[1], false);
  return found;
}

// --- the checks: (path, source) → what is wrong -----------------------------------------------------------------

type Check = (file: string, source: Source, text: string) => string[];

function roomOf(file: string): [string, Room] | undefined {
  return Object.entries<Room>(ROOMS).find(([, room]) => file.startsWith(`${room.dir}/`));
}

const owned = (file: string, owners: readonly string[]): boolean =>
  owners.some((owner) =>
    owner.endsWith("/")
      ? file.startsWith(owner)
      : new RegExp(`^${owner.replaceAll(".", "\\.").replaceAll("*", "[^/]*")}$`).test(file),
  );

const inARoom: Check = (file) => (roomOf(file) ? [] : ["belongs to no room of the table"]);

const edges: Check = (file, source) => {
  const [name, room] = roomOf(file) ?? [];
  if (name === undefined || room === undefined) return [];
  return importsOf(source).flatMap(({ from, typeOnly }) => {
    if (!from.startsWith(".")) return [];
    if (!from.endsWith(".ts")) return [`import ${from}: a relative import ends in .ts`];
    const target = path.posix.join(path.posix.dirname(file), from);
    const [other, otherRoom] = roomOf(target) ?? [];
    if (other === undefined || otherRoom === undefined) return [`import ${from}: leads to no room`];
    if (other === name) return [];
    const grant = room.may[other];
    const inRoom = (at: string, dir: string): string => at.slice(dir.length + 1);
    if (!grant) return [`${name} may not import ${other} (${from})`];
    if (grant.types && !typeOnly) return [`${name} may import only types from ${other} (${from})`];
    if (grant.files && !grant.files.includes(inRoom(target, otherRoom.dir))) {
      return [`${name} may import only ${grant.files.join(", ")} of ${other} (${from})`];
    }
    if (grant.from && !grant.from.includes(inRoom(file, room.dir))) {
      return [`only ${grant.from.join(", ")} of ${name} may import ${other} (${from})`];
    }
    return [];
  });
};

const packages: Check = (file, source) =>
  importsOf(source).flatMap(({ from, typeOnly }) => {
    if (from.startsWith(".")) return [];
    if (isBuiltin(from) || from.startsWith("node:")) {
      if (!from.startsWith("node:")) return [`import ${from}: a built-in is imported as node:${from}`];
      const owners = BUILTINS[from.slice(5).split("/")[0] ?? ""];
      if (roomOf(file)?.[1].node === false) return [`this room has no Node built-ins (${from})`];
      return owners && !owned(file, owners) ? [`${from} belongs to ${owners.join(", ")}`] : [];
    }
    const name = from
      .split("/")
      .slice(0, from.startsWith("@") ? 2 : 1)
      .join("/");
    const owners = PACKAGES[name];
    if (!owners) return [`package ${name} has no owner in the table`];
    if (!owned(file, owners)) return [`package ${name} belongs to ${owners.join(", ")}`];
    const value = name === "vscode" && !typeOnly && file !== "extension/main.ts";
    return value ? ["vscode is a value only in extension/main.ts; take the API as an argument"] : [];
  });

const ambient: Check = (file, { code }) => {
  if (!file.startsWith("shared/") || owned(file, ["shared/adapters/", "shared/cli/"])) return [];
  return AMBIENT.filter(({ what, except }) => !except.includes(file) && what.test(code)).map(
    ({ what }) => `ambient input ${what.exec(code)?.[0]}: take it as an argument`,
  );
};

const names: Check = (file) => {
  const parts = file.replace(/\.ts$/, "").split(/[/.-]/);
  const stem = path.posix.basename(file);
  return [
    ...parts.filter((part) => BANNED.has(part)).map((part) => `the name says "${part}": name the noun`),
    ...(/^[a-z0-9]+(-[a-z0-9]+)*(\.d)?\.ts$/.test(stem) ? [] : ["file names are kebab-case"]),
  ];
};

const noBarrel: Check = (_file, { code }) => {
  const exported = /^[ \t]*export\s+(?:type\s+)?(?:\*|\{)/m.test(code);
  const rest = code
    .replace(/^[ \t]*(?:import|export)\s+(?:type\s+)?[^;"=()]*?\bfrom\s*"\d+"(?:\s+with\s*\{[^}]*\})?;?/gm, "")
    .replace(/^[ \t]*export\s+(?:type\s+)?\{[^}]*\};?/gm, "");
  return exported && rest.trim() === "" ? ["only re-exports: import from where things live"] : [];
};

const noDefault: Check = (_file, { code }) =>
  /^[ \t]*export\s+default\b|\bas\s+default\b/m.test(code) ? ["has a default export: use a named one"] : [];

const length: Check = (_file, _source, text) => {
  const lines = text.split("\n").length - 1;
  const reason = /\blong because\b/i.test(text.split("\n").slice(0, 8).join("\n"));
  return lines > MAX_LINES && !reason ? [`has ${lines} lines: split it, or say "long because ..." in its header`] : [];
};

const todos: Check = (_file, { comments }) =>
  (comments.match(/\b(?:TODO|FIXME|XXX)\b(?![^\n]*#\d+)/g) ?? []).map((word) => `${word} without an issue number`);

const topLevel = (entries: readonly string[]): string[] =>
  entries.filter((entry) => !BUILT.has(entry) && !entry.endsWith(".vsix") && !TOP_LEVEL.test(entry));

const CHECKS = { inARoom, edges, packages, ambient, names, noBarrel, noDefault, length, todos } satisfies Record<
  string,
  Check
>;

function faults(file: string, text: string): string[] {
  const source = readSource(text);
  return Object.values(CHECKS).flatMap((check) => check(file, source, text).map((fault) => `${file}: ${fault}`));
}

// --- the lint configuration says the same, room by room ----------------------------------------------------------

interface LintOverride {
  readonly files: readonly string[];
  readonly rules: Readonly<Record<string, unknown>>;
}

function lintOverrides(): LintOverride[] {
  return Object.entries<Room>(ROOMS).map(([name, room]) => {
    const never = Object.keys(ROOMS).filter((other) => other !== name && !(other in room.may));
    const message = `${name} may import: ${Object.keys(room.may).join(", ") || "nothing but itself"}. The table is in test/architecture.test.ts.`;
    const outside = never.map((other) => (other === "nvim-plugin" ? "nvim-plugin/src" : other)).join("|");
    const patterns = [
      { regex: `^\\.{1,2}/(?:.*/)?(?:${outside})/`, message },
      ...(room.node ? [] : [{ regex: "^node:", message: `${name} has no Node built-ins.` }]),
    ];
    return { files: [`${room.dir}/**/*.ts`], rules: { "no-restricted-imports": ["error", { patterns }] } };
  });
}

// --- the tests --------------------------------------------------------------------------------------------------

function rootOf(from: string): string {
  return fs.existsSync(path.join(from, "tsconfig.json")) ? from : rootOf(path.dirname(from));
}
const ROOT = rootOf(import.meta.dirname);

function sources(): string[] {
  return ["shared", "extension", "nvim-plugin"].flatMap((dir) =>
    fs
      .readdirSync(path.join(ROOT, dir), { recursive: true, encoding: "utf8" })
      .map((name) => path.posix.join(dir, name.split(path.sep).join("/")))
      .filter((name) => name.endsWith(".ts")),
  );
}

describe("architecture", () => {
  it("every source file keeps to its room", () => {
    const found = sources().flatMap((file) => faults(file, fs.readFileSync(path.join(ROOT, file), "utf8")));
    assert.deepEqual(found, []);
  });

  it("the top level holds only what its owner listed", () => {
    assert.deepEqual(topLevel(fs.readdirSync(ROOT)), []);
  });

  it("project references lead only where imports may", () => {
    const found = Object.entries<Room>(ROOMS).flatMap(([name, room]) => {
      const file = path.join(ROOT, name === "nvim-plugin" ? name : room.dir, "tsconfig.json");
      if (!fs.existsSync(file)) return [];
      const { references = [] } = JSON.parse(fs.readFileSync(file, "utf8")) as { references?: { path: string }[] };
      const reached = references.map((reference) => path.basename(reference.path));
      return reached.filter((other) => !(other in room.may)).map((other) => `${name} references ${other}`);
    });
    assert.deepEqual(found, []);
  });

  it("the lint configuration holds the same table (RESET_GOLDEN=1 rewrites it)", () => {
    const file = path.join(ROOT, ".oxlintrc.json");
    const config = JSON.parse(fs.readFileSync(file, "utf8")) as { overrides: LintOverride[] };
    const others = config.overrides.filter((override) => !("no-restricted-imports" in override.rules));
    const overrides = [...lintOverrides(), ...others];
    if (process.env["RESET_GOLDEN"] === "1") {
      fs.writeFileSync(file, `${JSON.stringify({ ...config, overrides }, null, 2)}\n`);
    } else assert.deepEqual(config.overrides, overrides);
  });
});

describe("architecture checks can fail", () => {
  const VIOLATIONS: readonly (readonly [string, string, RegExp])[] = [
    ["shared/stray.ts", "", /no room/],
    ["shared/new-room/a.ts", "", /no room/],
    ["shared/gates/scope.ts", 'import { decide } from "../engine/policy.ts";', /gates may not import engine/],
    ["shared/engine/wave.ts", 'export { gates } from "../gates/gates.ts";', /engine may not import gates/],
    ["shared/model/a.ts", 'const a = await import("../app/config.ts");', /model may not import app/],
    ["shared/ports/git.ts", 'import { parse } from "../model/target.ts";', /only types from model/],
    ["shared/ports/git.ts", 'import { type Target } from "../model/target.ts";', /only types from model/],
    ["shared/adapters/model-pi.ts", 'import { compose } from "../prompts/compose.ts";', /only extract\.ts/],
    ["shared/runner/tail.ts", 'import { a } from "../app/commands.ts";', /only main\.ts of runner/],
    ["extension/session.ts", 'import { run } from "../shared/runner/main.ts";', /only client\.ts/],
    ["extension/session.ts", 'import { a } from "../nvim-plugin/src/session.ts";', /may not import nvim-plugin/],
    ["shared/cli/main.ts", 'import { a } from "../../test/support/a.ts";', /leads to no room/],
    ["shared/base/lines.ts", 'import { a } from "./abort.js";', /ends in \.ts/],
    ["shared/engine/wave.ts", 'import { execa } from "execa";', /execa belongs to/],
    ["shared/adapters/files.ts", 'import { simpleGit } from "simple-git";', /simple-git belongs to/],
    ["shared/app/handlers/do.ts", 'import { z } from "zod";', /zod belongs to/],
    ["shared/cli/main.ts", 'import x from "left-pad";', /no owner/],
    ["shared/app/a.ts", 'import type { Uri } from "vscode";', /vscode belongs to/],
    ["extension/tree.ts", 'import * as vscode from "vscode";', /vscode is a value only/],
    ["shared/adapters/lock.ts", 'import fs from "fs";', /node:fs/],
    ["shared/engine/wave.ts", 'import path from "node:path";', /no Node built-ins/],
    ["shared/cli/render.ts", 'import fs from "node:fs/promises";', /node:fs\/promises belongs to/],
    ["shared/app/a.ts", 'import { spawn } from "node:child_process";', /child_process belongs to/],
    ["shared/engine/wave.ts", "const at = Date.now();", /ambient input Date\.now/],
    ["shared/engine/wave.ts", "const at = `${new Date()}`;", /ambient input new Date/],
    ["shared/gates/scope.ts", "console.log(1);", /ambient input console/],
    ["shared/runner/main.ts", "const key = process.env.KEY;", /ambient input process\.env/],
    ["shared/base/utils.ts", "", /name says "utils"/],
    ["shared/app/run-manager.ts", "", /name says "manager"/],
    ["shared/base/common/a.ts", "", /name says "common"/],
    ["shared/base/jsonLines.ts", "", /kebab-case/],
    ["shared/model/index.ts", '// all\nexport * from "./run.ts";\nexport type { A } from "./a.ts";', /only re-exports/],
    ["shared/model/all.ts", 'import { a } from "./a.ts";\nexport { a };', /only re-exports/],
    ["shared/model/run.ts", "export default 1;", /default export/],
    ["shared/model/run.ts", "const a = 1;\n".repeat(501), /501 lines/],
    ["shared/model/run.ts", "// TODO later", /TODO without/],
  ];
  for (const [file, text, expected] of VIOLATIONS) {
    it(`${file}: ${text.slice(0, 70) || "its name"}`, () => {
      assert.match(faults(file, text).join("\n"), expected);
    });
  }

  const FINE: readonly (readonly [string, string])[] = [
    ["shared/engine/wave.ts", 'import { decide } from "./policy.ts";\nimport type { Git } from "../ports/git.ts";'],
    ["shared/ports/git.ts", 'import type { Target } from "../model/target.ts";'],
    ["shared/runner/main.ts", 'import { handlers } from "../app/handlers.ts";'],
    ["shared/runner/client.ts", 'import fs from "node:fs";\nconst home = process.env.HOME;'],
    ["shared/adapters/git-read.ts", 'import { simpleGit } from "simple-git";'],
    ["extension/main.ts", 'import * as vscode from "vscode";'],
    ["extension/tree.ts", 'import type { Uri } from "vscode";\ntype A = import("vscode").Uri;'],
    ["nvim-plugin/src/main.ts", 'const { attach } = await import("neovim");'],
    ["shared/gates/scope.ts", "// Date.now is the clock's\nconst hint = 'use Date.now'; const re = /console.log/;"],
    [
      "shared/prompts/sections.ts",
      'const text = `\nimport { a } from "../engine/a.ts";\n${list({ a: 1 })} Date.now\n`;',
    ],
    ["shared/model/run.ts", `// Long because one table.\n${"const a = 1;\n".repeat(501)}`],
    ["shared/model/run.ts", "// TODO(#12): later"],
    ["shared/model/run.ts", 'import { b } from "./b.ts";\nexport { c } from "./c.ts";\nexport const a = b;'],
  ];
  for (const [file, text] of FINE) {
    it(`and lets be ${file}: ${text.slice(0, 60).replaceAll("\n", " ")}`, () => {
      assert.deepEqual(faults(file, text), []);
    });
  }

  it("an unlisted top-level entry", () => {
    assert.deepEqual(topLevel(["shared", "lib", "node_modules", ".ci", "notes.md"]), ["lib", "notes.md"]);
  });
});
