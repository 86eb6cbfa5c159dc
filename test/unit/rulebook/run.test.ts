import assert from "node:assert/strict";
import type { Finding } from "../../../shared/model/finding.ts";
import { entropyOf } from "../../../shared/rulebook/kinds/line.ts";
import { changeOf, oneRule, runnerOf, pythonLexical } from "../../support/rulebook.ts";

const brief = ({ line, evidence, message, severity }: Finding): string =>
  [severity, line, message, evidence].filter((part) => part !== undefined).join(" | ");

async function onText(
  check: Readonly<Record<string, unknown>>,
  text: string,
  options: { path?: string; role?: string; most?: number } = {},
): Promise<string[]> {
  using runner = runnerOf(oneRule(check));
  const { path = "a/b.py", role, most } = options;
  const run = await runner.file(
    { path, text, ...(role === undefined ? {} : { role }) },
    most === undefined ? {} : { most },
  );
  return run.findings.map(brief);
}

/** Twins for what each kind can say; the installed rules have theirs in contract/rules. */
const twins: readonly {
  readonly what: string;
  readonly check: Readonly<Record<string, unknown>>;
  readonly bad: string;
  readonly good: string;
}[] = [
  { what: "line", check: { kind: "line", pattern: "^foo" }, bad: "a\nfoo\n", good: "a\n foo\n" },
  { what: "line, flags", check: { kind: "line", pattern: "FOO", flags: "i" }, bad: "\nfoo\n", good: "\nfo\n" },
  {
    what: "line, strings skipped",
    check: { kind: "line", pattern: "foo", skip: ["string"] },
    bad: "\nfoo\n",
    good: "\n'foo'\n",
  },
  {
    what: "line, raw strings are not strings",
    check: { kind: "line", pattern: "foo", skip: ["string"] },
    bad: "\nr'foo'\n",
    good: "\nb'foo'\n",
  },
  {
    what: "line, comments skipped",
    check: { kind: "line", pattern: "foo", skip: ["comment"] },
    bad: "\nfoo\n",
    good: "\n# foo\n",
  },
  {
    what: "line, only inside",
    check: { kind: "line", patterns: [{ pattern: "foo", inside: ["comment"] }] },
    bad: "\n# foo\n",
    good: "\nfoo '# foo'\n",
  },
  {
    what: "line, only outside",
    check: { kind: "line", patterns: [{ pattern: "foo", outside: ["comment", "string"] }] },
    bad: "\nfoo\n",
    good: "\n# foo\n'foo'\n",
  },
  {
    what: "line, unless the line says so",
    check: { kind: "line", pattern: "foo", unless: [{ pattern: "# fine" }] },
    bad: "\nfoo\n# fine\n",
    good: "\nfoo  # fine\n",
  },
  {
    what: "line, unless a comment of the statement does",
    check: { kind: "line", pattern: "foo", unless: [{ pattern: "fine", on: "comments" }] },
    bad: "\nf(foo,\n  'fine')\n",
    good: "\nf(foo,\n  a)  # fine\n",
  },
  {
    what: "line, unless the value is a known one",
    check: { kind: "line", patterns: [{ pattern: "key=(?<value>\\w+)", unless: "^none$" }] },
    bad: "\nkey=some\n",
    good: "\nkey=none\n",
  },
  {
    what: "line, entropy",
    check: { kind: "line", patterns: [{ pattern: "key=(?<value>\\w+)", entropy: 3 }] },
    bad: "\nkey=a8Kq0Zt7Lw\n",
    good: "\nkey=aaaaaaaaab\n",
  },
  {
    what: "line, no hint",
    check: { kind: "line", pattern: "foo", hint: "HINT" },
    bad: "# HINT\nfoo\n",
    good: "#\nfoo\n",
  },
  { what: "balanced", check: { kind: "balanced", pairs: ["()", "[]"] }, bad: "(\n]\n", good: "(\n[])\n# (\n'['\n" },
];

