// Last step of .ci/run: node .ci/close.mjs <summary of the tests> [failed step...]. Runs on Node 18.
import fs from "node:fs";

const [summary, ...steps] = process.argv.slice(2);
let tests = { passed: 0, failed: 0, skipped: 0 };
try {
  tests = JSON.parse(fs.readFileSync(summary, "utf8"));
} catch {
  if (!steps.includes("test")) steps.push("test");
}
// Failed tests are counted one by one; a test step that failed without any is one failure of its own.
const extra = steps.filter((step) => step !== "test" || tests.failed === 0);
for (const step of steps) console.log(`Failed step: ${step}`);
const failed = tests.failed + extra.length;
console.log(`\n${tests.passed} passed, ${failed} failed${tests.skipped > 0 ? `, ${tests.skipped} skipped` : ""}`);
process.exitCode = failed > 0 || tests.passed === 0 ? 1 : 0;
