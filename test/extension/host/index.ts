// What VS Code loads as the tests path: runs mocha in the extension host and leaves the results in a file. The same
// compiled file runs in the remote host (npm test) and in desktop VS Code (npm run test:electron).
import fs from "node:fs";
import path from "node:path";
import Mocha from "mocha";

interface Result {
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly message?: string;
  readonly stack?: string;
  readonly ms: number;
}

export async function run(): Promise<void> {
  process.setSourceMapsEnabled(true);
  const grep = process.env["ORCH_TEST_GREP"];
  const mocha = new Mocha({ ui: "bdd", color: false, timeout: 400_000, ...(grep === undefined ? {} : { grep }) });
  mocha.reporter(Mocha.reporters.Base); // it counts and prints nothing
  const results: Result[] = [];
  try {
    const names = (process.env["ORCH_TEST_FILES"] ?? "").split(",").filter((name) => name !== "");
    for (const name of names) mocha.addFile(path.join(import.meta.dirname, `${name}.js`));
    await mocha.loadFilesAsync();
    await new Promise<void>((resolve) => {
      const runner = mocha.run(() => resolve());
      runner.on("pass", (test) => results.push({ title: test.fullTitle(), state: "passed", ms: test.duration ?? 0 }));
      runner.on("pending", (test) => results.push({ title: test.fullTitle(), state: "skipped", ms: 0 }));
      runner.on("fail", (test, error: Error) => results.push(failure(test.fullTitle(), error)));
    });
  } catch (error) {
    results.push(failure("loading the test files", error));
  }
  const file = process.env["ORCH_TEST_RESULTS"];
  if (file !== undefined) fs.writeFileSync(file, JSON.stringify(results, null, 2));
  const failed = results.filter((result) => result.state === "failed");
  if (failed.length > 0) throw new Error(`${failed.length} failed: ${failed[0]?.title}: ${failed[0]?.message}`);
}

function failure(title: string, error: unknown): Result {
  const known = error instanceof Error ? error : new Error(String(error));
  return { title, state: "failed", message: known.message, ms: 0, ...(known.stack ? { stack: known.stack } : {}) };
}
