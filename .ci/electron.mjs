// The host tests in desktop VS Code: npm run test:electron. Downloads VS Code once (VSCODE_VERSION, default stable), or
// takes the one at VSCODE_EXECUTABLE. Linux without a display: xvfb-run -a npm run test:electron.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { ROOT } from "./shell.mjs";

const FILES = ["editor-node", "activation", "following", "model-lane", "editor-help", "tasks"];
const HANDLER = "import os\nimport re\n\n\ndef total(lines: list[int]) -> int:\n    return sum(lines)\n";

/** Resolves with an exit code. The results are what the host wrote, not what its process ended with. */
export async function electron() {
  const { runTests } = await import("@vscode/test-electron");
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "orch-electron-"));
  const results = path.join(temp, "results.json");
  try {
    const executable = process.env.VSCODE_EXECUTABLE;
    await runTests({
      version: process.env.VSCODE_VERSION ?? "stable",
      ...(executable ? { vscodeExecutablePath: path.resolve(executable) } : {}),
      extensionDevelopmentPath: [ROOT, path.join(ROOT, "test/fixtures/scripted-model-extension")],
      extensionTestsPath: path.join(ROOT, "out/test/extension/host/index.js"),
      extensionTestsEnv: { ORCH_TEST_RESULTS: results, ORCH_TEST_FILES: FILES.join(",") },
      launchArgs: [repository(temp), "--disable-extension", "GitHub.copilot"],
    });
  } catch (error) {
    console.error(String(error));
  } finally {
    report(results);
    fs.rmSync(temp, { recursive: true, force: true });
  }
  return process.exitCode ?? 0;
}

function report(file) {
  const results = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : [];
  const failed = results.filter(({ state }) => state === "failed");
  for (const { title, stack, message } of failed) console.error(`failed: ${title}\n${stack ?? message}`);
  const passed = results.filter(({ state }) => state === "passed").length;
  console.log(`${passed} passed, ${failed.length + (results.length === 0 ? 1 : 0)} failed`);
  if (failed.length > 0 || passed === 0) process.exitCode = 1;
}

/** A small repository with one feature, as the tests expect it. */
function repository(temp) {
  const root = path.join(temp, "repo");
  const files = {
    ".features.json": JSON.stringify({ known_features: { Invoice: "Billing" } }, null, 2),
    "features/Billing/Invoice/Handler.py": HANDLER,
    "features/Billing/Invoice/spec.md": "# Invoice\n",
    "features/Billing/Invoice/Tests.py": "def test_a() -> None:\n    assert True\n",
  };
  for (const [name, text] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.writeFileSync(path.join(root, name), text);
  }
  const who = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgSign=false"];
  for (const args of [
    ["init", "-q", "-b", "main"],
    ["add", "-A"],
    [...who, "commit", "-q", "-m", "first"],
  ]) {
    const done = spawnSync("git", args, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
    if (done.status !== 0) throw new Error(`git ${args.join(" ")} failed in the sample`);
  }
  return root;
}
