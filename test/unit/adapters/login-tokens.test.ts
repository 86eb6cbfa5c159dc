import { deepEqual, equal } from "node:assert/strict";
import { shareTokens, withNewerTokens } from "../../../shared/adapters/login-tokens.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { MemoryFiles } from "../../support/memory-files.ts";

const oauth = (access: string, expires: number, more: object = {}): object => ({
  type: "oauth",
  access,
  refresh: `${access}-refresh`,
  expires,
  ...more,
});
const merged = (text: object, other: object): unknown => {
  const out = withNewerTokens(JSON.stringify(text), JSON.stringify(other));
  return out === undefined ? undefined : JSON.parse(out);
};

describe("tokens of a shared login", () => {
  it("the later ones of the same OAuth entry, and nothing else of it", () => {
    deepEqual(
      merged(
        { a: oauth("old", 1, { accountId: "me" }), k: { type: "api_key", key: "k" } },
        { a: oauth("new", 2, { env: { X: "!x" } }) },
      ),
      { a: oauth("new", 2, { accountId: "me" }), k: { type: "api_key", key: "k" } },
    );
  });

  for (const [name, other] of Object.entries<object>({
    "an older one": { a: oauth("new", 1) },
    "an entry that is not there": { b: oauth("new", 9) },
    "a key in place of the login": { a: { type: "api_key", key: "!touch pwned", expires: 9 } },
    "a provider that brings settings": { a: { type: "wellknown", key: "X", token: "y", expires: 9 } },
    "a command as a token": { a: { ...oauth("new", 9), access: "!touch pwned" } },
    "a variable as a token": { a: { ...oauth("new", 9), refresh: "$HOME" } },
    "no tokens": { a: { type: "oauth", expires: 9 } },
    "an end that is no number": { a: { ...oauth("new", 9), expires: "9" } },
    "no object": [],
  }))
    it(`not ${name}`, () => equal(merged({ a: oauth("old", 1) }, other), undefined));

  it("go to the side that has the spent ones, never through a link of the worker's", async () => {
    const texts = (real: object, copy: object): MemoryFiles =>
      new MemoryFiles({ "/person/auth.json": JSON.stringify(real), "/home/x/auth.json": JSON.stringify(copy) });
    const login = { real: absPath("/person/auth.json"), home: absPath("/home"), copy: "x/auth.json" };
    const at = (files: MemoryFiles): unknown =>
      ["/person/auth.json", "/home/x/auth.json"].map((path) => JSON.parse(String(files.text(path))) as unknown);

    const refreshed = texts({ a: oauth("old", 1) }, { a: oauth("new", 2) });
    await shareTokens(refreshed, login);
    deepEqual(at(refreshed), [{ a: oauth("new", 2) }, { a: oauth("new", 2) }]);

    const elsewhere = texts({ a: oauth("new", 2) }, { a: oauth("old", 1) });
    await shareTokens(elsewhere, login);
    deepEqual(at(elsewhere), [{ a: oauth("new", 2) }, { a: oauth("new", 2) }]);

    const led = new MemoryFiles({
      "/person/auth.json": JSON.stringify({ a: oauth("new", 2) }),
      "/other/auth.json": JSON.stringify({ a: oauth("old", 1) }),
      "/home/keep": "",
    });
    await led.symlink("/other", absPath("/home/x"));
    await shareTokens(led, login);
    deepEqual(JSON.parse(String(led.text("/other/auth.json"))), { a: oauth("old", 1) });
  });
});
