import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { quotedWord, shellWord } from "../../../shared/base/shell-word.ts";

describe("a word of a printed command", () => {
  const shown: readonly (readonly [string, string])[] = [
    ["Billing/Invoice", "Billing/Invoice"],
    ["pi/claude-sonnet@high", "pi/claude-sonnet@high"],
    ["--model=a=b", "--model=a=b"],
    ["", "''"],
    ["~", "'~'"],
    ["=ls", "'=ls'"],
    ["Trim $(touch x)", "'Trim $(touch x)'"],
    ["it's", `'it'\\''s'`],
    ["C:\\path", "'C:\\path'"],
    // An editor's terminal takes a pasted line end as Enter.
    ["one\ntwo", '"..."'],
    ["one\rtwo", '"..."'],
    ["\u001b[2J", '"..."'],
  ];
  for (const [word, line] of shown)
    it(`${JSON.stringify(word)} is shown as ${line}`, () => assert.equal(shellWord(word), line));

  it("a shell reads it back as it was and runs nothing of it", function () {
    if (process.platform === "win32") this.skip();
    const words = [
      "say `id` and $HOME",
      "$(id)",
      "a;b|c&d>e",
      "~",
      "*",
      "it's 'so'",
      '"',
      "\\",
      "a\\",
      "#x",
      "!!",
      "{a,b}",
    ];
    const line = (of: (word: string) => string, all: readonly string[]): string =>
      execFileSync("/bin/sh", ["-c", `printf '%s\\0' ${all.map(of).join(" ")}`], { encoding: "utf8" });
    assert.deepEqual(line(shellWord, words).split("\0").slice(0, -1), words);
    assert.deepEqual(
      line(quotedWord, [...words, "one\ntwo"])
        .split("\0")
        .slice(0, -1),
      [...words, "one\ntwo"],
    );
  });
});
