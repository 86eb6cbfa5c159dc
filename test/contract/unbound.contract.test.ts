import assert from "node:assert/strict";
import { oneRule, realSyntax, runnerOf } from "../support/rulebook.ts";

/** A name is reported where it is declared and not used; with `mentioned` only when it stands in such a place as well. */
const unbound = {
  kind: "unbound",
  message: "{name}",
  declared: "(import_statement name: (dotted_name (identifier) @name)) @statement",
  used: "(identifier) @use\n(keyword_argument name: (identifier) @other)",
};
const rows: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
  ["neither used nor mentioned", "import a\n", ["a"], []],
  ["mentioned alone", "import a\nf(a=1)\n", ["a"], ["a"]],
  ["used and mentioned", "import a\nf(a=a)\n", [], []],
  ["mentioned by a longer name", "import a\nf(ab=1)\n", ["a"], []],
  ["one of two", "import a\nimport b\nf(a=1)\n", ["a", "b"], ["a"]],
];

describe("unbound names", () => {
  for (const [what, text, plain, mentioned] of rows)
    it(what, async () => {
      const found = async (more: Readonly<Record<string, string>>): Promise<readonly string[]> => {
        using runner = runnerOf(oneRule({ ...unbound, ...more }, { grammar: "python" }), realSyntax());
        const run = await runner.file({ path: "a.py", text });
        assert.deepEqual(runner.broken(), []);
        return run.findings.map(({ message }) => message);
      };
      assert.deepEqual(await found({}), plain);
      assert.deepEqual(await found({ mentioned: "(keyword_argument name: (identifier) @use)" }), mentioned);
    });

  it("a query of it that does not compile leaves the rule out", async () => {
    using runner = runnerOf(
      oneRule({ ...unbound, mentioned: "(no_such_node) @use" }, { grammar: "python" }),
      realSyntax(),
    );
    await runner.file({ path: "a.py", text: "import a\n" });
    assert.match(runner.broken()[0]?.reason ?? "", /^mentioned: /);
  });
});
