// npm run test:electron without a desktop: a program stands in for VS Code, notes how it was called, and leaves results
// as the host would. What only a desktop can show runs there; .ci/vscode-web/code-standin.mjs runs the tests themselves.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { TempDir } from "../support/temp-dir.ts";
import { ROOT } from "./harness/server.ts";

interface Call {
  readonly args: readonly string[];
  readonly files: string;
  readonly results: string;
  readonly subject: string;
  readonly slice: readonly string[];
}

const program = (results: unknown): string => `#!${process.execPath}
const fs = require("node:fs");
const { execFileSync } = require("node:child_process");
const args = process.argv.slice(2);
const cwd = args.find((arg) => arg.startsWith("/"));
fs.writeFileSync(__filename + ".json", JSON.stringify({
  args,
  files: process.env.ORCH_TEST_FILES,
  results: process.env.ORCH_TEST_RESULTS,
  subject: execFileSync("git", ["log", "-1", "--format=%s"], { cwd, encoding: "utf8" }).trim(),
  slice: fs.readdirSync(cwd + "/features/Billing/Invoice").sort(),
}));
const results = ${JSON.stringify(results)};
if (results !== null) fs.writeFileSync(process.env.ORCH_TEST_RESULTS, JSON.stringify(results));
`;

describe("npm run test:electron", () => {
  const temp = new TempDir();
  const before = { executable: process.env["VSCODE_EXECUTABLE"], code: process.exitCode };
  after(() => {
    if (before.executable === undefined) delete process.env["VSCODE_EXECUTABLE"];
    else process.env["VSCODE_EXECUTABLE"] = before.executable;
    temp[Symbol.dispose]();
  });

  async function run(name: string, results: unknown): Promise<{ readonly code: number; readonly call: Call }> {
    const at = temp.at(name);
    fs.writeFileSync(at, program(results), { mode: 0o755 });
    process.env["VSCODE_EXECUTABLE"] = at;
    const { electron } = (await import(pathToFileURL(path.join(ROOT, ".ci/electron.mjs")).href)) as {
      electron(): Promise<number>;
    };
    const { error, log } = console;
    try {
      // Its summary is a person's; here it would stand among that of the suite.
      Object.assign(console, { error: () => undefined, log: () => undefined });
      const code = await electron();
      return { code, call: JSON.parse(fs.readFileSync(`${at}.json`, "utf8")) as Call };
    } finally {
      Object.assign(console, { error, log });
      process.exitCode = before.code;
    }
  }

  it("opens a small repository with this extension, its tests and the scripted models", async () => {
    const { code, call } = await run("code-green.cjs", [{ title: "a", state: "passed", ms: 1 }]);
    assert.equal(code, 0);
    const value = (name: string): readonly string[] =>
      call.args.filter((arg) => arg.startsWith(`--${name}=`)).map((arg) => arg.slice(name.length + 3));
    const tests = path.join(ROOT, "out/test/extension/host/index.js");
    assert.deepEqual(value("extensionTestsPath"), [tests]);
    assert.deepEqual(value("extensionDevelopmentPath"), [
      ROOT,
      path.join(ROOT, "test/fixtures/scripted-model-extension"),
    ]);
    assert.equal(call.args[call.args.indexOf("--disable-extension") + 1], "GitHub.copilot");
    assert.deepEqual([call.subject, call.slice], ["first", ["Handler.py", "Tests.py", "spec.md"]]);
    // What it names is there: a test file that was renamed would be looked for on a desktop only.
    assert.ok(fs.existsSync(tests));
    for (const name of call.files.split(","))
      assert.ok(fs.existsSync(path.join(path.dirname(tests), `${name}.js`)), name);
  });

  it("fails for a failed test, and for a window that left no results", async () => {
    assert.equal((await run("code-red.cjs", [{ title: "a", state: "failed", message: "no", ms: 1 }])).code, 1);
    assert.equal((await run("code-dead.cjs", null)).code, 1);
  });
});