describe("running rules", () => {
  for (const { what, check, bad, good } of twins) {
    it(`${what}: the smallest and the nearest`, async () => {
      assert.equal((await onText(check, bad)).length, 1, "bad");
      assert.match((await onText(check, bad))[0] ?? "", /^FAIL \| 2 \|/);
      assert.deepEqual(await onText(check, good), []);
    });
  }

  it("text-required: what the file lacks, asked only where it is asked for", async () => {
    const check = { kind: "text-required", pattern: "^License:", when: "^import" };
    assert.deepEqual(
      [await onText(check, "import a\n"), await onText(check, "License: x\nimport a\n"), await onText(check, "a\n")],
      [["FAIL | m | missing: ^License:"], [], []],
    );
  });

  it("globs and roles say where a rule looks", async () => {
    const line = { kind: "line", pattern: "x" };
    assert.deepEqual(
      await Promise.all([
        onText({ ...line, only: ["a/**"] }, "x").then((found) => found.length),
        onText({ ...line, only: ["b/**"] }, "x").then((found) => found.length),
        onText({ ...line, except: ["**/b.py"] }, "x").then((found) => found.length),
        onText({ ...line, roles: ["handler"] }, "x").then((found) => found.length),
        onText({ ...line, roles: ["handler"] }, "x", { role: "handler" }).then((found) => found.length),
        onText(line, "x", { path: "a/b.js" }).then((found) => found.length),
      ]),
      [1, 0, 0, 0, 1, 0],
    );
  });

  it("a cap on findings says how many more there are", async () => {
    const found = await onText({ kind: "line", pattern: "^x" }, "x\n".repeat(9), { most: 3 });
    assert.deepEqual(found, ["FAIL | 1 | m | x", "FAIL | 2 | m | x", "FAIL | 3 | m (and 6 more in this file) | x"]);
  });

  it("redacted evidence shows four characters", async () => {
    const check = {
      kind: "line",
      patterns: [{ pattern: "key=(?<value>\\w+)", name: "token" }],
      redact: true,
      message: "a {name}",
    };
    assert.deepEqual(await onText(check, "key=abcdefgh\n"), ["FAIL | 1 | a token | token: abcd... (not shown)"]);
  });

  it("a rule on syntax trees without a grammar is named, not passed", async () => {
    using runner = runnerOf(oneRule({ kind: "ast", query: "(module) @at", must: "match" }, { grammar: "python" }));
    const run = await runner.file({ path: "a.py", text: "a" });
    assert.deepEqual([run.findings, run.noTree], [[], "none in this test"]);
  });

  it("diff lines: lines that moved do not count, lines in a long string do not when strings are muted", () => {
    using runner = runnerOf(oneRule({ kind: "diff-line", pattern: "skip", view: "code" }));
    const lines = (change: Parameters<typeof changeOf>[0]): readonly (number | undefined)[] =>
      runner.diff(changeOf(change)).map(({ line }) => line);
    assert.deepEqual(
      [
        lines({ "a.py": { before: "a\n", after: "a\nskip\n" } }),
        lines({ "a.py": { before: "skip\na\n", after: "a\n  skip\n" } }),
        lines({ "a.py": { before: '"""\na\n"""\n', after: '"""\na\nskip\n"""\n' } }),
        lines({ "a.txt": { before: "", after: "skip\n" } }),
      ],
      [[2], [], [], []],
    );
  });

  it("diff lines without the file's text are judged by themselves, with their own line numbers", () => {
    using runner = runnerOf(oneRule({ kind: "diff-line", pattern: "skip" }));
    const { files } = changeOf({ "a.py": { before: "a\nb\n", after: "a\nb\nskip\n" } });
    assert.deepEqual(
      runner.diff({ files }).map(({ line }) => line),
      [3],
    );
  });

  it("removed lines: findings only when fewer are left, on the old side", () => {
    using runner = runnerOf(
      oneRule({ kind: "diff-line", pattern: "^assert", side: "removed", balance: "fewer", unlessAdded: "table" }),
    );
    const of = (after: string): readonly string[] =>
      runner
        .diff(changeOf({ "a.py": { before: "assert a\nassert b\n", after } }))
        .map(({ line, side }) => `${side} ${line}`);
    assert.deepEqual(
      [of("assert b\n"), of("assert b\nassert c\n"), of("x\n"), of("table\n")],
      [["old 1"], [], ["old 1", "old 2"], []],
    );
  });

  it("trees: what was so before a change is milder than what the change did", () => {
    using runner = runnerOf(oneRule({ kind: "tree", must: "not-exist", paths: ["**/*.orig"], inherited: "WARN" }));
    const subject = { paths: ["a.orig", "b.orig"], facts: [], slices: [] };
    const change = { touched: new Set(["b.orig"]), deleted: new Set<string>() };
    assert.deepEqual(
      [runner.tree(subject), runner.tree({ ...subject, change })].map((found) => found.map(({ severity }) => severity)),
      [
        ["WARN", "WARN"],
        ["WARN", "FAIL"],
      ],
    );
  });

  it("trees: the choice of most files stands, facts come from code and not from comments", async () => {
    using runner = runnerOf(
      oneRule({
        kind: "tree",
        must: "agree",
        choices: [
          { name: "x", pattern: "^import x\\b" },
          { name: "y", pattern: "^import y\\b" },
        ],
      }),
    );
    const texts = {
      "a.py": "import x\n",
      "b.py": "import x\n",
      "c.py": "\nimport y\n",
      "d.py": '"""\nimport y\n"""\n',
    };
    const facts = Object.entries(texts).flatMap(([path, text]) =>
      runner.facts({ path, text }).map((fact) => ({ ...fact, path })),
    );
    assert.deepEqual(
      runner
        .tree({ paths: Object.keys(texts), facts, slices: [] })
        .map((found) => [found.path, found.line, found.evidence]),
      [["c.py", 2, "y here, x elsewhere"]],
    );
  });

  it("trees: a set's rules see the slices and facts of its own files, be the ids the same", () => {
    const of = (lang: string, extension: string, names: readonly string[]) => ({
      path: `rules/${lang}/core.json`,
      project: false,
      text: JSON.stringify({
        set: lang,
        extensions: [extension],
        lexical: pythonLexical,
        checks: [
          { must: "roles", id: "t.roles" },
          { must: "agree", id: "t.agree", choices: names.map((name) => ({ name, pattern: `^import ${name}\\b` })) },
        ].map((check) => ({ kind: "tree", group: "standards", severity: "FAIL", message: "m", remedy: "r", ...check })),
      }),
    });
    const sources = [of("one", ".one", ["a", "b"]), of("two", ".two", ["c", "d"])];
    using runner = runnerOf({ sources, switches: {} });
    const texts = { "x.one": "import a\n", "y.two": "import c\n", "z.two": "import d\n", "w.two": "import d\n" };
    const facts = Object.entries(texts).flatMap(([path, text]) =>
      runner.facts({ path, text }).map((fact) => ({ ...fact, path })),
    );
    const slices = [
      { dir: "f/A", name: "A", roles: { schema: "S.one" } },
      { dir: "f/B", name: "B", roles: { schema: "S.two" } },
    ];
    assert.deepEqual(
      runner.tree({ paths: Object.keys(texts), facts, slices }).map((found) => [found.rule, found.path]),
      [
        ["t.roles", "f/A/S.one"],
        ["t.roles", "f/B/S.two"],
        ["t.agree", "y.two"],
      ],
    );
  });

  it("trees: facts may stand in strings where the rule says so", () => {
    const choices = [
      { name: "one", pattern: '^import "one"' },
      { name: "two", pattern: '^import "two"' },
    ];
    const facts = (skip?: readonly string[]): readonly string[] => {
      using runner = runnerOf(
        oneRule({ kind: "tree", must: "agree", choices, ...(skip === undefined ? {} : { skip }) }),
      );
      return runner.facts({ path: "a.py", text: 'import "one"\n#import "two"\n' }).map(({ choice }) => choice);
    };
    assert.deepEqual([facts(), facts(["comment"])], [[], ["one"]]);
  });

  it("actions: by tool, command and path", () => {
    using runner = runnerOf(
      oneRule({ kind: "action", on: "path", patterns: ["secret"], only: ["a/**"], tools: ["write"] }),
    );
    const of = (tool: string, path: string): number => runner.action({ tool, paths: [path] }).length;
    assert.deepEqual(
      [of("write", "a/secret"), of("read", "a/secret"), of("write", "b/secret"), of("write", "a/x")],
      [1, 0, 0, 0],
    );
  });

  it("entropy is in bits for each character", () =>
    assert.deepEqual([entropyOf("aaaa"), entropyOf("abab"), entropyOf("abcd")], [0, 1, 2]));
});
