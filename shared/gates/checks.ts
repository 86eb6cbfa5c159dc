import { abortError } from "../base/abort.ts";
import { type AbsPath, absPath, inRoot, repoPath } from "../base/paths.ts";
import type { Check } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { RuleGroup } from "../model/rule.ts";
import type { Bystanders, Watch, WatchOrder } from "../ports/bystanders.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import type { Ids } from "../ports/ids.ts";
import type { Process, ProcessSpec } from "../ports/process.ts";
import type { ConfineCheck } from "../ports/sandbox.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import { cachesAt } from "./check-caches.ts";
import { commandDone, cutShortRule, type Done, maxOutputBytes, skippedRule, testsDone } from "./check-findings.ts";
import { type Marked, withMark } from "./check-end.ts";
import { leftByChecks } from "./checks-left.ts";
import { scopeStops } from "./scope.ts";
import { syntaxRule } from "./standards.ts";
import { emptyTestsRule, missingFileRule } from "./structure.ts";
import { testStops } from "./tests.ts";
import { touchedFindings, loadedByThemselves } from "./touched-files.ts";
import { unheardTests } from "./unheard-tests.ts";

export interface ChecksDeps {
  readonly tests: Pick<TestRunner, "run">;
  readonly process: Pick<Process, "run">;
  /** The check environment, for checks that write no report; the test runner has its own. */
  readonly env: Readonly<Record<string, string>>;
  /** Absent: checks run as the user. */
  readonly confine?: ConfineCheck | undefined;
  /** Absent: no tree is the person's own checkout. */
  readonly bystanders?: Bystanders | undefined;
  readonly ids: Ids;
  readonly groupOf: (rule: string) => RuleGroup | undefined;
}

/** `hidden`: checks the worker never sees. Whoever asks for them has put their files into the folder that is judged. */
export type CheckVisibility = "own" | "hidden";

/**
 * Runs the contract's own checks, the feature's tests among them, in the check environment. Red is a finding with the
 * failing output; a tool that is not there is the environment's fault and breaks the gate. Nothing runs when a FAIL
 * before makes it unsafe or pointless.
 */
export function createChecksGate(deps: ChecksDeps, visibility: CheckVisibility = "own"): Gate {
  const id = visibility === "own" ? "checks" : "hidden-checks";
  return {
    id,
    phase: "change",
    async run(input, signal) {
      const checks = visibility === "own" ? input.contract.checks : input.contract.hidden_checks;
      if (checks.length === 0) return { kind: "skipped", why: `the contract names no ${id.replace("-", " ")}` };
      const stop = input.soFar.find((found) => found.severity === "FAIL" && stops(found, deps.groupOf));
      if (stop !== undefined)
        return { kind: "skipped", why: `running it makes no sense before this is mended: ${stop.message}` };
      const watch = await deps.bystanders?.watch(watchOf(input), signal);
      const touched: Finding[] = [];
      let ran: Ran;
      try {
        ran = await runAll(deps, checks, { input, keep: watch?.keep ?? [] }, signal);
      } finally {
        // Also after a stop: what was destroyed until then must be restorable, and be told.
        if (watch !== undefined) touched.push(...(await lookAgain(watch, input)));
      }
      if (ran.kind === "broken") return ran;
      const findings = visibility === "own" ? ran.findings : ran.findings.flatMap(asHidden);
      const left = visibility === "own" ? await leftByChecks(input, signal) : [];
      const log = await input.sink.sidecar(`${input.attemptDir.relative}/${id}.log`, ran.logs.join("\n"));
      return { kind: "ran", findings: [...findings, ...touched, ...left], log };
    },
  };
}

type Ran =
  | { readonly kind: "ran"; readonly findings: readonly Finding[]; readonly logs: readonly string[] }
  | { readonly kind: "broken"; readonly error: OrchError };

interface Ground {
  readonly input: GateInput;
  readonly keep: Watch["keep"];
}

async function runAll(deps: ChecksDeps, checks: readonly Check[], ground: Ground, signal: AbortSignal): Promise<Ran> {
  const findings: Finding[] = [];
  const logs: string[] = [];
  for (const check of checks) {
    const done = await runCheck(deps, check, ground, signal);
    if (done.kind === "missing") {
      return {
        kind: "broken",
        error: new OrchError("env.missing-tool", done.message, { data: { tool: check.argv[0] } }),
      };
    }
    findings.push(...done.findings.filter(({ rule }) => rule !== skippedRule || ground.input.report !== undefined));
    logs.push(`$ ${check.argv.join(" ")}\n${done.output}\n`);
  }
  return { kind: "ran", findings, logs };
}

