import { deepEqual } from "node:assert/strict";
import { exactly, rewritten } from "../../../shared/adapters/worktree-ignore.ts";

describe("ignore rules of a folder, said at the root", () => {
  const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
    ["the root's own stay", "", "*.log\n/build\n!keep.log\n", ["*.log", "/build", "!keep.log"]],
    ["a bare name counts at any depth below", "a/b/", "*.log\n", ["/a/b/**/*.log"]],
    ["one with a slash is anchored", "a/", "/x\ny/z\n", ["/a/x", "/a/y/z"]],
    ["a slash at the end anchors nothing", "a/", "out/\n", ["/a/**/out/"]],
    ["taking back keeps its mark", "a/", "!x.log\n!/y\n", ["!/a/**/x.log", "!/a/y"]],
    ["** crosses folders below", "a/", "**/x\n", ["/a/**/x"]],
    ["comments, empty lines, carriage returns, a byte order mark", "", "\uFEFFx\r\n# no\n\n  \ny\r\n", ["x", "y"]],
    ["letters of the folder that mean something are quoted", "a[1]*/", "x\n", ["/a\\[1]\\*/**/x"]],
    ["an escaped mark is a letter", "a/", "\\!x\n\\#y\n", ["/a/**/\\!x", "/a/**/\\#y"]],
    ["a folder that cannot be said has no rules", "a\nb/", "x\n", []],
  ];
  for (const [name, folder, text, expected] of cases) {
    it(name, () => deepEqual(rewritten(folder, text), expected));
  }

  it("a path as a pattern means that path alone", () => {
    deepEqual(["a b", "x*[1]?", "p\\q"].map(exactly), ["/a\\ b", "/x\\*\\[1]\\?", "/p\\\\q"]);
  });
});
