import assert from "node:assert/strict";
import { tellingLine } from "../../../shared/base/telling-line.ts";

describe("the line that says most", () => {
  const push = (reason: string): string =>
    `error: failed to push some refs to '/r.git'\nTo /r.git\n!\trefs/heads/a:refs/heads/a\t[${reason}\nDone`;
  const table: readonly (readonly [string, string, string])[] = [
    [
      "a hook that says why",
      `remote: no thanks\n${push("remote rejected] (pre-receive hook declined)")}`,
      "[remote rejected] (pre-receive hook declined): no thanks",
    ],
    ["a remote that is ahead", push("rejected] (fetch first)"), "[rejected] (fetch first)"],
    [
      "an address that is not there",
      "fatal: '/gone' does not appear to be a git repository\nfatal: more",
      "fatal: '/gone' does not appear to be a git repository",
    ],
    ["only the other side's words", "remote: hello\n", "hello"],
    [
      "a patch that does not fit",
      "error: patch failed: a.py:1\nerror: a.py: patch does not apply",
      "error: patch failed: a.py:1",
    ],
    ["nothing", "\n", "no reason given"],
  ];
  for (const [name, output, wanted] of table) it(name, () => assert.equal(tellingLine(output), wanted));
});
