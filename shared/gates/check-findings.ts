import { clip, count, stripControls } from "../base/lines.ts";
import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { Check } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { Exit, Output } from "../ports/process.ts";
import type { TestCase, TestRun } from "../ports/test-runner.ts";
import { withoutMark } from "./check-end.ts";
import { ranNoTest } from "./check-output.ts";
import { finding } from "./gate-finding.ts";

/** More is no output that anybody reads. */
export const maxOutputBytes = 10_000_000;
/** A failing suite of this size has one cause: the rest is counted, not listed. */
const maxFailures = 15;
const maxEvidence = 2_500;

/** A check that ran, as findings; `missing`: its tool is not there. */
export type Done =
  | { readonly kind: "done"; readonly findings: readonly Finding[]; readonly output: string }
  | { readonly kind: "missing"; readonly message: string };

/** What a check that writes a report did. */
export function testsDone(check: Check, run: TestRun, root: AbsPath): Done {
  switch (run.kind) {
    case "missing-tool":
      return { kind: "missing", message: run.message };
    case "timed-out":
      return { kind: "done", findings: [timedOut(check, run.output, root)], output: run.output };
    case "broken":
      return {
        kind: "done",
        findings: [red(check, `${check.name} did not end as tests do: ${run.message}`, run.output, root)],
        output: run.output,
      };
    case "no-tests":
      return { kind: "done", findings: [ranNothing(check, run.tests, run.output, root)], output: run.output };
    case "ran":
      return { kind: "done", findings: ranFindings(check, run, root), output: run.output };
  }
}

function ranFindings(check: Check, run: Extract<TestRun, { readonly kind: "ran" }>, root: AbsPath): Finding[] {
  const bad = run.tests.filter(({ outcome }) => outcome === "failed" || outcome === "error");
  const causes = new Map<string, string>();
  const found = bad.slice(0, maxFailures).map((test) => {
    const known = causes.get(causeOf(test));
    if (known === undefined) causes.set(causeOf(test), test.name);
    const again = known === undefined ? test : { ...test, output: `The same as ${known}.` };
    return testFinding(again, root);
  });
  if (bad.length > maxFailures)
    found.push(red(check, `${bad.length - maxFailures} more tests of ${check.name} failed`, "", root));
  const counted = run.counts.failed + run.counts.errors;
  if (bad.length === 0 && counted > 0)
    return [red(check, `${count(counted, "test")} of ${check.name} failed`, run.output, root)];
  if (bad.length > 0) return found;
  if (run.exit !== 0)
    return [red(check, `${check.name} ended with exit code ${run.exit}, though no test failed`, run.output, root)];
  if (run.counts.passed === 0) return [ranNothing(check, run.tests, run.output, root)];
  return run.tests
    .filter(({ outcome }) => outcome === "skipped")
    .slice(0, maxFailures)
    .map(skippedFinding);
}

/** One error that many tests run into is shown whole once. Assertions are alike by chance. */
function causeOf({ name, message }: TestCase): string {
  return /^(?!Assert)[A-Za-z_.]*(?:Error|Exception)\b.*\S/.test(message) ? message : `\0${name}`;
}

export const skippedRule = "check_skipped";

/** A worker may not decide at run time that a test does not count; a person's own skips are no fault of an attempt. */
function skippedFinding({ name, file, line, message }: TestCase): Finding {
  return finding(skippedRule, "FAIL", `${name} was skipped${message === "" ? "" : `: ${clip(message, 200)}`}`, {
    ...(file === undefined ? {} : { path: file }),
    ...(line === undefined ? {} : { line }),
    evidence: clip(message, 300),
    remedy: "Write the test so that it runs",
  });
}

function testFinding({ name, file, line, message, output, outcome }: TestCase, root: AbsPath): Finding {
  const what = outcome === "error" ? "could not run" : "failed";
  return finding(
    "check_failed",
    "FAIL",
    `${name} ${what}${message === "" ? "" : `: ${clip(oneLine(message, root), 300)}`}`,
    {
      ...(file === undefined ? {} : { path: file }),
      ...(line === undefined ? {} : { line }),
      evidence: shown(output, root),
      remedy: "Mend the code; mend the test only where it contradicts the specification",
    },
  );
}