/** Who reported wrote the tests, or may have: its files' bytes lie in the attempt's patch. */
function watchOf({ root, contract, change, report }: GateInput): WatchOrder {
  const known = report === undefined ? [] : change.files.flatMap(({ path }) => repoPath(path) ?? []);
  const by = report !== undefined ? "do" : contract.id === "final" ? "final" : "merge";
  return { root, by, what: `checks of ${contract.title}`, known };
}

async function lookAgain(watch: Watch, input: GateInput): Promise<Finding[]> {
  const touched = await watch.done();
  const worker = input.report !== undefined;
  const found = touchedFindings(touched, { worker, ...(input.slice === undefined ? {} : { slice: input.slice.dir }) });
  const planted = worker ? loadedByThemselves(touched) : [];
  const taken = planted.length === 0 ? undefined : await watch.takeAway(planted);
  if (taken === undefined) return found;
  const gone = new Set<string | undefined>(planted);
  return found.map((one) =>
    gone.has(one.path)
      ? { ...one, message: `${one.message}; it was taken away, and comes back with: orch restore ${taken}` }
      : one,
  );
}

/**
 * One category for all that a hidden check finds: what may be told of it is decided by that name. A file of theirs in
 * which the change has no part is not told at all.
 */
function asHidden(found: Finding): readonly Finding[] {
  if (found.severity === "FAIL") return [{ ...found, rule: "hidden_check_failed" }];
  return found.rule === cutShortRule ? [] : [found];
}

function stops({ rule }: Finding, groupOf: ChecksDeps["groupOf"]): boolean {
  return (
    [...scopeStops, ...testStops, syntaxRule, missingFileRule, emptyTestsRule, "truncation"].includes(rule) ||
    groupOf(rule) === "integrity"
  );
}

async function runCheck(deps: ChecksDeps, check: Check, { input, keep }: Ground, signal: AbortSignal): Promise<Done> {
  const cwd = folderOf(check, input);
  const marker = deps.ids.next("marker");
  let started: number | undefined;
  const onStart = (pid: number, startTime: string): void => {
    started = pid;
    const of = { contract: input.contract.id, attempt: input.attempt };
    input.sink.append({ type: "process.started", ...of, pid, startTime, marker, what: `check ${check.name}` });
  };
  const timeoutMs = check.timeout_s * 1000;
  const own = { ...cachesAt(homeOf(deps.env), check.argv), ...check.env };
  const ended = (how: string): void => {
    if (started !== undefined) input.sink.append({ type: "process.ended", pid: started, how });
  };
  if (check.report === "junit") {
    const report = inRoot(input.attemptDir.absolute, `${slug(check.name)}.xml`);
    const run = await deps.tests.run(
      { argv: check.argv, root: cwd, tree: input.root, keep, env: own, report, timeoutMs, marker, onStart },
      signal,
    );
    ended(run.kind === "ran" || run.kind === "no-tests" ? `exited ${run.exit}` : run.kind);
    return await heard(check, testsDone(check, run, input.root), cwd, input);
  }
  const [program, ...rest] = check.argv;
  if (program === undefined) return { kind: "missing", message: `the check ${check.name} has an empty command` };
  const env = { ...deps.env, ...own };
  const end = deps.ids.next("marker");
  const marked = withMark(check.argv, end);
  const run: Marked = marked ?? { argv: [program, ...rest] };
  const spec: ProcessSpec = { ...run, cwd, env, timeoutMs, maxOutputBytes, marker, onStart };
  const home = homeOf(env);
  const write = [input.attemptDir.absolute, ...(home === undefined ? [] : [absPath(home)])];
  const exit = await deps.process.run(
    (await deps.confine?.(spec, { tree: input.root, write, keep }, signal)) ?? spec,
    signal,
  );
  ended(exit.kind === "exited" ? `exited ${exit.code}` : exit.kind);
  if (exit.kind === "cancelled") throw abortError(signal);
  const done = commandDone(check, exit, input.root, marked === undefined ? undefined : end);
  return await heard(check, done, cwd, input);
}

/** What a check did, with the files of which it should have told more. */
async function heard(check: Check, done: Done, cwd: AbsPath, input: GateInput): Promise<Done> {
  if (done.kind !== "done" || done.findings.some(({ severity }) => severity === "FAIL")) return done;
  return { ...done, findings: [...done.findings, ...(await unheardTests(check, done.output, cwd, input))] };
}

function homeOf(env: Readonly<Record<string, string>>): string | undefined {
  return env["HOME"] ?? env["USERPROFILE"];
}

function folderOf({ cwd, name }: Check, { root }: GateInput): AbsPath {
  if (cwd === "." || cwd === "") return root;
  const path = repoPath(cwd);
  if (path === undefined)
    throw new OrchError("contract.invalid", `the folder of check ${name} leaves the repository: ${cwd}`, {
      data: { path: name },
    });
  return inRoot(root, path);
}

function slug(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, "-").slice(0, 60) || "check";
}
