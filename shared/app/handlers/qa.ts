import { count } from "../../base/lines.ts";
import { type AbsPath, absPath, dirName, isInside, type RepoPath, typedPath } from "../../base/paths.ts";
import { featureOfBranch } from "../../features/branches.ts";
import { spaceFor } from "../../features/registry-space.ts";
import { type ScannedFeature, scanSlices } from "../../features/scan.ts";
import { restoresOf } from "../../gates/touched-files.ts";
import type { OrchError } from "../../model/error.ts";
import { exitCodes } from "../../model/exit-code.ts";
import type { Finding } from "../../model/finding.ts";
import type { Bystanders } from "../../ports/bystanders.ts";
import type { TestRunner } from "../../ports/test-runner.ts";
import type { TreeSlice } from "../../rulebook/kinds/tree.ts";
import { auditTree, type AuditResult } from "../audit.ts";
import { openAudit } from "../audit-parts.ts";
import { changedPaths, filesUnder } from "../audit-paths.ts";
import type { CommandArgs, Handler, RepoContext } from "../context.ts";
import { registeredIn } from "../feature-branch.ts";
import { type FeatureTests, runFeatureTests, testFindings } from "../feature-tests.ts";
import { junitReport } from "../junit-report.ts";
import { leftOutHint, leftOutText } from "../left-out-rules.ts";
import { projectHere } from "../project-here.ts";
import { projectPacks } from "../project-packs.ts";
import { sarifLog } from "../sarif-log.ts";
import { editCommand } from "../spec-next.ts";
import { testsNotRun } from "../tests-not-run.ts";
import { askTrust, tellUntrusted } from "../trust.ts";

/** What `qa` uses beside the repository. */
export interface QaContext extends RepoContext {
  /** The folder the command was given in. */
  readonly cwd: AbsPath;
  readonly testRunner: TestRunner;
  readonly bystanders: Bystanders;
}

/** The document of `qa --json`. */
export interface QaData {
  /** Source files that got an answer. */
  readonly files: number;
  readonly otherFiles: number;
  readonly findings: readonly Finding[];
  readonly tests: readonly FeatureTests[];
  readonly skipped: AuditResult["skipped"];
  readonly rules: { readonly broken: AuditResult["broken"] };
  readonly syntax: AuditResult["syntax"];
}

/** A terminal is no place for ten thousand lines; --json, --sarif and --junit hold them all. */
const shownFindings = 200;

/** Every feature's tests, and the rules over every source file. Changes nothing of the person's; asks no model. */
export const qa: Handler<QaContext> = async (context, args, signal) => {
  const packs = await projectPacks(context);
  const all = await context.git.listFiles();
  const change = args.changed === undefined ? undefined : await changedPaths(context, args.changed);
  const asked = args.words.length === 0 ? all : await filesUnder(context, args.words, context.cwd);
  const wanted = change === undefined ? asked : asked.filter((path) => change.touched.has(path));
  const features = await featuresOf(context, args, all, packs, signal);
  const tested = features.filter((feature) => isTested(feature, args, wanted, change?.deleted));
  await askForTests(context, tested, signal);
  // What git would run has no part in an audit.
  tellUntrusted(context.editor, { ...(await context.trust.state()), gitKeys: [] });
  await using parts = await openAudit(context, packs);
  const audit = await auditTree(
    parts.deps,
    {
      all,
      wanted,
      roles: rolesOf(features),
      slices: slicesOf(features),
      tree: args.words.length === 0,
      ...(change === undefined ? {} : { change }),
    },
    signal,
  );
  const { result: tests, touched } = await runFeatureTests(context, context.testRunner, tested, signal);
  const findings = [...touched, ...testFindings(tests), ...audit.findings];
  await writeReports(context, args, findings, audit, tests);
  context.editor.showFindings(findings.slice(0, shownFindings));
  tellTheRest(context, findings, audit, tests);
  const left = testsNotRun(tests, (await context.trust.state()).hash);
  return resultOf(findings, audit, tests, { left, onFeature: await isOnFeature(context) });
};

/** On the branch of a feature its own road goes on; a new one is for main. */
async function isOnFeature(context: QaContext): Promise<boolean> {
  const { git } = context;
  const head = await git.head();
  if (head.kind !== "branch" || head.branch === (await git.defaultBranch())) return false;
  const here = (await git.branches()).find(({ name }) => name === head.branch);
  return here !== undefined && featureOfBranch(here, registeredIn(await projectHere(context))) !== undefined;
}

/** A person is asked before the first test would run; the audit needs no answer, and goes on with any. */
async function askForTests(context: QaContext, tested: readonly ScannedFeature[], signal: AbortSignal): Promise<void> {
  if (tested.length === 0 || !context.editor.interactive || (await context.trust.mayRunCode())) return;
  const title = "Trust this repository? qa runs the tests of its features";
  await askTrust(context, await context.trust.state(), title, signal);
}

async function featuresOf(
  context: QaContext,
  args: CommandArgs,
  paths: readonly RepoPath[],
  packs: Awaited<ReturnType<typeof projectPacks>>,
  signal: AbortSignal,
): Promise<readonly ScannedFeature[]> {
  const project = await projectHere(context);
  const space = args.app === undefined ? {} : { space: spaceFor(project, { app: args.app }) };
  return (await scanSlices({ files: context.files, project, packs, paths, ...space }, signal)).features;
}

