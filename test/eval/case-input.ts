import type { WorkerReport } from "../../shared/model/attempt.ts";
import { Contract } from "../../shared/model/contract.ts";
import type { Observed } from "../../shared/model/observed.ts";
import { unknownUsage } from "../../shared/model/usage.ts";
import type { Exit, Output, Process } from "../../shared/ports/process.ts";
import type { CaseFacts } from "./corpus.ts";

/** What a case says, in the words of the product. */

export function contractOf({ contract }: CaseFacts): Contract {
  const check = (line: string): { name: string; argv: string } => ({ name: line, argv: line });
  return Contract.parse({
    id: "case",
    title: "case",
    goal: "make the project work",
    mode: contract.mode,
    allowed: contract.allowed,
    protected: contract.protected,
    max_diff_lines: contract.max_diff_lines,
    max_test_diff_lines: contract.max_test_diff_lines,
    checks: contract.checks.map(check),
    hidden_checks: contract.hidden_checks.map(check),
    worktree_links: contract.worktree_links,
    allow_test_removal: contract.allow_test_removal,
  });
}

export function reportOf({ worker }: CaseFacts): WorkerReport {
  const crashed = (worker.signal ?? "") !== "" || worker.exit !== 0;
  const done = worker.status === "done" && !crashed;
  const why = worker.signal ?? worker.stderr ?? `exit code ${worker.exit}`;
  return {
    kind: done ? "done" : worker.status === "blocked" ? "gave-up" : "failed",
    ...(crashed ? { cause: "environment" as const } : {}),
    summary: crashed ? `the program ended with ${why}` : `status ${worker.status ?? "missing"}`,
    claims: worker.files_changed ?? [],
    concerns: worker.concerns,
    refused: [],
    problems: [],
    usage: unknownUsage,
    durationMs: 0,
  };
}

export function observedOf({ observed }: CaseFacts): Observed {
  return {
    ...(observed.writes_outside === undefined ? {} : { writesOutside: observed.writes_outside }),
    ...(observed.head_moved === undefined ? {} : { headMoved: observed.head_moved }),
    ...(observed.skip_worktree === undefined ? {} : { skipWorktree: observed.skip_worktree }),
    ...(observed.git_config_changed === undefined ? {} : { gitConfigChanged: observed.git_config_changed }),
    ...(observed.ignored_files === undefined ? {} : { ignoredFiles: observed.ignored_files }),
  };
}

/** The case's own record of each command stands for running it. A command without a record passed. */
export function replayed({ check_results }: CaseFacts): Pick<Process, "run"> {
  return {
    run({ argv }): Promise<Exit & Output> {
      const line = argv.join(" ");
      const result = check_results.find(({ cmd }) => cmd.trim().split(/\s+/).join(" ") === line);
      const output = {
        stdout: new TextEncoder().encode(result?.stdout ?? ""),
        stderr: new Uint8Array(),
        leftovers: 0,
        durationMs: 0,
      };
      if (result?.timed_out === true) return Promise.resolve({ kind: "timed-out", ...output });
      const code = result === undefined ? 0 : (result.exit ?? 1);
      return Promise.resolve({ kind: "exited", code, ...output });
    },
  };
}
