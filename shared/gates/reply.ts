import type { WorkerReport } from "../model/attempt.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/** Could files be taken out of the reply? Skipped for workers that write files themselves. */
export function createExtractionGate(): Gate {
  return replyGate(
    "extraction",
    () => "Reply with one JSON object whose files hold whole texts, or with one fenced block for each file",
  );
}

/** Is what was taken out whole? A placeholder or a cut end means that code would be lost. */
export function createTruncationGate(): Gate {
  return replyGate("truncation", ({ path }) =>
    path === undefined
      ? "Send less in one reply: only the files that change, or SEARCH/REPLACE blocks for the lines that do"
      : "Send the whole text of each file, to its last line, without placeholders",
  );
}

type Problem = WorkerReport["problems"][number];
type Remedy = (problem: Problem) => string;

function replyGate(kind: Problem["kind"], remedy: Remedy): Gate {
  return {
    id: kind,
    phase: "change",
    run: ({ report }) =>
      Promise.resolve(
        report === undefined ? { kind: "skipped", why: "there is no reply" } : ran(problemsOf(report, kind, remedy)),
      ),
  };
}

function problemsOf({ problems }: WorkerReport, kind: Problem["kind"], remedy: Remedy): Finding[] {
  return problems
    .filter((problem) => problem.kind === kind)
    .map((problem) => {
      const { message, path, evidence } = problem;
      return finding(kind, "FAIL", message, {
        ...(path === undefined ? {} : { path }),
        evidence,
        remedy: remedy(problem),
      });
    });
}
