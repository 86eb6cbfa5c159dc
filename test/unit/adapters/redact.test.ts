import assert from "node:assert/strict";
import { createRedactor, secretsOf } from "../../../shared/adapters/redact.ts";

const redactor = createRedactor(["s3cr3t value/é", "short"]);
// Put together here so that no scanner takes this file for a leak.
const of = (...parts: readonly string[]): string => parts.join("");

describe("redactor", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["a literal", "say s3cr3t value/é twice: s3cr3t value/é", "say [redacted] twice: [redacted]"],
    ["a literal in a URL", "?k=s3cr3t%20value%2F%C3%A9&x=1", "?k=[redacted]&x=1"],
    ["a literal in base64", `Basic ${Buffer.from("s3cr3t value/é").toString("base64")}`, "Basic [redacted]"],
    ["a short literal stays", "a short text", "a short text"],
    ["an OpenAI key", of("sk-", "proj-", "a".repeat(40)), "[redacted key]"],
    ["an OpenRouter key", of("sk-or-v1-", "0".repeat(64)), "[redacted key]"],
    ["an Anthropic key", of("key=sk-ant-", "api03-", "b".repeat(50), "."), "key=[redacted key]."],
    ["a GitHub token", of("ghp_", "a1".repeat(18)), "[redacted token]"],
    ["an AWS id", of("AKIA", "ABCDEFGHIJKLMNOP"), "[redacted key]"],
    ["a Google key", of("AIza", "x".repeat(35)), "[redacted key]"],
    ["a bearer header", of("Authorization: Bearer ", "abcdefghijklmnop1234"), "Authorization: Bearer [redacted]"],
    [
      "a URL with a password",
      of("https://kim:", "hunter22", "@example.org/x.git"),
      "https://kim:[redacted]@example.org/x.git",
    ],
    [
      "a private key",
      of("x -----BEGIN RSA ", "PRIVATE KEY-----\nabc\n-----END RSA ", "PRIVATE KEY----- y"),
      "x [redacted private key] y",
    ],
    ["a private key without its end", of("-----BEGIN ", "PRIVATE KEY-----\nabc"), "[redacted private key]"],
    [
      "commits and hashes stay",
      `${"0123abcd".repeat(5)} ${"f".repeat(64)}`,
      `${"0123abcd".repeat(5)} ${"f".repeat(64)}`,
    ],
    [
      "ordinary text stays",
      "the task-list of risk-analysis, git@github.com:a/b.git",
      "the task-list of risk-analysis, git@github.com:a/b.git",
    ],
  ];
  for (const [name, text, is] of rows) it(name, () => assert.equal(redactor.text(text), is));

  it("goes through every part of a value and leaves the rest", () => {
    const value = { n: 1, ok: true, none: null, list: ["s3cr3t value/é", 2], deep: { "s3cr3t value/é": "x" } };
    assert.deepEqual(redactor.value(value), {
      n: 1,
      ok: true,
      none: null,
      list: ["[redacted]", 2],
      deep: { "[redacted]": "x" },
    });
  });

  it("secrets of an environment are told by their names", () => {
    const env = {
      OPENAI_API_KEY: "a1a",
      GH_TOKEN: "b1b",
      DB_PASSWORD: "c1c",
      PATH: "/bin",
      SSH_AUTH_SOCK: "/tmp/s",
      TYPESAFE_API_KEY: "d1d",
      KEYBOARD: "us",
      MONKEY: "m",
      AWS_SECRET_ACCESS_KEY: "e1e",
      GIT_TOKEN_FILE: "/f",
      EMPTY_KEY: undefined,
    };
    assert.deepEqual(secretsOf(env), ["a1a", "b1b", "c1c", "d1d", "e1e"]);
  });

  it("a word that code holds, too, is no secret, whatever its variable is called", () => {
    const plain = ["postgres", "password1", "not-needed", "lm-studio", "ollama"];
    const secret = ["hunter2hunter2", "correct horse battery", "p@ssw0rd", "postgres12345"];
    const env = Object.fromEntries([...plain, ...secret].map((value, at) => [`A${at}_PASSWORD`, value]));
    assert.deepEqual(secretsOf(env), secret);
  });
});
