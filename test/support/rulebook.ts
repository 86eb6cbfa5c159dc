import fs from "node:fs";
import path from "node:path";
import { createTreeSitterSyntax } from "../../shared/adapters/syntax-tree-sitter.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { ChangedFile } from "../../shared/model/change.ts";
import type { RuleSettings, RuleSource } from "../../shared/ports/pool.ts";
import type { Syntax } from "../../shared/ports/syntax.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { createRuleRunner, type RuleRunner } from "../../shared/rulebook/run.ts";
import { sourceRoot } from "./source-root.ts";

/** The installed rule sets, as a handler reads them. */
export function installedRules(): readonly RuleSource[] {
  const folder = path.join(sourceRoot, "rules");
  return fs
    .readdirSync(folder)
    .map((name) => ({ file: path.join(folder, name, "core.json"), path: `rules/${name}/core.json` }))
    .filter(({ file }) => fs.existsSync(file))
    .map(({ file, path: place }) => ({ path: place, text: fs.readFileSync(file, "utf8"), project: false }));
}

export const realSyntax = (): Syntax => createTreeSitterSyntax(absPath(sourceRoot));

/** No grammar at all: for rules that need none. */
const noSyntax: Syntax = { matcher: () => Promise.resolve({ kind: "missing", why: "none in this test" }) };

export function runnerOf(settings: RuleSettings, syntax: Syntax = noSyntax): RuleRunner {
  return createRuleRunner(loadRules(settings), syntax);
}

/** A rule file of one check. */
export function oneRule(
  check: Readonly<Record<string, unknown>>,
  head: Readonly<Record<string, unknown>> = {},
): RuleSettings {
  const rule = { id: "t.rule", group: "standards", severity: "FAIL", message: "m", remedy: "r", ...check };
  const file = { set: "test", extensions: [".py"], lexical: pythonLexical, ...head, checks: [rule] };
  return { sources: [{ path: "rules/test/core.json", text: JSON.stringify(file), project: false }], switches: {} };
}

export const pythonLexical = {
  comments: [{ open: "#" }],
  strings: [{ open: '"""', multiline: true }, { open: "'''", multiline: true }, { open: '"' }, { open: "'" }],
  prefixes: "rbuf",
  raw: "r",
  brackets: ["()", "[]", "{}"],
  continuation: "\\",
} as const;

/** A change of one hunk a file, from its two texts: what stands on one side only. */
export function changeOf(files: Readonly<Record<string, { readonly before?: string; readonly after?: string }>>): {
  readonly files: readonly ChangedFile[];
  readonly newText: (path: string) => string | undefined;
  readonly oldText: (path: string) => string | undefined;
} {
  const changed = Object.entries(files).map(([name, { before, after }]): ChangedFile => {
    const old = before?.replace(/\n$/, "").split("\n") ?? [];
    const now = after?.replace(/\n$/, "").split("\n") ?? [];
    let head = 0;
    while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
    let tail = 0;
    while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail += 1;
    const removed = old.slice(head, old.length - tail);
    const added = now.slice(head, now.length - tail);
    return {
      status: before === undefined ? "added" : after === undefined ? "deleted" : "modified",
      path: name,
      oldMode: before === undefined ? "000000" : "100644",
      newMode: after === undefined ? "000000" : "100644",
      added: added.length,
      removed: removed.length,
      binary: false,
      // As git counts: an empty side names the line before.
      hunks: [
        {
          oldStart: removed.length === 0 ? head : head + 1,
          newStart: added.length === 0 ? head : head + 1,
          removed,
          added,
        },
      ],
    };
  });
  return { files: changed, newText: (name) => files[name]?.after, oldText: (name) => files[name]?.before };
}
