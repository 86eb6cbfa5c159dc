// Small pieces the tasks share: where the root is, how a development tool of node_modules is started.
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The script behind node_modules/.bin/<name>, so that it runs with this Node on every system. */
export function toolOf(pkg, name = pkg) {
  const home = path.join(ROOT, "node_modules", pkg);
  const { bin } = JSON.parse(fs.readFileSync(path.join(home, "package.json"), "utf8"));
  return path.join(home, typeof bin === "string" ? bin : (bin[name] ?? Object.values(bin)[0]));
}

/** Runs a command with inherited output and closed stdin; resolves with its exit code. */
export function execute(command, args, { env = process.env, stdin = "ignore" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, env, stdio: [stdin, "inherit", "inherit"] });
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

export function tool(pkg, args, options) {
  return execute(process.execPath, [toolOf(pkg), ...args], options);
}

export function minutes(ms) {
  return `${(ms / 60_000).toFixed(2)} min`;
}
