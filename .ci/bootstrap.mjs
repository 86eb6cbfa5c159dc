// Entry of every package script: node .ci/bootstrap.mjs <task> [args]
// Runs on Node 18 without any package. Finds a Node at or above the floor (the running one, else a pinned one in
// the cache), brings node_modules in line with package-lock.json, then runs .ci/tasks.mjs with that Node.
import { spawn, spawnSync } from "node:child_process";
import crypto from "node:crypto";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.mjs";

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const FLOOR = [22, 19];
const PINNED = "24.21.0";
const INTEGRITY = {
  "linux-x64": "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  "linux-arm64": "sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==",
  "win-x64": "sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==",
};
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "orch-build");
const WINDOWS = process.platform === "win32";

class Stop extends Error {}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof Stop)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

async function main([task, ...args]) {
  if (!task) throw new Stop("No task was named.\nNext: npm run, which lists the scripts.");
  const node = enough(process.versions.node) ? process.execPath : await cachedNode();
  const env = { ...process.env, PATH: path.dirname(node) + path.delimiter + (process.env.PATH ?? "") };
  await installPackages(node, env);
  return await run(node, [path.join(ROOT, ".ci", "tasks.mjs"), task, ...args], env);
}

function enough(version) {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1]);
}

async function cachedNode() {
  const target = `${WINDOWS ? "win" : process.platform}-${process.arch}`;
  const home = path.join(CACHE, `node-${PINNED}`);
  const node = path.join(home, "bin", WINDOWS ? "node.exe" : "node");
  if (answers(node)) return node;
  if (!INTEGRITY[target]) {
    throw new Stop(
      `Node ${process.versions.node} is too old and no pinned Node is listed for ${target}.\n` +
        `Next: install Node ${FLOOR.join(".")} or newer from https://nodejs.org, then type the command again.`,
    );
  }
  return await withLock(`${home}.lock`, "Node install", () => {
    if (!answers(node)) installNode(target, home, node);
    return node;
  });
}

function answers(node) {
  if (!fs.existsSync(node)) return false;
  const reply = spawnSync(node, ["-p", "process.versions.node"], { encoding: "utf8" });
  return reply.status === 0 && enough(reply.stdout.trim());
}

function installNode(target, home, node) {
  const spec = `node-${target}@${PINNED}`;
  console.log(`Node ${process.versions.node} is below ${FLOOR.join(".")}: getting ${spec} into ${home}.`);
  const temp = fs.mkdtempSync(path.join(CACHE, "install-"));
  try {
    const pack = npm(process.execPath, ["pack", spec, "--ignore-scripts", "--silent", "--pack-destination", temp], {
      cwd: temp,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "inherit"],
    });
    const archive = fs.readdirSync(temp).find((name) => name.endsWith(".tgz"));
    if (pack.status !== 0 || !archive) {
      throw new Stop(
        `Could not get ${spec} from the npm registry (npm pack ended with ${pack.status ?? pack.error?.message}).\n` +
          `Next: check "npm ping", or install Node ${FLOOR.join(".")} or newer yourself and type the command again.`,
      );
    }
    const bytes = fs.readFileSync(path.join(temp, archive));
    const found = `sha512-${crypto.createHash("sha512").update(bytes).digest("base64")}`;
    if (found !== INTEGRITY[target]) {
      throw new Stop(
        `The archive of ${spec} is not the pinned one: expected ${INTEGRITY[target]}, found ${found}.\n` +
          "Next: check which registry npm uses (npm config get registry). Nothing was installed.",
      );
    }
    const untar = spawnSync("tar", ["-xzf", archive], { cwd: temp, stdio: ["ignore", "inherit", "inherit"] });
    if (untar.status !== 0)
      throw new Stop(`Could not unpack ${spec}: tar ended with ${untar.status}.\nNext: install tar.`);
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(path.join(temp, "package"), home);
  } finally {
    fs.rmSync(temp, { recursive: true, force: true });
  }
  if (!answers(node)) {
    throw new Stop(
      `${node} was installed and does not run on this machine (another C library, perhaps).\n` +
        `Next: install Node ${FLOOR.join(".")} or newer with the system's own tools and type the command again.`,
    );
  }
}

async function installPackages(node, env) {
  const lockfile = path.join(ROOT, "package-lock.json");
  const modules = path.join(ROOT, "node_modules");
  const stamp = path.join(modules, ".orch-stamp");
  const wanted = crypto.createHash("sha256").update(fs.readFileSync(lockfile)).digest("hex");
  const current = () => read(stamp) === wanted;
  if (current()) return;
  const key = crypto.createHash("sha256").update(ROOT).digest("hex").slice(0, 12);
  await withLock(path.join(CACHE, `packages-${key}.lock`), "package install", () => {
    if (current()) return;
    if (!agrees(lockfile, path.join(modules, ".package-lock.json"))) {
      console.log("node_modules does not match package-lock.json: running npm ci.");
      const ci = npm(node, ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], {
        cwd: ROOT,
        env,
        stdio: ["ignore", "inherit", "inherit"],
      });
      if (ci.status !== 0) {
        throw new Stop(
          `Installing the packages of package-lock.json failed (npm ci ended with ${ci.status ?? ci.error?.message}).\n` +
            "Next: read npm's message above; without a network, copy node_modules from another checkout.",
        );
      }
    }
    fs.writeFileSync(stamp, wanted);
  });
}

// An install made by hand counts when every package of the lockfile that this machine needs is there.
function agrees(lockfile, installed) {
  try {
    const have = JSON.parse(fs.readFileSync(installed, "utf8")).packages;
    const want = JSON.parse(fs.readFileSync(lockfile, "utf8")).packages;
    const missing = Object.entries(want).some(
      ([at, pkg]) => at !== "" && !pkg.optional && !pkg.link && have[at]?.version !== pkg.version,
    );
    const surplus = Object.keys(have).some((at) => !want[at]);
    return !missing && !surplus;
  } catch {
    return false;
  }
}

function npm(node, args, options) {
  const cli = process.env.npm_execpath;
  if (cli && path.basename(cli) === "npm-cli.js" && fs.existsSync(cli)) return spawnSync(node, [cli, ...args], options);
  return spawnSync("npm", args, { ...options, shell: WINDOWS });
}

function run(node, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(node, args, { stdio: "inherit", env, cwd: ROOT });
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    process.on("SIGINT", () => {}); // the terminal has sent it to the child as well
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(signal ? 128 + (os.constants.signals[signal] ?? 0) : code));
  });
}

function read(file) {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
