// Runs the suites of suites.mjs on the compiled tests in out/ and ends with one plain line: N passed, N failed.
// Arguments: parts of test file paths, --suite a,b, --grep text, --fast, --groups (a line for each group), --no-build.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ROOT, minutes, toolOf } from "./shell.mjs";
import { AT_ONCE, SUITES, suiteOf } from "./suites.mjs";

const KILL_AFTER_MS = 8000;

export async function test(argv, build) {
  const { values: options, positionals: parts } = parseArgs({
    args: argv,
    allowPositionals: true,
    options: {
      suite: { type: "string" },
      grep: { type: "string" },
      fast: { type: "boolean" },
      groups: { type: "boolean" },
      "no-build": { type: "boolean" },
    },
  });
  const temp = fs.mkdtempSync(path.join(os.tmpdir(), "orch-test-"));
  try {
    const failedBuild = options["no-build"] ? [] : await build();
    const plan = planOf(testFiles(), parts, options);
    const reports = await runAll(plan.suites, options, temp);
    return close([{ name: "build", failed: [...failedBuild, ...plan.homeless], passed: 0, skipped: [] }, ...reports]);
  } finally {
    fs.rmSync(temp, { recursive: true, force: true });
  }
}

function planOf(files, parts, options) {
  const named = options.suite?.split(",");
  const wanted = files.filter((file) => parts.length === 0 || parts.some((part) => file.includes(part)));
  const homeless = files
    .filter((file) => !suiteOf(file))
    .map((file) => ({ title: file, message: "belongs to no suite of .ci/suites.mjs" }));
  const suites = SUITES.filter((suite) => {
    if (named) return named.includes(suite.name);
    if (options.fast) return suite.fast;
    return !suite.onlyByName;
  }).map((suite) => ({ ...suite, files: wanted.filter((file) => suiteOf(file) === suite) }));
  return { suites, homeless };
}

async function runAll(suites, options, temp) {
  const reports = [];
  const queue = suites.filter((suite) => suite.files.length > 0);
  for (const suite of suites) if (suite.files.length === 0) console.log(`[${suite.name}] no test files.`);
  const worker = async () => {
    for (let suite = queue.shift(); suite; suite = queue.shift()) {
      const report = await runSuite(suite, options, temp);
      console.log(`[${suite.name}] ${counts(report)} in ${minutes(report.durationMs)}`);
      reports.push(report);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, os.availableParallelism()) }, worker));
  return reports;
}

async function runSuite(suite, options, temp) {
  const output = path.join(temp, `${suite.name}.json`);
  const home = path.join(temp, `${suite.name}-home`);
  fs.mkdirSync(home);
  const compiled = suite.files.map((file) => path.join("out", file.replace(/\.ts$/, ".js")));
  const lost = compiled.filter((file) => !fs.existsSync(path.join(ROOT, file)));
  const args = [
    "--enable-source-maps",
    "--disable-warning=ExperimentalWarning",
    toolOf("mocha"),
    "--forbid-only",
    `--timeout=${suite.timeoutMs}`,
    `--reporter=${path.join(ROOT, ".ci/reporter.cjs")}`,
    `--reporter-option=suite=${suite.name},output=${output}${options.groups ? ",groups=true" : ""}`,
    ...(options.grep ? [`--grep=${options.grep}`] : []),
    ...(options.fast ? ["--grep=@slow", "--invert"] : []),
    ...compiled.filter((file) => !lost.includes(file)),
  ];
  const started = Date.now();
  const end = lost.length === compiled.length ? { code: 0 } : await mocha(args, environment(home), suite.limitMinutes);
  const written = readReport(output);
  const report = written ?? { passed: 0, failed: [], skipped: [] };
  const failed = [
    ...report.failed,
    ...lost.map((file) => ({ title: file, message: "was not compiled; read the type errors above" })),
  ];
  const quiet = failed.length === 0 && (end.code !== 0 || !written);
  if (quiet) failed.push({ title: `suite ${suite.name}`, message: howItEnded(end, suite) });
  return { name: suite.name, passed: report.passed, failed, skipped: report.skipped, durationMs: Date.now() - started };
}

function mocha(args, env, limitMinutes) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "inherit", "inherit"] });
    let late = false;
    let kill;
    const limit = setTimeout(() => {
      late = true;
      child.kill("SIGTERM"); // the reporter names the test that was running
      kill = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
    }, limitMinutes * 60_000);
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      clearTimeout(limit);
      clearTimeout(kill);
      resolve({ code: code ?? 1, signal, late });
    });
  });
}

function howItEnded({ code, signal, late }, suite) {
  if (late) return `was ended after ${suite.limitMinutes} minutes`;
  return signal
    ? `its process was ended by ${signal}`
    : `its process ended with ${code} before the last test; its message is above`;
}

// A clean machine: a home of its own (no user git configuration, nothing written into the real one), no keys, no
// surrounding editor. The caches stay, they hold what is expensive to get.
function environment(home) {
  const env = { ...process.env };
  for (const name of Object.keys(env)) {
    if (/_API_KEY$|^(ORCH|NVIM|VSCODE|GIT|MOCHA)(_|$)|^XDG_(CONFIG|DATA|STATE)_HOME$|^NODE_OPTIONS$/i.test(name))
      delete env[name];
  }
  env.XDG_CACHE_HOME ||= path.join(os.homedir(), ".cache");
  // Thousands of short processes read the same bundles: each would compile them anew.
  return {
    ...env,
    HOME: home,
    USERPROFILE: home,
    NO_COLOR: "1",
    NODE_COMPILE_CACHE: path.join(home, ".compile-cache"),
  };
}

function close(reports) {
  const failed = reports.flatMap(({ name, failed: list }) => list.map((item) => ({ suite: name, ...item })));
  const skipped = reports.flatMap(({ name, skipped: list }) => list.map((title) => ({ suite: name, title })));
  const passed = reports.reduce((sum, report) => sum + report.passed, 0);
  if (skipped.length > 0) console.log(["", "Skipped:", ...skipped.map((s) => `  [${s.suite}] ${s.title}`)].join("\n"));
  if (failed.length > 0)
    console.log(["", "Failed:", ...failed.map((f) => `  [${f.suite}] ${f.title}: ${f.message}`)].join("\n"));
  console.log("\nMinutes:");
  for (const report of reports)
    if (report.durationMs !== undefined) console.log(`  ${report.name}: ${minutes(report.durationMs)}`);
  if (passed === 0) console.log("\nNo test passed, so this run proves nothing.");
  if (process.env.ORCH_CI_SUMMARY) {
    fs.writeFileSync(
      process.env.ORCH_CI_SUMMARY,
      JSON.stringify({ passed, failed: failed.length, skipped: skipped.length }),
    );
  }
  console.log(`\n${line(passed, failed.length, skipped.length)}`);
  return failed.length > 0 || passed === 0 ? 1 : 0;
}

function line(passed, failed, skipped) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function counts(report) {
  return line(report.passed, report.failed.length, report.skipped.length);
}

function readReport(file) {
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, "utf8")) : undefined;
}

function testFiles() {
  return fs
    .readdirSync(path.join(ROOT, "test"), { recursive: true })
    .map((name) => path.posix.join("test", name.split(path.sep).join("/")))
    .filter((name) => name.endsWith(".test.ts") && !name.startsWith("test/fixtures/"))
    .sort();
}
