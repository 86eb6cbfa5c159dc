import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { tellingLine } from "../../base/telling-line.ts";
import { type AbsPath, dirName, inRoot, isInside, type RepoPath, repoPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { nameSome } from "../../features/branches.ts";
import type { Use } from "../../features/uses.ts";
import { restoresOf } from "../../gates/touched-files.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { type Finding, findingPlace } from "../../model/finding.ts";
import type { MoveJournal } from "../../model/move-journal.ts";
import { noRemoteText } from "../../model/no-remote.ts";
import { targetText } from "../../model/target.ts";
import type { Bystanders } from "../../ports/bystanders.ts";
import type { TestRunner } from "../../ports/test-runner.ts";
import { commandAgain } from "../again.ts";
import type { CommandArgs, Handler } from "../context.ts";
import { besideOthers, type FeatureTests, runTests, testFindings } from "../feature-tests.ts";
import type { HereContext } from "../known-feature.ts";
import { carryOutMove, readMoveJournal, type UndoneMove, undoMove } from "../move-steps.ts";
import { stillNamed, usesElsewhere } from "../move-uses.ts";
import { askNearMiss } from "../near-miss.ts";
import { type MovePlan, planMove } from "../plan-move.ts";
import { requireFreeIndex } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { requireTrust, requireTrusted } from "../trust.ts";

export type MoveContext = HereContext & { readonly testRunner: TestRunner; readonly bystanders: Bystanders };

/**
 * `move <Old/Old> <New/New>`: folder, entry and branch under the new name, in one commit, pushed and not merged. The
 * slice's tests and the project's run in between; when one is red, or anything else fails before the commit, everything
 * is put back byte for byte. Long because the order of the steps, and of the ways back, is told here once.
 */
export const move: Handler<MoveContext> = async (context, given, signal) => {
  const look = (one: CommandArgs): Promise<MovePlan> => planMove(context, one, signal);
  const earlier = await readMoveJournal(context);
  if (earlier !== undefined) {
    const finished = await withRepositoryLock(context, "move", signal, () => goOn(context, earlier, given));
    if (finished !== undefined) return finished;
  }
  const { args, found } = await askNearMiss(context.editor, given, signal, look);
  const from = targetText(found.known.feature.target);
  const why = `moving ${from} runs its tests`;
  if (args.dryRun) {
    await requireTrusted(context, why, signal);
    for (const text of found.mentions) context.editor.notify({ severity: "info", text });
    await requireTests(context, found, signal);
    return await foretold(context, found, args);
  }
  await requireTrust(context, why, signal);
  return await withRepositoryLock(context, "move", signal, async () => {
    await requireFreeIndex(context.git);
    const plan = await look(args);
    for (const text of plan.mentions) context.editor.notify({ severity: "info", text });
    await requireTests(context, plan, signal);
    throwIfAborted(signal);
    const done = await moved(context, plan, signal);
    return done.kind === "red" ? redResult(context, plan, done) : await publish(context, plan, done, args);
  });
};

/** A runner died in the middle: what it committed stands, anything before that is rolled back and done again. */
async function goOn(context: MoveContext, journal: MoveJournal, args: CommandArgs): Promise<CommandResult | undefined> {
  const { git } = context;
  const tip = await git.resolve(`refs/heads/${journal.branch.final}`);
  if (tip !== undefined && tip !== journal.base && (await git.subject(tip)) === journal.message) {
    const pushed = await push(context, journal.branch.final, args);
    return {
      ok: true,
      code: 0,
      summary: `${journal.message.replace("move: ", "Moved ")}: committed before the run was interrupted, ${pushed.text}`,
      next: [...pushed.next, "orch merge"],
      data: {
        from: journal.target,
        to: journal.newTarget,
        branch: journal.branch.final,
        commit: tip,
        pushed: pushed.done,
      },
    };
  }
  if (!(await undoMove(context, journal)).whole) {
    throw new OrchError("tree.changed", "the move that was interrupted could not be put back as a whole", {
      data: { paths: [journal.from, journal.to] },
    });
  }
  return undefined;
}

/** The test program is looked for before anything changes. */
async function requireTests(context: MoveContext, plan: MovePlan, signal: AbortSignal): Promise<void> {
  for (const { pack, tests, dir } of plan.tests) {
    const chosen = await context.testRunner.choose(pack.pack, { root: context.root, tests, dir }, signal);
    if (chosen.kind === "command") continue;
    throw new OrchError("env.missing-tool", chosen.message, {
      data: { tool: `the test program of ${pack.pack.title}` },
    });
  }
}

type Moved =
  | {
      readonly kind: "red";
      readonly undone: UndoneMove;
      readonly tests: readonly FeatureTests[];
      readonly touched: readonly Finding[];
    }
  | {
      readonly kind: "committed";
      readonly commit: string;
      readonly tests: readonly FeatureTests[];
      readonly uses: readonly Use[];
    };

async function moved(context: MoveContext, plan: MovePlan, signal: AbortSignal): Promise<Moved> {
  try {
    const journal = await carryOutMove(context, plan);
    const { result: tests, touched } = await besideOthers(
      context,
      { by: "move", what: `tests of ${journal.message}` },
      (keep) => runEach(context, plan, keep, signal),
      signal,
    );
    if (tests.some(isRed) || touched.some(({ severity }) => severity === "FAIL")) {
      const undone = await putBack(context);
      if (undone.whole) return { kind: "red", tests, touched, undone };
      throw new OrchError("tree.changed", "tests are red, and not everything could be put back", {
        data: { paths: [plan.known.feature.dir, plan.to.dir] },
      });
    }
    context.editor.showFindings(touched);
    throwIfAborted(signal);
    const uses = await usesElsewhere(context, plan);
    const commit = await context.git.commitPaths({
      paths: committed(plan, journal),
      message: journal.message,
      trusted: true,
    });
    return { kind: "committed", commit, tests, uses };
  } catch (error) {
    await putBack(context);
    throw error;
  }
}

async function runEach(
  context: MoveContext,
  plan: MovePlan,
  keep: readonly AbsPath[],
  signal: AbortSignal,
): Promise<readonly FeatureTests[]> {
  const tests: FeatureTests[] = [];
  for (const place of plan.tests) {
    context.editor.progress(`tests of ${place.target}`);
    tests.push(await runTests(context, context.testRunner, { ...place, keep }, signal));
  }
  return tests;
}

/** A file that was not written by a test program is nothing red: a scaffold has no test yet. */
function isRed({ outcome }: FeatureTests): boolean {
  return outcome === "failed" || outcome === "broken" || outcome === "not-run";
}

async function putBack(context: MoveContext): Promise<UndoneMove> {
  const journal = await readMoveJournal(context);
  if (journal === undefined) return { whole: true, kept: [] };
  const undone = await undoMove(context, journal);
  // What was undone must not be undone again by a run that goes on.
  await context.files.remove(inRoot(context.runDir, "move.json"));
  return undone;
}

/** The folders as they are, and by name the files that git tracks although it ignores them. */
function committed(plan: MovePlan, journal: MoveJournal): readonly RepoPath[] {
  const { feature } = plan.known;
  const tracked = plan.tracked.flatMap((path) => repoPath(`${plan.to.dir}${path.slice(feature.dir.length)}`) ?? []);
  const registries = journal.files.flatMap(({ path }) => (isInside(path, plan.to.dir) ? [] : (repoPath(path) ?? [])));
  return [feature.dir, plan.to.dir, ...tracked, ...registries];
}

async function publish(
  context: MoveContext,
  plan: MovePlan,
  done: Extract<Moved, { kind: "committed" }>,
  args: CommandArgs,
): Promise<CommandResult> {
  const { git, files, root } = context;
  const { feature } = plan.known;
  const { commit, uses, tests } = done;
  await files.removeEmptyDir(inRoot(root, dirName(feature.dir)));
  const pushed = await push(context, plan.final, args);
  const subject = await git.subject(commit);
  context.sink.append({ type: "commit.made", commit, branch: plan.final, subject, pushed: pushed.done });
  const [from, to] = [targetText(feature.target), targetText(plan.to.target)];
  const ran = tests.reduce((sum, { counts }) => sum + (counts?.passed ?? 0), 0);
  const empty = tests.filter(({ outcome }) => outcome === "no-tests").map(({ target }) => target);
  const parts = [
    ...(ran === 0 ? [] : [`${count(ran, "test")} green`]),
    `commit ${commit.slice(0, 10)} on ${plan.final}`,
    pushed.text,
  ];
  const named = await stillNamed(context, plan);
  const [firstNamed] = named;
  const stray = (await git.listFiles(feature.dir)).filter((path) => !isInside(path, plan.to.dir));
  const notes = [
    ...(stray.length === 0 ? [] : [`Saved at its old place meanwhile, and still there: ${nameSome(stray)}`]),
    ...(plan.loose.length === 0 ? [] : [`${count(plan.loose.length, "uncommitted file")} of the slice went along`]),
    ...(empty.length === 0 ? [] : [`No test ran in ${empty.join(", ")}`]),
    ...(uses.length === 0
      ? []
      : [`${count(uses.length, "line")} elsewhere name it by its old place: ${nameSome(uses.map(placeOf))}`]),
    ...(firstNamed === undefined
      ? []
      : [
          `${count(named.length, "file")} of the slice still ${named.length === 1 ? "says" : "say"} ${feature.target.name} in names or text, first ${placeOf(firstNamed)}`,
        ]),
    ...(await oldRemoteBranch(context, plan)),
  ];
  return {
    ok: true,
    code: 0,
    summary: [`Moved ${from} to ${to}: ${parts.join(", ")}`, ...notes].join(". "),
    next: [...pushed.next, "orch merge"],
    data: {
      from,
      to,
      dir: plan.to.dir,
      branch: plan.final,
      commit,
      pushed: pushed.done,
      tests,
      uses,
      stillNamed: named,
      uncommitted: plan.loose,
      notes,
      text: uses.map((use) => `${placeOf(use)}: ${use.text}`),
    },
  };
}

const placeOf = ({ path, line }: Pick<Use, "path" | "line">): string => `${path}:${line}`;

interface Pushed {
  readonly done: boolean;
  readonly text: string;
  readonly next: readonly string[];
}

async function push(context: MoveContext, branch: string, args: CommandArgs): Promise<Pushed> {
  const { git, config } = context;
  const remote = await git.remote();
  if (remote === undefined) return { done: false, text: `not pushed: ${noRemoteText(await git.remotes())}`, next: [] };
  const next = [`git push --set-upstream ${shellWord(remote)} ${shellWord(branch)}`];
  if (!args.push || !config.features.push) return { done: false, text: "not pushed", next };
  const result = await git.push({ remote, from: branch, to: branch, setUpstream: true, trusted: true });
  if (result.kind === "pushed") return { done: true, text: `pushed to ${remote}`, next: [] };
  return { done: false, text: `not pushed: ${tellingLine(result.output)}`, next };
}

/** A branch on the remote is other people's, too: it is named, not deleted. */
async function oldRemoteBranch({ git }: MoveContext, plan: MovePlan): Promise<readonly string[]> {
  const old = plan.branch.branch;
  const remote = await git.remote(old);
  if (remote === undefined || plan.branch.kind === "make" || old === plan.final) return [];
  if ((await git.resolve(`refs/remotes/${remote}/${old}`)) === undefined) return [];
  return [`${remote} still has ${old}: git push ${shellWord(remote)} --delete ${shellWord(old)}`];
}

function redResult(
  context: MoveContext,
  plan: MovePlan,
  { tests, touched, undone }: Extract<Moved, { kind: "red" }>,
): CommandResult {
  const { kept, stored } = undone;
  const findings = [...touched.filter(({ severity }) => severity === "FAIL"), ...testFindings(tests.filter(isRed))];
  context.editor.showFindings(findings);
  const why = tests.find((one) => isRed(one) && one.why !== undefined)?.why;
  const [first] = findings;
  const shown = first === undefined ? (why ?? "a test program did not run") : `${findingPlace(first)} ${first.message}`;
  const [from, to] = [targetText(plan.known.feature.target), targetText(plan.to.target)];
  return {
    ok: false,
    code: 1,
    summary:
      touched.length === 0
        ? `Not moved: with ${from} as ${to} tests are red, ${asItWas(kept)}: ${shown.trim()}`
        : `Not moved: the tests of ${from} as ${to} did not leave your files alone: ${shown.trim()}`,
    next: [
      ...(stored === undefined ? [] : [`orch restore ${stored}`]),
      ...restoresOf(findings),
      "orch qa",
      `orch move ${from} ${to}`,
    ],
    data: { from, to, moved: false, tests, findings, kept },
  };
}

function asItWas(kept: readonly RepoPath[]): string {
  if (kept.length === 0) return "everything is as it was";
  return `everything else is as it was, and what was saved at its old place meanwhile stands: ${nameSome(kept)}`;
}

async function foretold({ git, config }: MoveContext, plan: MovePlan, args: CommandArgs): Promise<CommandResult> {
  const { branch, final, known } = plan;
  const [from, to] = [targetText(known.feature.target), targetText(plan.to.target)];
  const remote = await git.remote();
  const push = args.push && config.features.push && remote !== undefined;
  const steps = [
    ...(branch.kind === "make" ? [`make the branch ${final}`] : []),
    ...(branch.kind === "enter" ? [`switch to ${branch.branch}`] : []),
    ...(branch.kind !== "make" && branch.branch !== final ? [`rename the branch to ${final}`] : []),
    `move ${known.feature.dir} to ${plan.to.dir}`,
    `run the tests of ${plan.tests.map(({ target }) => target).join(" and ")}`,
    `commit move: ${from} -> ${to} on ${final}`,
    ...(push ? [`push ${final} to ${remote}`] : []),
  ];
  return {
    ok: true,
    code: 0,
    summary: `Would ${steps.join(", then ")}; nothing was changed`,
    next: [commandAgain("move", [from, to], args)],
    data: {
      dryRun: true,
      from,
      to,
      dir: plan.to.dir,
      branch: final,
      makesBranch: branch.kind === "make",
      uncommitted: plan.loose,
      steps,
    },
  };
}
