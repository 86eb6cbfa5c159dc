// The package scripts. Started by bootstrap.mjs with a Node at or above the floor and with node_modules in place.
// A task names what it needs from the machine (debian.mjs) and resolves with an exit code.
import fs from "node:fs";
import path from "node:path";
import { bench } from "./bench.mjs";
import { bundle } from "./bundle.mjs";
import { clientNames, installClients } from "./clients.mjs";
import { provide } from "./debian.mjs";
import { electron } from "./electron.mjs";
import { generate } from "./generate.mjs";
import { withLock } from "./lock.mjs";
import { picture } from "./picture.mjs";
import { ROOT, execute, minutes, tool } from "./shell.mjs";
import { test } from "./test.mjs";
import { packVsix } from "./vsix.mjs";

const FOR_TESTS = [
  "git",
  "python",
  "pytest",
  "pycodestyle",
  "terminal",
  "zsh",
  "fish",
  "chromium",
  "fonts",
  "neovim",
  "luacheck",
  "sandbox",
  "socat",
  "ripgrep",
];

const QUIET = ["--disable-warning=ExperimentalWarning"];

const TASKS = {
  // Without them the demo tells its story in TypeScript.
  demo: { needs: ["git"], likes: ["python", "pytest"], run: demo },
  test: { needs: FOR_TESTS, run: tests },
  // Every real worker client, also those that `npm test` leaves out because of their size.
  "test:workers": { needs: ["git"], run: workerTests },
  "test:electron": { needs: ["git"], run: inElectron },
  "test:fast": { needs: [], run: (args) => test(["--fast", ...args], buildForTests) },
  build: { needs: [], run: () => locked(async () => (await compile()) + (await bundled())) },
  typecheck: { needs: [], run: () => locked(compile) },
  lint: { needs: [], run: lint },
  format: { needs: [], run: (args) => tool("oxfmt", args) },
  gen: { needs: [], run: (args) => locked(async () => (await compile()) || (await generate(args))) },
  bench: { needs: FOR_TESTS, run: (args) => bench(args, (rest) => test(["--suite", "bench", ...rest], buildForTests)) },
  // From source: it needs no build, and what it prints is its result.
  "eval:guard": { needs: ["git"], run: (args) => execute(process.execPath, [...QUIET, "test/eval/guard.ts", ...args]) },
  package: { needs: [], run: pack },
  // The README's picture; not one of package.json's scripts, for it is made when the output changes.
  picture: { needs: ["git", "python", "pytest"], run: async () => ((await locked(bundled)) ? 1 : await picture()) },
};

const [name, ...args] = process.argv.slice(2);
const task = TASKS[name];
if (!task) {
  console.error(`There is no task ${name}.\nNext: one of ${Object.keys(TASKS).join(", ")}.`);
  process.exitCode = 2;
} else {
  process.exitCode = provide(task.needs, task.likes) ? await task.run(args) : 1;
}

async function demo(rest) {
  if (await locked(bundled)) return 1;
  const launcher = path.join(ROOT, "dist/cli/orch.cjs");
  if (!fs.existsSync(path.join(ROOT, "dist/cli/main.mjs"))) {
    console.error("dist/cli/main.mjs was not built: shared/cli/main.ts does not exist.");
    return 1;
  }
  return await execute(process.execPath, [launcher, "demo", ...rest], { stdin: "inherit" });
}

async function tests(args) {
  await installClients(["codex"]);
  return await test(args, buildForTests);
}

async function workerTests(args) {
  await installClients(clientNames);
  return await test(
    ["--groups", "--suite", "workers,contract", "worker-cli.contract", "test/workers/", ...args],
    buildForTests,
  );
}

async function lint() {
  const steps = [
    // Under CI=true oxlint colours its output even into a file.
    ["oxlint", () => tool("oxlint", ["--type-aware", "--deny-warnings"], { env: { ...process.env, CI: undefined } })],
    ["oxfmt", () => tool("oxfmt", ["--check"])],
    ["knip", () => tool("knip", ["--no-progress"])],
    ["generated files", () => generate(["--check"])],
  ];
  let failed = 0;
  for (const [what, run] of steps) {
    const started = Date.now();
    const code = await run();
    if (code !== 0) failed = 1;
    console.log(`${what}: ${code === 0 ? "ok" : "failed"}, ${minutes(Date.now() - started)}`);
  }
  return failed;
}

async function inElectron() {
  const code = await locked(async () => (await compile()) || (await bundled()));
  return code === 0 ? await electron() : code;
}

async function pack() {
  const code = await locked(async () => (await compile()) || ((await bundle({ clean: true })) ? 0 : 1));
  if (code !== 0) return code;
  const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  return await packVsix(path.join("artifacts", `orch-${version}.vsix`));
}

// A failed build is a failed item of the test run, and what did compile is still tested.
async function buildForTests() {
  const failed = [];
  await locked(async () => {
    if (await compile()) failed.push({ title: "tsc -b", message: "type errors, listed above" });
    if (await bundled()) failed.push({ title: "bundles", message: "esbuild errors, listed above" });
  });
  return failed;
}

function compile() {
  return tool("typescript", ["-b"]);
}

async function bundled() {
  return (await bundle()) ? 0 : 1;
}

function locked(run) {
  return withLock(path.join(ROOT, "out", ".build-lock"), "build of this checkout", run);
}
