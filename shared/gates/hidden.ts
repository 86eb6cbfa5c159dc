import { type AbsPath, repoPath } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { GateResult } from "../model/gate-result.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/** A copy of the worker's tree with the hidden files in it, in a folder that no worker is told of. Gone after use. */
export interface GradingCopy extends AsyncDisposable {
  readonly root: AbsPath;
  /** For reports of test programs: they hold what the tests assert. */
  readonly reports: AbsPath;
}

export interface Grading {
  open(tree: string, contract: Contract, signal: AbortSignal): Promise<GradingCopy>;
  /** Where a `hidden_files` source lies: it must be there, and not where a worker could read it. */
  locate(from: string): Promise<"outside" | "inside" | "missing">;
}

export interface HiddenDeps {
  /** The gate that runs a contract's own checks: hidden ones are run the same way. */
  readonly checks: Gate;
  readonly grading: Grading;
}

/** Feedback and prompts know findings of hidden checks by this rule. */
const hiddenRule = "hidden_check_failed";

/** Are the hidden files there, and out of the worker's reach? A contract whose measure is missing blocks. */
export function createHiddenFilesGate({ grading }: Pick<HiddenDeps, "grading">): Gate {
  return {
    id: "hidden-files",
    phase: "readiness",
    async run({ contract }) {
      if (contract.hidden_files.length === 0) return { kind: "skipped", why: "the contract has no hidden files" };
      const found: Finding[] = [];
      for (const { from, to } of contract.hidden_files) {
        if (repoPath(to) === undefined) found.push(misplaced(`${to} is no path inside the repository`, to));
        const place = await grading.locate(from);
        if (place === "missing") found.push(misplaced(`the hidden file ${from} is missing`, from));
        if (place === "inside")
          found.push(misplaced(`the hidden file ${from} lies in the repository, where a worker reads it`, from));
      }
      if (contract.hidden_checks.length === 0)
        found.push(
          finding("hidden_unused", "WARN", "there are hidden files and no hidden check", {
            remedy: "Name the check that uses them in hidden_checks",
          }),
        );
      return ran(found);
    },
  };
}

function misplaced(message: string, evidence: string): Finding {
  return finding("hidden_file_missing", "FAIL", message, {
    evidence,
    remedy: "Keep hidden files in a folder outside the repository and name them by their whole path",
  });
}

/**
 * Runs the hidden checks over a copy of the tree. What they say leaves this gate only as far as `hidden_feedback`
 * allows, so that no log, event or prompt can hold more: `names` tells which check failed, `none` that one did.
 */
export function createHiddenGate({ checks, grading }: HiddenDeps): Gate {
  return {
    id: "hidden-checks",
    phase: "change",
    async run(input, signal) {
      const { hidden_checks: hidden, hidden_feedback: mode } = input.contract;
      if (hidden.length === 0) return { kind: "skipped", why: "the contract has no hidden checks" };
      await using copy = await grading.open(input.change.tree, input.contract, signal);
      const findings: Finding[] = [];
      const logs: string[] = [];
      for (const check of hidden) {
        const result = await checks.run(
          {
            ...input,
            contract: { ...input.contract, checks: [check] },
            root: copy.root,
            attemptDir: { relative: input.attemptDir.relative, absolute: copy.reports },
            sink: quiet(input.sink, mode, logs),
          },
          signal,
        );
        if (result.kind !== "ran") return result;
        findings.push(...told(result.findings, check.name, mode));
      }
      return await finish(input, mode === "none" ? findings.slice(0, 1) : findings, mode === "full" ? logs : []);
    },
  };
}

type Mode = Contract["hidden_feedback"];

async function finish(
  { sink, attemptDir }: GateInput,
  findings: readonly Finding[],
  logs: readonly string[],
): Promise<GateResult> {
  if (logs.length === 0) return { kind: "ran", findings };
  return { kind: "ran", findings, log: await sink.sidecar(`${attemptDir.relative}/hidden.log`, logs.join("\n")) };
}

function told(findings: readonly Finding[], name: string, mode: Mode): readonly Finding[] {
  if (mode === "full")
    return findings.map((one) => (one.severity === "FAIL" ? { ...one, rule: hiddenRule, remedy: codeRemedy } : one));
  if (!findings.some(({ severity }) => severity === "FAIL")) return [];
  const message =
    mode === "names" ? `the hidden check ${name} failed` : "a hidden check failed; what it looks at is not told";
  return [finding(hiddenRule, "FAIL", message, { remedy: bareRemedy })];
}

const codeRemedy = "Mend the code: this test is not yours to change";
const bareRemedy = "Read the goal and the rules again: something they ask for is not done";

/** Programs are still logged, so that a killed run's are found; their output is kept here and goes nowhere else. */
function quiet(sink: EventSink, mode: Mode, logs: string[]): EventSink {
  return {
    append: (event) =>
      sink.append(event.type === "process.started" && mode === "none" ? { ...event, what: "hidden check" } : event),
    sidecar(path, data) {
      const text = typeof data === "string" ? data : new TextDecoder().decode(data);
      logs.push(text);
      return Promise.resolve({ path, bytes: text.length, sha256: "" });
    },
  };
}
