import { type AbsPath, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { LoadedPack } from "../features/packs.ts";
import type { ScannedFeature } from "../features/scan.ts";
import type { Finding } from "../model/finding.ts";
import { targetText } from "../model/target.ts";
import { touchedFindings } from "../gates/touched-files.ts";
import type { Bystanders, WatchOrder } from "../ports/bystanders.ts";
import type { TestCase, TestCounts, TestRunner } from "../ports/test-runner.ts";
import type { RepoContext } from "./context.ts";
import { untrustedTests } from "./tests-not-run.ts";

/** What one feature's tests did. `not-run` says why; only `passed` is green. */
export interface FeatureTests {
  readonly target: string;
  readonly tests: string;
  readonly outcome: "passed" | "failed" | "no-tests" | "broken" | "not-run";
  readonly why?: string;
  readonly counts?: TestCounts;
  readonly cases: readonly TestCase[];
  readonly durationMs: number;
}

/**
 * Runs the Tests file of each slice, one after the other, in the check environment. It runs the repository's code, so
 * without trust nothing is started and every feature says so.
 */
export async function runFeatureTests(
  context: Pick<RepoContext, "root" | "runDir" | "trust" | "editor"> & { readonly bystanders: Bystanders },
  runner: TestRunner,
  features: readonly ScannedFeature[],
  signal: AbortSignal,
): Promise<TestRun<readonly FeatureTests[]>> {
  const trusted = features.length > 0 && (await context.trust.mayRunCode());
  const run = (keep: readonly AbsPath[]): Promise<readonly FeatureTests[]> =>
    runEach(context, runner, { features, trusted, keep }, signal);
  if (!trusted) return { result: await run([]), touched: [] };
  return await besideOthers(context, { by: "qa", what: "tests of qa" }, run, signal);
}

async function runEach(
  context: Pick<RepoContext, "root" | "runDir" | "editor">,
  runner: TestRunner,
  {
    features,
    trusted,
    keep,
  }: { readonly features: readonly ScannedFeature[]; readonly trusted: boolean; readonly keep: readonly AbsPath[] },
  signal: AbortSignal,
): Promise<readonly FeatureTests[]> {
  const results: FeatureTests[] = [];
  for (const scanned of features) {
    const target = targetText(scanned.feature.target);
    const tests = repoPath(`${scanned.feature.dir}/${scanned.pack.pack.roles.tests}`);
    if (tests === undefined) continue;
    const base = { target, tests, cases: [], durationMs: 0 };
    if (!scanned.names.includes(scanned.pack.pack.roles.tests))
      results.push({ ...base, outcome: "no-tests", why: "there is no Tests file" });
    else if (!trusted) results.push({ ...base, outcome: "not-run", why: untrustedTests });
    else {
      context.editor.progress(`tests of ${target}`);
      results.push(
        await runTests(context, runner, { target, tests, dir: scanned.feature.dir, pack: scanned.pack, keep }, signal),
      );
    }
  }
  return results;
}

/** Who runs tests in the checkout, beside everything else that lies there. */
export interface TestRun<T> {
  readonly result: T;
  /** What they did to files that they have no business with. */
  readonly touched: readonly Finding[];
}

/**
 * Runs tests in the checkout with what lies there beside them looked at before and after: uncommitted work is kept for
 * `restore`. A person or a commit answers for these tests, so what git can bring back is only told.
 */
export async function besideOthers<T>(
  { root, bystanders }: { readonly root: AbsPath; readonly bystanders: Bystanders },
  { by, what }: Pick<WatchOrder, "by" | "what">,
  run: (keep: readonly AbsPath[]) => Promise<T>,
  signal: AbortSignal,
): Promise<TestRun<T>> {
  const watch = await bystanders.watch({ root, by, what, known: [] }, signal);
  const touched: Finding[] = [];
  let result: T;
  try {
    result = await run(watch?.keep ?? []);
  } finally {
    if (watch !== undefined) touched.push(...touchedFindings(await watch.done(), { worker: false }));
  }
  return { result, touched };
}

/** Tests of a pack's language: a slice's file, or a folder. */
export interface TestPlace {
  /** What they are called in reports. */
  readonly target: string;
  readonly tests: RepoPath;
  readonly dir: RepoPath;
  readonly pack: LoadedPack;
}

/** Starts the repository's code: callers ask Trust first. */
export async function runTests(
  { root, runDir }: Pick<RepoContext, "root" | "runDir">,
  runner: TestRunner,
  { target, tests, dir, pack, keep }: TestPlace & { readonly keep: readonly AbsPath[] },
  signal: AbortSignal,
): Promise<FeatureTests> {
  const base = { target, tests, cases: [], durationMs: 0 };
  const chosen = await runner.choose(pack.pack, { root, tests, dir }, signal);
  if (chosen.kind === "missing-tool") return { ...base, outcome: "not-run", why: chosen.message };
  const { argv, env, timeoutMs } = chosen.command;
  const report = inRoot(runDir, "qa", `${tests.replaceAll("/", "-")}.xml`);
  const run = await runner.run({ argv, root, keep, env, report, timeoutMs }, signal);
  switch (run.kind) {
    case "ran": {
      const green = run.counts.failed === 0 && run.counts.errors === 0 && run.counts.passed > 0 && run.exit === 0;
      return {
        ...base,
        outcome: green ? "passed" : "failed",
        counts: run.counts,
        cases: run.tests,
        durationMs: run.durationMs,
      };
    }
    case "no-tests":
      return { ...base, outcome: "no-tests", why: "no tests ran", cases: run.tests, durationMs: run.durationMs };
    case "missing-tool":
      return { ...base, outcome: "not-run", why: run.message };
    case "timed-out":
      return { ...base, outcome: "failed", why: `not finished after ${Math.round(run.timeoutMs / 1000)} s` };
    case "broken":
      return { ...base, outcome: "broken", why: run.message };
  }
}

/** Red tests as findings, so that they stand beside the others in every report. */
export function testFindings(results: readonly FeatureTests[]): Finding[] {
  return results.flatMap((result): Finding[] => {
    const { target, tests, outcome } = result;
    if (outcome === "passed" || outcome === "not-run") return [];
    const red = result.cases.filter((one) => one.outcome === "failed" || one.outcome === "error");
    if (red.length > 0) {
      return red.map((one) => ({
        rule: "tests_failed",
        severity: "FAIL" as const,
        message: `${one.name} is red: ${one.message}`,
        path: one.file ?? tests,
        ...(one.line === undefined ? {} : { line: one.line }),
        evidence: one.message,
        remedy: "Mend the code, or the test when it asks for the wrong thing",
      }));
    }
    const rule = outcome === "no-tests" ? "tests_empty" : "tests_failed";
    const message = `the tests of ${target}: ${result.why ?? "they are red"}`;
    return [
      {
        rule,
        severity: "FAIL" as const,
        message,
        path: tests,
        evidence: tests,
        remedy: `Implement it: orch do ${target}`,
      },
    ];
  });
}