function ranNothing(check: Check, tests: readonly TestCase[], output: string, root: AbsPath): Finding {
  const skipped = tests.length === 1 ? "its one test was skipped" : `all ${tests.length} tests were skipped`;
  const why = tests.length === 0 ? "no test was found" : skipped;
  const remedy = "Write tests that run and call the code, in the form that the test program collects";
  return finding("check_ran_nothing", "FAIL", `${check.name} ran nothing: ${why}`, {
    evidence: shown(output, root),
    remedy,
  });
}

/** What a check that only ends with a code did; `mark` is what it says at its end, where it was asked to. */
export function commandDone(check: Check, exit: Exit & Output, root: AbsPath, mark?: string): Done {
  const decoder = new TextDecoder("utf-8");
  const said = stripControls(`${decoder.decode(exit.stdout)}${decoder.decode(exit.stderr)}`);
  const { output, isMarked } = mark === undefined ? { output: said, isMarked: true } : withoutMark(said, mark);
  const left = exit.leftovers === 0 ? [] : [leftOver(check, exit.leftovers)];
  const done = (found: readonly Finding[]): Done => ({ kind: "done", findings: [...found, ...left], output });
  switch (exit.kind) {
    case "not-started":
      return { kind: "missing", message: `${check.argv[0]} could not be started: ${exit.reason}` };
    case "timed-out":
      return done([timedOut(check, output, root)]);
    case "signalled":
      return done([red(check, `${check.name} was ended by ${exit.signal}`, output, root)]);
    case "too-much-output":
      return done([red(check, `${check.name} wrote more than ${maxOutputBytes} bytes and was ended`, output, root)]);
    case "cancelled":
      return done([red(check, `${check.name} was stopped`, output, root)]);
    case "exited":
      if (exit.code !== 0) return done([red(check, `${check.name} failed with exit code ${exit.code}`, output, root)]);
      if (!isMarked) return done([cutShort(check, output, root)]);
      return done(ranNoTest(check.argv, output) ? [ranNothing(check, [], output, root)] : []);
  }
}

function red(check: Check, message: string, output: string, root: AbsPath): Finding {
  return finding("check_failed", "FAIL", message, {
    evidence: shown(output, root),
    remedy: `Make it pass: ${check.argv.join(" ")}`,
  });
}

export const cutShortRule = "check_cut_short";

/** A file whose tests the test program did not hear of; WARN where the change has no part in it. */
export function unheard(check: Check, path: RepoPath, severity: "FAIL" | "WARN"): Finding {
  const isOwn = severity === "FAIL";
  return finding(
    cutShortRule,
    severity,
    isOwn ? `${path} ended with exit code 0 before its tests did` : `no test of ${path} was heard of`,
    {
      path,
      evidence: `${check.name} tells of no test in it`,
      remedy: isOwn
        ? "Take out what ends the process: the tests have to reach their end"
        : "A reviewer looks whether its tests are meant for somewhere else",
    },
  );
}

function cutShort(check: Check, output: string, root: AbsPath): Finding {
  return finding(cutShortRule, "FAIL", `${check.name} ended with exit code 0 before its last statement`, {
    evidence: shown(output, root),
    remedy: `Take out what ends the process: the check has to reach its end: ${check.argv.join(" ")}`,
  });
}

function timedOut(check: Check, output: string, root: AbsPath): Finding {
  const remedy = "Look for a loop that does not end, a wait for input, or work that is too slow";
  return finding("check_failed", "FAIL", `${check.name} did not end within ${check.timeout_s} s`, {
    evidence: shown(output, root),
    remedy,
  });
}

function leftOver(check: Check, leftovers: number): Finding {
  const processes = count(leftovers, "process", "processes");
  return finding(
    "process_left",
    "WARN",
    `${check.name} left ${processes} running, which ${leftovers === 1 ? "was" : "were"} ended`,
    {
      remedy: "End what a test starts",
    },
  );
}

/** The end of an output says most; the machine's own paths say nothing to a model. */
function shown(output: string, root: AbsPath): string {
  const text = stripControls(output).replaceAll(`${root}/`, "").replaceAll(root, ".").trim();
  if (text.length <= maxEvidence) return text;
  return `[... ${text.length - maxEvidence} characters cut ...]\n${text.slice(-maxEvidence)}`;
}

function oneLine(text: string, root: AbsPath): string {
  return shown(text, root).replace(/\s*\n\s*/g, " ");
}
