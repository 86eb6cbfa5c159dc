import type { WorkerReport } from "../model/attempt.ts";
import { OrchError } from "../model/error.ts";
import { hasWildcard } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { wantedRoles } from "./audit.ts";
import { finding, ran } from "./gate-finding.ts";

/** Did the worker say it was done, and does what it says fit the change? Its words are shown, never obeyed. */
export function createReportGate(): Gate {
  return {
    id: "report",
    phase: "change",
    run: ({ report, change, attempt, earlier = [], slice, contract }) => {
      if (report === undefined)
        return Promise.resolve({ kind: "skipped", why: "nobody reported: the change is judged alone" });
      const error = programError(report);
      if (error !== undefined) return Promise.resolve({ kind: "broken", error });
      return Promise.resolve(
        ran([
          ...statusFindings(report),
          ...refusedFindings(report, { contract, ...(slice === undefined ? {} : { slice }) }),
          ...claimFindings(report, change.files, { attempt, earlier }),
          ...concernFindings(report),
        ]),
      );
    },
  };
}

/** The worker's program failed: that is nobody's work, good or bad, and a person decides. */
function programError({ kind, cause, summary, code }: WorkerReport): OrchError | undefined {
  if (kind !== "failed" || (cause !== "environment" && cause !== "protocol")) return undefined;
  return new OrchError(code ?? "worker.protocol", summary === "" ? "the worker's program failed" : summary);
}

/** A reply that could not be read has a gate of its own with the better words. */
function statusFindings(report: WorkerReport): Finding[] {
  if (report.kind === "done" || report.problems.length > 0 || report.refused.length > 0) return [];
  const message = `the worker did not finish: ${report.summary === "" ? report.kind : report.summary}`;
  return [
    finding("worker_status", "FAIL", message, {
      evidence: report.kind,
      remedy: "Finish the whole task and report it as done",
    }),
  ];
}

function refusedFindings({ refused }: WorkerReport, at: Pick<GateInput, "slice" | "contract">): Finding[] {
  return refused.map((path) =>
    finding("out_of_scope", "FAIL", `the reply names a file outside its scope, which was not written: ${path}`, {
      evidence: path,
      remedy: rightPlace(path, at),
    }),
  );
}

/** Where what stands in that file belongs, as far as its name tells. */
function rightPlace(path: string, { slice, contract }: Pick<GateInput, "slice" | "contract">): string {
  const name = path.toLowerCase().split(/[\\/]/).at(-1) ?? "";
  if (slice === undefined) {
    const same = contract.allowed.find((one) => !hasWildcard(one) && one.toLowerCase().endsWith(`/${name}`));
    return same === undefined ? `Name only files of the scope: ${contract.allowed.join(", ")}` : `Write it as ${same}`;
  }
  const roles = Object.entries(wantedRoles(slice));
  const same = roles.find(([, file]) => file.toLowerCase() === name);
  // "test_invoice.py" is what the tests are called elsewhere, "invoice_handler.py" the handler.
  const alike = roles.find(([role]) => name.includes(role.replace(/s$/, "")));
  const file = (same ?? alike)?.[1];
  if (file !== undefined) return `Put it into ${file}: the name alone, relative to ${slice.dir}`;
  const all = roles.map(([, one]) => one).join(", ");
  return `Put what it holds into the files of the slice, named relative to ${slice.dir}: ${all}`;
}

/**
 * A later attempt reports what it mended, and the change holds the earlier ones too: only the first can omit a file, and
 * one that an attempt changed and the next put back is touched by it all the same.
 */
function claimFindings(
  { claims }: WorkerReport,
  files: readonly { readonly path: string; readonly oldPath?: string }[],
  { attempt, earlier }: { readonly attempt: number; readonly earlier: readonly string[] },
): Finding[] {
  const changed = new Set(files.flatMap(({ path, oldPath }) => (oldPath === undefined ? [path] : [path, oldPath])));
  if (claims.length === 0 || changed.size === 0) return [];
  const unseen = claims.filter((path) => !changed.has(path) && !earlier.includes(path));
  const omitted = attempt > 1 ? [] : files.map(({ path }) => path).filter((path) => !claims.includes(path));
  return [
    ...mismatch("the report names files the change does not touch", unseen, "Look whether these were meant to change"),
    ...mismatch(
      "the change touches files the report does not name",
      omitted,
      "Look whether these were meant to change",
    ),
  ];
}

function mismatch(message: string, paths: readonly string[], remedy: string): Finding[] {
  if (paths.length === 0) return [];
  return [finding("report_mismatch", "WARN", `${message}: ${paths.slice(0, 5).join(", ")}`, { remedy })];
}

function concernFindings({ concerns, skipped = [] }: WorkerReport): Finding[] {
  const left = skipped.map((path) =>
    finding("protected_skipped", "WARN", `the reply held ${path}, which is protected: it was left as it is`, {
      path,
      remedy: "Leave it out of the reply",
    }),
  );
  const said = concerns.slice(0, 10).map((text) =>
    finding("worker_concern", "WARN", "the worker has a concern", {
      evidence: text,
      remedy: "Read it before you accept the work",
    }),
  );
  return [...left, ...said];
}
