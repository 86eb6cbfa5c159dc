// A run as another host would have started it: a real run folder, written by the real log, whose runner is this process.
import fs from "node:fs";
import path from "node:path";
import { createClock } from "../../../shared/adapters/clock.ts";
import { createFiles } from "../../../shared/adapters/files.ts";
import { createIds } from "../../../shared/adapters/ids.ts";
import { createProcess } from "../../../shared/adapters/process.ts";
import { createRedactor } from "../../../shared/adapters/redact.ts";
import { createRunLogs } from "../../../shared/adapters/run-log.ts";
import { absPath } from "../../../shared/base/paths.ts";
import type { RunLog } from "../../../shared/ports/run-log.ts";

export interface ScriptedRun {
  readonly run: string;
  readonly dir: string;
  readonly log: RunLog;
  /** The runner goes away: with an end in the log or, like a dead one, without. */
  leave(): void;
}

const clock = createClock();
const ids = createIds(clock);
const files = createFiles();

export async function scriptedRun(root: string): Promise<ScriptedRun> {
  const run = ids.next("run");
  const dir = path.join(root, ".orch/runs", run);
  for (const name of ["replies", "control"]) fs.mkdirSync(path.join(dir, name), { recursive: true });
  const runner = {
    v: 1,
    pid: process.pid,
    startTime: createProcess().startTimeOf(process.pid) ?? "",
    host: "cli",
    machine: "test",
    version: "0.1.0",
    at: clock.now(),
  };
  fs.writeFileSync(
    path.join(dir, "request.json"),
    JSON.stringify({ v: 1, command: "do", args: {}, cwd: root, host: "cli", at: clock.now() }),
  );
  const log = await createRunLogs({ clock, files, redactor: createRedactor([]) }).open(run, absPath(dir));
  fs.writeFileSync(path.join(dir, "runner.json"), JSON.stringify(runner));
  return {
    run,
    dir,
    log,
    leave() {
      log[Symbol.dispose]();
      fs.rmSync(path.join(dir, "runner.json"), { force: true });
    },
  };
}

/** The events of `do` up to the first attempt's gates. */
export function beginDo(log: RunLog, contract = "Invoice"): void {
  log.append({ type: "run.started", command: "do", title: contract, host: "cli", version: "0.1.0", pid: process.pid });
  log.append({
    type: "contract.queued",
    contract,
    title: contract,
    hash: "0",
    maxAttempts: 3,
    feature: `Billing/${contract}`,
  });
  log.append({ type: "attempt.started", contract, attempt: 1, worker: "completion", base: "HEAD" });
}

export function endDo(log: RunLog, ok: boolean, contract = "Invoice"): void {
  const summary = ok ? `${contract} done` : `${contract} failed after 1 attempt`;
  log.append({ type: "contract.finished", contract, state: ok ? "accepted" : "failed" });
  log.append({ type: "run.finished", outcome: ok ? "ok" : "failed" });
  log.append({ type: "command.finished", ok, code: ok ? 0 : 1, summary, next: ok ? ["orch merge"] : ["orch do"] });
}
