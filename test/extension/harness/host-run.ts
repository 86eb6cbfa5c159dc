// Runs test files inside VS Code's real extension host and brings their results back. The host is trusted only through
// the result file: one that dies is reported to the page as exit code 0.
import fs from "node:fs";
import path from "node:path";
import { launchBrowser } from "./browser.ts";
import { ROOT, type ServerOptions, startServer } from "./server.ts";

export interface HostResult {
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly message?: string;
  readonly stack?: string;
  readonly ms: number;
}

export interface HostRun {
  /** Names files of test/extension/host. */
  readonly files: readonly string[];
  readonly folder?: string;
  readonly workspace?: string;
  readonly options?: ServerOptions;
  readonly language?: string;
  readonly timeoutMs: number;
  /** Where logs and a picture go when the run fails. */
  readonly artifacts: string;
  /** Where the host writes its results; in `artifacts` when absent. */
  readonly resultsFile?: string;
}

export async function runInHost(run: HostRun): Promise<readonly HostResult[]> {
  const results = run.resultsFile ?? path.join(run.artifacts, "results.json");
  fs.rmSync(run.artifacts, { recursive: true, force: true });
  fs.mkdirSync(run.artifacts, { recursive: true });
  const server = await startServer({
    ...run.options,
    driver: true,
    env: {
      ORCH_TEST_RESULTS: results,
      ORCH_TEST_FILES: run.files.join(","),
      ...(process.env["ORCH_TEST_GREP"] === undefined ? {} : { ORCH_TEST_GREP: process.env["ORCH_TEST_GREP"] }),
      ...run.options?.env,
    },
  });
  const { browser, context } = await launchBrowser(run.language);
  try {
    const page = await context.newPage();
    page.setDefaultNavigationTimeout(180_000);
    let finish: (value: string) => void = () => {};
    const finished = new Promise<string>((resolve) => (finish = resolve));
    await page.exposeFunction("codeAutomationExit", (code: number) => finish(`exit ${code}`));
    const log = path.join(run.artifacts, "workbench.log");
    await page.exposeFunction("codeAutomationLog", (level: string, args: unknown[]) => {
      const text = args.map(String).join(" ");
      fs.appendFileSync(log, `[${level}] ${text}\n`);
      if (process.env["ORCH_TEST_VERBOSE"] !== undefined) console.log(`  [${level}] ${text}`);
    });
    const developed = ["extensionDevelopmentPath", server.remoteUri(ROOT)];
    const tests = ["extensionTestsPath", server.remoteUri(path.join(ROOT, "out/test/extension/host/index.js"))];
    const opened = run.workspace === undefined ? { folder: run.folder } : { workspace: run.workspace };
    await page.goto(server.url({ ...withoutUndefined(opened), payload: [developed, tests] }));
    const timer = new Promise<string>((resolve) => setTimeout(resolve, run.timeoutMs, "timeout").unref());
    const how = await Promise.race([finished, timer]);
    const written = fs.existsSync(results) ? (JSON.parse(fs.readFileSync(results, "utf8")) as HostResult[]) : [];
    const ok = written.length > 0 && written.every((result) => result.state !== "failed");
    if (!ok) {
      await page.screenshot({ path: path.join(run.artifacts, "workbench.png") }).catch(() => {});
      const logs = path.join(server.scratch, "data/logs");
      if (fs.existsSync(logs)) fs.cpSync(logs, path.join(run.artifacts, "logs"), { recursive: true });
    }
    if (written.length === 0) {
      const where = path.relative(ROOT, run.artifacts);
      throw new Error(`the extension host left no results (${how}); its logs are in ${where}`);
    }
    return written;
  } finally {
    await browser.close();
    await server.stop();
  }
}

function withoutUndefined<T extends object>(value: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
