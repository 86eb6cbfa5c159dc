import type { GitCall } from "../adapters/git-call.ts";
import { checkEnvironment } from "../adapters/test-runner-env.ts";
import { makeLinks, planLinks } from "../adapters/worktree-links.ts";
import { type AbsPath, inRoot, isInside } from "../base/paths.ts";
import { createHiddenFilesGate, createHiddenGate } from "../gates/hidden.ts";
import { createReadinessGate } from "../gates/readiness.ts";
import { createExtractionGate, createTruncationGate } from "../gates/reply.ts";
import { createRepositorySealGate } from "../gates/repository-seal.ts";
import { checkSpec } from "../features/spec-check.ts";
import type { Contract } from "../model/contract.ts";
import type { Gate } from "../ports/gate.ts";
import type { Model } from "../ports/model.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import { personaNamed } from "../prompts/persona.ts";
import type { WaveOrder } from "./contract-wave.ts";
import type { DoContext } from "./do-context.ts";
import { createGrading, hiddenSource } from "./grading-copy.ts";
import { type Guard, openGuard } from "./guard-gates.ts";
import { projectRules } from "./project-rules.ts";
import type { RunsContext } from "./run-look.ts";
import { createConfinements } from "./sandbox.ts";
import { createSlotsOf, openWorktrees } from "./open-worktrees.ts";
import type { WaveParts } from "./wave-parts.ts";
import { ladderOf } from "./wave-workers.ts";
import { openWorkers } from "./workers.ts";

export interface WaveMachine {
  readonly call: GitCall;
  readonly nodePath: string;
  readonly modelNamed: (id: string) => Model;
  readonly kept: KeptResults;
}

type OpenContext = DoContext & RunsContext;

/** Everything a wave needs of this machine. Call it once trust was asked for. */
export async function openWave(
  context: OpenContext,
  machine: WaveMachine,
  order: WaveOrder,
  signal: AbortSignal,
): Promise<WaveParts> {
  const { config } = context;
  const commits = new Map<string, string>();
  for (const { run, contract, commit } of await machine.kept.list())
    if (run === context.run) commits.set(contract, commit);
  const confined = config.sandbox !== "off" && (await context.sandbox.state(signal)).kind === "on";
  const worktrees = openWorktrees(context, machine, order.place ?? context.run, {
    startFrom: ({ build_on: on }) => (on === undefined ? undefined : commits.get(on)),
    confined: () => confined,
  });
  const slots = createSlotsOf(context);
  const table = await openWorkers({
    ...context,
    nodePath: machine.nodePath,
    slots,
    confine: createConfinements(context).worker,
    denyRead: privateOf(context, order.contracts),
  });
  const guard = await openGates(context);
  const { redact } = await context.projectGates();
  const persona = personaNamed(await context.personas(), "worker");
  const ladderParts = { table, modelNamed: machine.modelNamed, slots };
  return {
    worktrees,
    kept: machine.kept,
    noteKept: (contract, commit) => void commits.set(contract, commit),
    table,
    ladderOf: (contract) => ladderOf(context, ladderParts, contract),
    gates: gatesOf(context, guard.gates, worktrees),
    slots,
    texts: { persona, redact },
    async [Symbol.asyncDispose]() {
      guard[Symbol.dispose]();
      await table[Symbol.asyncDispose]();
    },
  };
}

async function openGates(context: OpenContext): Promise<Guard> {
  const { config, files, ids, machine, process, runDir } = context;
  return openGuard({
    installRoot: machine.installRoot,
    settings: await projectRules(context),
    files,
    tests: context.testRunner,
    process,
    env: checkEnvironment(machine, inRoot(runDir, "home")),
    confine: createConfinements(context).check,
    filesAt: (treeish) => context.git.filesAt(treeish),
    ids,
    limits: { acceptRevise: config.judge.accept_revise, acceptWarn: config.judge.accept_warn },
  });
}

/**
 * Gate 1 as it judges a run: what a contract must hold first, what a reply looked like, and the hidden checks in a copy
 * that no worker sees.
 */
function gatesOf(context: OpenContext, guard: readonly Gate[], worktrees: RunWorktrees): readonly Gate[] {
  const grading = createGrading(context, linkInto(context));
  const checks = guard.find(({ id }) => id === "checks");
  if (checks === undefined) throw new TypeError("gate 1 runs the contract's checks");
  const [report, ...rest] = guard.filter(({ id }) => id !== "hidden-checks");
  const at = rest.findIndex(({ id }) => id === "checks") + 1;
  return [
    createReadinessGate({ checkSpec }),
    createHiddenFilesGate({ grading }),
    ...(report === undefined ? [] : [report]),
    createExtractionGate(),
    createTruncationGate(),
    createRepositorySealGate(({ contract }) => worktrees.changes(contract.id)),
    ...rest.slice(0, at),
    createHiddenGate({ checks, grading }),
    ...rest.slice(at),
  ];
}

/** The same links as in the worktree: a hidden test needs the project's dependencies, too. */
function linkInto({ config, git, root }: OpenContext): Parameters<typeof createGrading>[1] {
  return async ({ folder, tree }, contract) => {
    const patterns = [...new Set([...config.worktree_links, ...contract.worktree_links])];
    if (patterns.length === 0) return;
    const tracked = await git.filesAt(tree);
    const isTracked = (own: string): boolean => tracked.some((name) => isInside(name, own));
    await makeLinks(folder, await planLinks({ main: root, tree: folder, patterns, isTracked }));
  };
}

/** Not for a worker's eyes: contracts, runs, and what is hidden from it. */
function privateOf(context: OpenContext, contracts: readonly Contract[]): readonly AbsPath[] {
  const hidden = contracts.flatMap(({ hidden_files: some }) => some.map(({ from }) => hiddenSource(context, from)));
  return [inRoot(context.root, ".orch"), inRoot(context.machine.stateDir, "grading"), ...hidden];
}
