// Real worker clients for the tests, each pinned, in the build cache: a folder of its own for each version, made whole
// beside its place and stamped when its program answers. Failures are printed, never thrown: the tests that need a
// client skip by name. `npm test` needs codex (pi is a development dependency); `npm run test:workers` takes them all.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";

const WINDOWS = process.platform === "win32";
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "orch-build", "clients");

// Their install scripts run: claude and opencode do not start without them.
const CLIENTS = JSON.parse(fs.readFileSync(new URL("clients.json", import.meta.url), "utf8"));

export const clientNames = Object.keys(CLIENTS);

function homeOf(name) {
  return path.join(CACHE, `${name}-${CLIENTS[name].version}`);
}

function hasClient(name) {
  return fs.existsSync(path.join(homeOf(name), ".installed"));
}

/** Resolves with the names that could not be had. */
export async function installClients(names) {
  const missing = [];
  for (const name of names) {
    if (hasClient(name)) continue;
    const home = homeOf(name);
    const why = await withLock(`${home}.lock`, `install of ${name}`, () =>
      hasClient(name) ? undefined : install(name, home),
    );
    if (why === undefined) continue;
    console.error(`${name} was not installed: ${why}; the tests that need it skip by name.`);
    missing.push(name);
  }
  return missing;
}

function install(name, home) {
  const { package: pkg, version, setup } = CLIENTS[name];
  const part = `${home}.${process.pid}.part`;
  console.log(`Installing ${pkg} ${version} for the tests.`);
  try {
    fs.rmSync(part, { recursive: true, force: true });
    fs.mkdirSync(part, { recursive: true });
    fs.writeFileSync(
      path.join(part, "package.json"),
      JSON.stringify({ private: true, dependencies: { [pkg]: version } }),
    );
    const end = npm(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], part);
    if (end.status !== 0) return `npm install ended with ${end.status ?? end.error?.message}`;
    const installed = JSON.parse(fs.readFileSync(path.join(part, "node_modules", pkg, "package.json"), "utf8")).version;
    if (installed !== version) return `npm brought ${installed} instead of ${version}`;
    // Scripts of packages do not run, but for the one by which a client finds its own program.
    const folder = path.join(part, "node_modules", pkg);
    const ready =
      setup === undefined ? undefined : spawnSync(process.execPath, [setup], { cwd: folder, stdio: "ignore" });
    if (ready !== undefined && ready.status !== 0)
      return `its ${setup} ended with ${ready.status ?? ready.error?.message}`;
    fs.writeFileSync(path.join(part, ".installed"), `${new Date().toISOString()}\n`);
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(part, home);
    return undefined;
  } catch (error) {
    return error.message;
  } finally {
    fs.rmSync(part, { recursive: true, force: true });
  }
}

function npm(args, cwd) {
  const cli = process.env.npm_execpath;
  const options = { cwd, stdio: ["ignore", "ignore", "inherit"], timeout: 10 * 60_000 };
  if (cli && path.basename(cli) === "npm-cli.js" && fs.existsSync(cli))
    return spawnSync(process.execPath, [cli, ...args], options);
  return spawnSync("npm", args, { ...options, shell: WINDOWS });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.length > 2 ? process.argv.slice(2) : clientNames;
  process.exitCode = (await installClients(names)).length === 0 ? 0 : 1;
}
