import { createCommitPushFinisher } from "../adapters/finish-commit-push.ts";
import { createCompletionWorker } from "../adapters/worker-completion.ts";
import { type BranchWorkspaceOptions, createBranchWorkspaces } from "../adapters/workspace-branch.ts";
import { inRoot } from "../base/paths.ts";
import type { ContractOrder } from "../engine/run-contract.ts";
import { scaffoldFiles } from "../features/scaffold.ts";
import { refusedFiles } from "../gates/scope.ts";
import type { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import type { Finisher } from "../ports/finisher.ts";
import type { AgentContext } from "./agent-parts.ts";
import type { CommandArgs } from "./context.ts";
import type { ProjectGates } from "./do-context.ts";
import type { DoPlan } from "./do-plan.ts";
import { isModelId } from "./wave-workers.ts";

/** Who does the work of `do`, and where: completions in place, an agent in a worktree beside the checkout. */
export interface DoWay extends AsyncDisposable {
  readonly agent: boolean;
  /** What of the order differs; the rest of `do` does not know which way it is. */
  orderOf(
    contract: Contract,
    gates: ProjectGates,
  ): Pick<ContractOrder, "contract" | "workspaces" | "ladder" | "gates" | "finisher" | "refused">;
}

/** The worker that works in a worktree; a model, and nobody named, work in place. */
export function agentOf({ worker }: Pick<CommandArgs, "worker">): string | undefined {
  return worker === undefined || isModelId(worker) ? undefined : worker;
}

/** @throws OrchError `usage.invalid`, `worker.missing`, `model.exhausted`; nothing was changed then */
export async function openWay(
  context: AgentContext,
  args: CommandArgs,
  plan: DoPlan,
  signal: AbortSignal,
): Promise<DoWay> {
  if (args.worker !== undefined && args.model !== undefined) {
    const text = `${args.worker} does the work, so the model ${args.model} has nothing to lead`;
    context.editor.notify({ severity: "warning", text });
  }
  const worker = agentOf(args);
  return worker === undefined ? inPlace(context, args, plan, signal) : beside(context, args, { plan, worker }, signal);
}

async function inPlace(context: AgentContext, args: CommandArgs, plan: DoPlan, signal: AbortSignal): Promise<DoWay> {
  const timing = { clock: context.clock, timeoutMs: context.config.models.timeout_s * 1000 };
  const worker =
    args.worker === undefined
      ? createCompletionWorker({ ...timing, model: await anyModel(context, args, signal) })
      : createCompletionWorker({ ...timing, id: args.worker, model: context.modelNamed(args.worker) });
  return {
    agent: false,
    orderOf: (contract, { gates }) => ({
      contract,
      workspaces: createBranchWorkspaces(context, checkoutOf(context, plan, contract)),
      ladder: [worker],
      gates,
      refused: refusedFiles,
      finisher: commitAndPush(context, args, plan),
    }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function anyModel(
  context: AgentContext,
  args: CommandArgs,
  signal: AbortSignal,
): Promise<ReturnType<AgentContext["modelNamed"]>> {
  const opened = await context.openModel(args, signal);
  if (opened.kind !== "unavailable") return opened.model;
  throw new OrchError("model.exhausted", `no model can be asked: ${opened.why}. ${opened.hint}`);
}

async function beside(
  context: AgentContext,
  args: CommandArgs,
  { plan, worker }: { readonly plan: DoPlan; readonly worker: string },
  signal: AbortSignal,
): Promise<DoWay> {
  const parts = await context.openAgent({ worker, feature: plan.feature }, signal);
  return {
    agent: true,
    orderOf(compiled, gates) {
      // The slice comes along by name, without what git ignores in it.
      const contract = { ...compiled, worker, include_untracked: [] };
      const place = parts.beside(contract, gates, {
        ...checkoutOf(context, plan, contract),
        branch: plan.branch.branch,
      });
      return {
        contract,
        workspaces: place,
        ladder: [parts.worker],
        gates: parts.gatesWith(gates.gates),
        finisher: place.finisher(commitAndPush(context, args, plan)),
      };
    },
    [Symbol.asyncDispose]: () => parts[Symbol.asyncDispose](),
  };
}

function checkoutOf(context: AgentContext, plan: DoPlan, { id }: Contract): BranchWorkspaceOptions {
  return {
    slice: plan.feature.dir,
    registry: plan.feature.registry,
    stateFile: inRoot(context.runDir, id, "workspace.json"),
    disposable: scaffoldOf(plan),
    onStored: ({ id: trash, what, files, bytes }) =>
      context.sink.append({ type: "trash.stored", id: trash, what, entries: files, bytes }),
  };
}

function commitAndPush(context: AgentContext, args: CommandArgs, plan: DoPlan): Finisher {
  return createCommitPushFinisher(context, {
    slice: plan.feature.dir,
    registry: plan.feature.registry,
    branch: plan.branch.branch,
    name: plan.feature.target.name,
    push: args.push && context.config.features.push,
    trusted: () => context.trust.mayRunCode(),
  });
}

/** The files as `new` made them: nothing of a person is in them. */
function scaffoldOf(plan: DoPlan): (path: string, bytes: Uint8Array) => boolean {
  const made = new Map<string, string>(
    scaffoldFiles(plan.pack, plan.feature, { controller: true }).map(({ path, text }) => [path, text]),
  );
  return (path, bytes) => made.get(path) === new TextDecoder().decode(bytes);
}
