import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createProcess } from "../../shared/adapters/process.ts";
import { absPath } from "../../shared/base/paths.ts";
import { textOf } from "../../shared/rulebook/audit-file.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { installedRules, runnerOf } from "../support/rulebook.ts";

/** Debian's Python and pycodestyle: the same pair everywhere, so that agreement means the same thing everywhere. */
const python = "/usr/bin/python3";
const library = `/usr/lib/python3.11`;

describe("PEP 8 rules and pycodestyle", function () {
  this.timeout(600_000);

  it("name the same code, file and line over the standard library @slow", async function () {
    const { version, codes, theirs } = await pycodestyle();
    if (version === undefined) this.skip();
    const ours = new Map<string, Set<string>>();
    const broken = new Set(theirs.get("E9") ?? []);
    using runner = runnerOf({
      sources: installedRules().filter((one) => one.path === "rules/python/core.json"),
      switches: { "pep8.E501": "warn" },
    });
    const files = pythonFiles(library);
    for (const file of files) {
      const run = await runner.file(
        { path: path.relative(library, file), text: textOf(fs.readFileSync(file)) },
        { groups: ["standards"] },
      );
      for (const { rule, line } of run.findings) {
        if (!rule.startsWith("pep8.")) continue;
        const code = rule.slice("pep8.".length);
        const places = ours.get(code) ?? new Set();
        ours.set(code, places.add(`${file}:${line}`));
      }
    }
    assert.ok(files.length > 500, `${files.length} files in ${library}`);
    const fileOf = (place: string): string => place.replace(/:\d+$/, "");
    const known = new Set(files);
    // A file pycodestyle gave up on (E9) or that is a link elsewhere was not seen by both.
    const both = (places: Iterable<string>): string[] =>
      [...places].filter((place) => known.has(fileOf(place)) && !broken.has(fileOf(place)));
    const differences = codes.map((code) => {
      const [a, b] = [theirs.get(code) ?? new Set<string>(), ours.get(code) ?? new Set<string>()];
      return {
        code,
        missed: both(a).filter((place) => !b.has(place)),
        invented: both(b).filter((place) => !a.has(place)),
      };
    });
    assert.deepEqual(
      differences.filter(({ missed, invented }) => missed.length + invented.length > 0),
      [],
      `pycodestyle ${version}`,
    );
    const together = codes.reduce((sum, code) => sum + both(theirs.get(code) ?? []).length, 0);
    assert.ok(together > 5000, `only ${together} places compared`);
  });
});

interface Theirs {
  readonly version: string | undefined;
  /** The codes of the rules, as the data lists them. */
  readonly codes: readonly string[];
  /** Code -> places; `E9` -> files that could not be checked. */
  readonly theirs: ReadonlyMap<string, ReadonlySet<string>>;
}

async function pycodestyle(): Promise<Theirs> {
  const rules = loadRules({ sources: installedRules(), switches: {} }).sets.flatMap((set) => set.rules);
  const codes = rules.map(({ rule }) => rule.id).flatMap((id) => (id.startsWith("pep8.") ? [id.slice(5)] : []));
  const theirs = new Map<string, Set<string>>();
  const never = new AbortController().signal;
  const run = (argv: readonly [string, ...string[]]): ReturnType<ReturnType<typeof createProcess>["run"]> =>
    createProcess().run(
      { argv, cwd: absPath("/"), env: { LC_ALL: "C.UTF-8" }, timeoutMs: 100_000, maxOutputBytes: 1e8 },
      never,
    );
  const asked = await run([python, "-m", "pycodestyle", "--version"]);
  if (asked.kind !== "exited" || asked.code !== 0 || !fs.existsSync(library))
    return { version: undefined, codes, theirs };
  const all = await run([python, "-m", "pycodestyle", `--select=${codes.join(",")},E9`, library]);
  assert.equal(all.kind, "exited");
  for (const line of new TextDecoder().decode(all.stdout).split("\n")) {
    const [, file = "", row = "", code = ""] = /^(.*?):(\d+):\d+: (\w+)/.exec(line) ?? [];
    const [key, place] = code.startsWith("E9") ? ["E9", file] : [code, `${file}:${row}`];
    theirs.set(key, (theirs.get(key) ?? new Set()).add(place));
  }
  return { version: new TextDecoder().decode(asked.stdout).trim(), codes, theirs };
}

function pythonFiles(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".py"))
    .map((entry) => path.join(entry.parentPath, entry.name));
}
