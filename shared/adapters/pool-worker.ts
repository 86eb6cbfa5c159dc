import { lstatSync, readFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { absPath } from "../base/paths.ts";
import type { AuditFile, FileAnswer, RuleSettings } from "../ports/pool.ts";
import { auditFile, maxFileBytes } from "../rulebook/audit-file.ts";
import { loadRules } from "../rulebook/load.ts";
import { createRuleRunner, type RuleRunner } from "../rulebook/run.ts";
import type { PoolOrder, PoolReport, PoolStart } from "./pool-job.ts";
import { createTreeSitterSyntax } from "./syntax-tree-sitter.ts";

/** The thread's side of the pool: an entry of its own in the bundles. It reads files, writes nothing, starts nothing. */
const start = workerData as PoolStart;
const syntax = createTreeSitterSyntax(absPath(start.installRoot));
let runner: RuleRunner | undefined;

function tell(report: PoolReport): void {
  parentPort?.postMessage(report);
}

async function answer(order: PoolOrder): Promise<void> {
  if (order.settings) runner = load(order.settings);
  if (!runner) throw new Error("an order came before its settings");
  for (const [index, file] of order.files.entries()) {
    const last = index === order.files.length - 1;
    const answer = await answerFile(runner, file);
    tell({ id: order.id, answer, ...(last ? { broken: runner.broken() } : {}) });
  }
}

function load(settings: RuleSettings): RuleRunner {
  runner?.[Symbol.dispose]();
  return createRuleRunner(loadRules(settings), syntax);
}

async function answerFile(rules: RuleRunner, { path, at, role }: AuditFile): Promise<FileAnswer> {
  try {
    const stat = lstatSync(at);
    if (!stat.isFile())
      return { kind: "skipped", path, why: stat.isSymbolicLink() ? "a symbolic link" : "not a plain file" };
    if (stat.size > maxFileBytes)
      return { kind: "skipped", path, why: `larger than ${maxFileBytes / 1024 / 1024} MiB` };
    return await auditFile(rules, { path, bytes: readFileSync(at), ...(role === undefined ? {} : { role }) });
  } catch (error) {
    return { kind: "skipped", path, why: error instanceof Error ? error.message : "it could not be checked" };
  }
}

let last = Promise.resolve();
parentPort?.on("message", (order: PoolOrder) => {
  last = last.then(() => answer(order));
});
