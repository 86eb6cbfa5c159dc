import assert from "node:assert/strict";
import { createRedact, markLeft } from "../../../shared/prompts/redact.ts";

const redact = createRedact([
  { pattern: "\\btok_[a-z0-9]{8}\\b", flags: "", name: "token", unless: "^tok_example" },
  { pattern: "password\\s*=\\s*[\"'](?<value>[^\"']+)[\"']", flags: "i", name: "password" },
  { pattern: "KEY=(?<value>\\S{12,})", flags: "", name: "key", entropy: 3 },
]);

describe("redact", () => {
  const table: readonly [string, string, string, readonly string[]][] = [
    ["the whole match", "a tok_abcd1234 b", "a [redacted token] b", ["token"]],
    ["only the value", 'PASSWORD = "hunter2" # x', 'PASSWORD = "[redacted password]" # x', ["password"]],
    ["each one", "tok_abcd1234 tok_zyxw9876", "[redacted token] [redacted token]", ["token", "token"]],
    ["not what is named as an example", "tok_example", "tok_example", []],
    ["not what repeats itself", "KEY=aaaaaaaaaaaa", "KEY=aaaaaaaaaaaa", []],
    ["what looks random", "KEY=q8Zr2LxV9pTa", "KEY=[redacted key]", ["key"]],
    ["nothing", "plain text", "plain text", []],
  ];
  for (const [name, text, wanted, taken] of table)
    it(name, () => assert.deepEqual(redact(text), { text: wanted, taken }));

  it("the person's own keys, whatever they look like; a short one would take ordinary words", () => {
    const own = createRedact([], ["correct horse", "correct horse battery", "dev", "correct horse"]);
    assert.deepEqual(own("a correct horse battery, correct horse, dev"), {
      text: "a [redacted key], [redacted key], dev",
      taken: ["key", "key"],
    });
  });

  it("a key only where it is no part of a longer word, whatever characters it has", () => {
    const own = createRedact([], ["a+b$c.(d)-9", "s3cretkey1"]);
    assert.equal(
      own("x=a+b$c.(d)-9 s3cretkey1 s3cretkey12 mys3cretkey1 u:s3cretkey1@h").text,
      "x=[redacted key] [redacted key] s3cretkey12 mys3cretkey1 u:[redacted key]@h",
    );
  });

  const answers: readonly (readonly [string, string, string, string, object | undefined])[] = [
    ["the secret is gone", "a = 1\nkey = '[redacted key]'\n", "key = '[redacted key]'", "key = 'x'\n", { line: 2 }],
    ["one more than there were", "[redacted key] [redacted key]", "[redacted key]", "[redacted key]", { line: 1 }],
    ["the file's own words", "say('[redacted key]')\n", "say('[redacted key]')", "say('[redacted key]')\n", undefined],
    ["words that no prompt showed", "say('[redacted key]')\n", "write a filter", "", undefined],
  ];
  for (const [name, answer, prompt, before, wanted] of answers)
    it(`a mark in an answer: ${name}`, () =>
      assert.deepEqual(
        markLeft(answer, prompt, before),
        wanted === undefined ? undefined : { ...wanted, mark: "[redacted key]" },
      ));
});
