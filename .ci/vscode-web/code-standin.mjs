#!/usr/bin/env node
// Takes the arguments that @vscode/test-electron gives to desktop VS Code and runs the same tests in the VS Code server
// instead, so that a machine without a desktop exercises that road too:
//   VSCODE_EXECUTABLE=.ci/vscode-web/code-standin.mjs npm run test:electron
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const args = process.argv.slice(2);
const value = (name) => args.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3);
const developed = args.filter((arg) => arg.startsWith("--extensionDevelopmentPath=")).map((arg) => arg.split("=")[1]);
const folder = args.find((arg) => arg.startsWith("/"));
if (value("extensionTestsPath") === undefined || folder === undefined) {
  console.error("This stands in for desktop VS Code in tests only: it needs a tests path and a folder.");
  process.exit(2);
}
const { runInHost } = await import(pathToFileURL(path.join(root, "out/test/extension/harness/host-run.js")).href);
const results = await runInHost({
  files: (process.env.ORCH_TEST_FILES ?? "").split(","),
  folder,
  options: { unpacked: developed.filter((at) => path.resolve(at) !== root) },
  timeoutMs: 300_000,
  artifacts: path.join(root, "artifacts/extension/electron-standin"),
  resultsFile: process.env.ORCH_TEST_RESULTS,
});
process.exit(results.some(({ state }) => state === "failed") ? 1 : 0);