function rolesOf(features: readonly ScannedFeature[]): ReadonlyMap<string, string> {
  return new Map(
    features.flatMap(({ feature, pack }) =>
      Object.entries(pack.pack.roles).map(([role, name]) => [`${feature.dir}/${name}`, role] as const),
    ),
  );
}

function slicesOf(features: readonly ScannedFeature[]): TreeSlice[] {
  return features.map(({ feature, pack, controller }) => {
    const roles = Object.entries(pack.pack.roles).flatMap(([role, name]) => {
      const holds = !pack.pack.optional.includes(role) || (role === "controller" && controller);
      return name !== undefined && holds ? [[role, name] as const] : [];
    });
    return { dir: feature.dir, name: feature.target.name, roles: Object.fromEntries(roles) };
  });
}

/** All slices, or with paths or --changed those that hold one of the files. */
function isTested(
  { feature }: ScannedFeature,
  args: CommandArgs,
  wanted: readonly RepoPath[],
  deleted: ReadonlySet<string> | undefined,
): boolean {
  if (args.words.length === 0 && args.changed === undefined) return true;
  return [...wanted, ...(deleted ?? [])].some((path) => isInside(path, feature.dir));
}

async function writeReports(
  context: QaContext,
  args: CommandArgs,
  findings: readonly Finding[],
  audit: AuditResult,
  tests: readonly FeatureTests[],
): Promise<void> {
  const { files, cwd, machine } = context;
  const reports = [
    [args.sarif, () => sarifLog(findings, machine.version)],
    [args.junit, () => junitReport(audit.findings, audit.files, tests)],
  ] as const;
  for (const [word, text] of reports) {
    if (word === undefined) continue;
    const at = typedPath(cwd, word);
    await files.makeDir(absPath(dirName(at)));
    await files.write(at, text());
  }
}

function tellTheRest(
  context: QaContext,
  findings: readonly Finding[],
  audit: AuditResult,
  tests: readonly FeatureTests[],
): void {
  const { editor } = context;
  const rest = findings.length - shownFindings;
  if (rest > 0)
    editor.notify({
      severity: "info",
      text: `and ${count(rest, "more finding")}`,
      hint: "All of them: orch qa --json, or --sarif FILE",
    });
  for (const rule of audit.broken) {
    const { path, line, reason } = rule;
    editor.notify({ severity: "warning", text: `${path}:${line}: ${reason}`, hint: leftOutHint(rule) });
  }
  for (const why of new Set(tests.filter(({ outcome }) => outcome === "not-run").map((one) => one.why ?? ""))) {
    editor.notify({ severity: "warning", text: `tests not run: ${why}` });
  }
}

/** The worst stands first, and has a file where it is about one. */
function mending(findings: readonly Finding[]): readonly string[] {
  const path = findings.find((one) => one.severity === "FAIL" && one.path !== undefined)?.path;
  return [...(path === undefined ? [] : [editCommand(path)]), "orch qa"];
}

function resultOf(
  findings: readonly Finding[],
  audit: AuditResult,
  tests: readonly FeatureTests[],
  { left, onFeature }: { readonly left: OrchError | undefined; readonly onFeature: boolean },
): Awaited<ReturnType<Handler>> {
  const fails = findings.filter(({ severity }) => severity === "FAIL").length;
  const ran = tests.filter(({ outcome }) => outcome !== "not-run");
  const passed = ran.filter(({ outcome }) => outcome === "passed").length;
  const notRun = tests.length - ran.length;
  const parts = [
    `${count(audit.files, "source file")}, ${count(fails, "failure")}, ${count(findings.length - fails, "warning")}`,
    ...(tests.length === 0 ? [] : [`tests of ${passed} of ${count(tests.length, "feature")} green`]),
    ...(notRun === 0 ? [] : [`${notRun} not run`]),
    ...(audit.skipped.length === 0 ? [] : [`${count(audit.skipped.length, "file")} skipped`]),
    ...(audit.broken.length === 0 ? [] : [leftOutText(audit.broken)]),
  ];
  const data: QaData = {
    files: audit.files,
    otherFiles: audit.otherFiles,
    findings,
    tests,
    skipped: audit.skipped,
    rules: { broken: audit.broken },
    syntax: audit.syntax,
  };
  const green = fails === 0 && left === undefined;
  const road = green ? ["orch merge"] : ["orch do"];
  const next = [
    ...restoresOf(findings),
    ...(left?.code === "trust.needed" ? ["orch trust"] : []),
    ...(onFeature ? road : fails > 0 ? mending(findings) : ["orch scan", 'orch new domain/Feature "what it does"']),
  ];
  const told = { summary: parts.join(", "), next, data };
  if (fails > 0) return { ...told, ok: false, code: exitCodes.failed };
  if (left === undefined) return { ...told, ok: true, code: exitCodes.ok };
  const { code, message, hint } = left;
  return { ...told, ok: false, code: left.exit, error: { code, message, hint } };
}
