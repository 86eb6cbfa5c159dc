import type { GitCall } from "../adapters/git-call.ts";
import { createBesideWorkspaces } from "../adapters/workspace-beside.ts";
import { type AbsPath, below, inRoot } from "../base/paths.ts";
import { createObservedGate } from "../gates/observed.ts";
import { createPlainFilesGate } from "../gates/plain-files.ts";
import { createRepositorySealGate } from "../gates/repository-seal.ts";
import { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { targetText } from "../model/target.ts";
import type { Gate } from "../ports/gate.ts";
import type { Worker } from "../ports/worker.ts";
import type { KeptResults, RunWorktrees } from "../ports/worktrees.ts";
import type { AgentOrder, AgentParts } from "./agent-parts.ts";
import type { DoContext } from "./do-context.ts";
import { createSlotsOf, openWorktrees } from "./open-worktrees.ts";
import type { RunsContext } from "./run-look.ts";
import { createConfinements } from "./sandbox.ts";
import { requireKnownWorker } from "./named-worker.ts";
import { openWorkers, type WorkerTable } from "./workers.ts";

export interface AgentMachine {
  readonly call: GitCall;
  readonly nodePath: string;
  readonly kept: KeptResults;
}

type OpenContext = DoContext & RunsContext;

/** The same workers, worktrees, sandbox and places as contracts have, for one feature. */
export async function openAgent(
  context: OpenContext,
  machine: AgentMachine,
  order: AgentOrder,
  signal: AbortSignal,
): Promise<AgentParts> {
  const { config, files, git, machine: places, root, run, runDir, trash } = context;
  const { feature } = order;
  const confined = config.sandbox !== "off" && (await context.sandbox.state(signal)).kind === "on";
  const worktrees = openWorktrees(context, machine, run, {
    below: [feature.dir, feature.registry],
    confined: () => confined,
  });
  const table = await openWorkers({
    ...context,
    nodePath: machine.nodePath,
    slots: createSlotsOf(context),
    confine: createConfinements(context).worker,
    denyRead: [inRoot(root, ".orch"), inRoot(places.stateDir, "grading")],
  });
  try {
    const worker = workerOf(context, table, order);
    return {
      worker: worktrees.watched(worker),
      gatesWith: (gates) => withWatching(gates, worktrees),
      beside: (contract, gates, checkout) =>
        createBesideWorkspaces(
          { git, files, trash, worktrees, kept: machine.kept },
          {
            ...checkout,
            run,
            tools: projectTools(root, contract),
            seenFile: inRoot(runDir, contract.id, "seen.json"),
            onOpen: (at, commit) => gates.madeOf(at, commit),
          },
        ),
      [Symbol.asyncDispose]: () => table[Symbol.asyncDispose](),
    };
  } catch (error) {
    await table[Symbol.asyncDispose]();
    throw error;
  }
}

/** The environment that the checks are started with lies in the checkout: an agent that runs them itself needs it, too. */
export function projectTools(root: AbsPath, { checks }: Pick<Contract, "checks">): readonly AbsPath[] {
  const named = checks.flatMap(({ argv, env }) => [...argv, ...Object.values(env ?? {})]);
  const tops = named.flatMap((text) => below(text, root)?.split("/")[0] ?? []);
  return [...new Set(tops)].filter((top) => top !== "").map((top) => inRoot(root, top));
}

/** Refuses before anything changes; asked about a feature's work, for a worker may be for other kinds only. */
function workerOf({ config }: OpenContext, table: WorkerTable, { worker: id, feature }: AgentOrder): Worker {
  requireKnownWorker({ config }, id);
  const title = targetText(feature.target);
  const asked = Contract.parse({
    id: feature.target.name,
    title,
    goal: title,
    kind: "feature",
    worker: id,
    allowed: [feature.dir],
  });
  const { ladder, skipped } = table.ladderOf(asked);
  const [worker] = ladder;
  if (worker !== undefined) return worker;
  const why = skipped.map((one) => one.why).join("; ");
  const install = skipped.find((one) => one.install !== undefined)?.install;
  throw new OrchError("worker.missing", `worker ${id} cannot be used here: ${why}`, {
    data: { worker: id, ...(install === undefined ? {} : { install }) },
  });
}

/** What no diff shows is judged before the change itself, right after what the worker said. */
function withWatching(gates: readonly Gate[], worktrees: Pick<RunWorktrees, "changes">): readonly Gate[] {
  const at = gates.findIndex(({ id }) => id === "scope");
  return [
    ...gates.slice(0, at),
    createRepositorySealGate(({ contract }) => worktrees.changes(contract.id)),
    createObservedGate(),
    createPlainFilesGate(),
    ...gates.slice(at),
  ];
}
