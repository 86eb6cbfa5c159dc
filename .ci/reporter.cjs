"use strict";
// Mocha reporter: prints a failure when it happens and nothing for a pass, and writes the counts as JSON, which is
// what .ci/test.mjs adds up. A suite that does not end by itself is a failure that names what it still holds.
const fs = require("node:fs");

const LINGER_MS = 5000;

module.exports = function OrchReporter(runner, options) {
  const { suite = "tests", output, groups } = options.reporterOptions ?? options.reporterOption ?? {};
  const passed = new Set();
  const failed = new Map();
  const skipped = new Set();
  let running;
  const started = Date.now();

  const write = () => {
    if (!output) return;
    const report = {
      passed: [...passed].filter((test) => !failed.has(test)).length,
      failed: [...failed.values()],
      skipped: [...skipped].map((test) => test.fullTitle()),
      durationMs: Date.now() - started,
    };
    fs.writeFileSync(`${output}.part`, JSON.stringify(report));
    fs.renameSync(`${output}.part`, output);
  };
  // For suites that take minutes without a word: what each group of the first level took.
  const tell = (group) => {
    if (!group.parent?.root || group.tests.length === 0) return;
    const counts = [
      `${group.tests.filter((test) => passed.has(test)).length} passed`,
      `${group.tests.filter((test) => failed.has(test)).length} failed`,
      `${group.tests.filter((test) => skipped.has(test)).length} skipped`,
    ].filter((count) => !/^0 [fs]/.test(count));
    const spent = group.tests.reduce((sum, test) => sum + (test.duration ?? 0), 0);
    console.log(`[${suite}] ${group.title}: ${counts.join(", ")}, ${(spent / 60_000).toFixed(1)} min`);
  };
  const fail = (key, title, error) => {
    const text = error?.stack ?? String(error);
    failed.set(key, { title, message: text.split("\n")[0] });
    console.log(`\n[${suite}] failed: ${title}\n${indent(text + difference(error))}\n`);
  };

  runner.on("test", (test) => (running = test));
  runner.on("test end", () => (running = undefined));
  if (groups) runner.on("suite end", (group) => tell(group));
  runner.on("pass", (test) => passed.add(test));
  runner.on("pending", (test) => skipped.add(test));
  runner.on("fail", (test, error) => fail(test, test.fullTitle(), error));
  runner.once("end", () => {
    write();
    const linger = setTimeout(() => {
      const held = process.getActiveResourcesInfo();
      fail("linger", "the suite ended and its process did not", new Error(`still open: ${held.join(", ")}`));
      write();
      process.exit(1);
    }, LINGER_MS);
    linger.unref();
  });
  process.once("SIGTERM", () => {
    const title = running ? running.fullTitle() : "between two tests";
    fail("limit", title, new Error("still running when the suite's time limit was reached"));
    write();
    process.exit(1);
  });
};

function difference(error) {
  if (!error || error.code === "ERR_ASSERTION" || error.actual === undefined || error.expected === undefined) return "";
  return `\nexpected: ${show(error.expected)}\nactual:   ${show(error.actual)}`;
}

function show(value) {
  return require("node:util").inspect(value, { depth: 6, maxStringLength: 2000 });
}

function indent(text) {
  return text.replace(/^/gm, "  ");
}
