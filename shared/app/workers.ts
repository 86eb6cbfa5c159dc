import { type ClientProbeDeps, findClient, type FoundClient } from "../adapters/client-probe.ts";
import { ownRecipe } from "../adapters/recipes/own.ts";
import type { Recipe } from "../adapters/recipes/recipe.ts";
import { recipeOf } from "../adapters/recipes/recipes.ts";
import { createCliWorker, isReading } from "../adapters/worker-cli.ts";
import type { WorkerLimits } from "../adapters/worker-follow.ts";
import { type AbsPath, absPath, inRoot, isAbsolutePath } from "../base/paths.ts";
import { unusableReply } from "../engine/unusable-reply.ts";
import type { Config } from "../model/config.ts";
import type { Contract } from "../model/contract.ts";
import type { Confine } from "../ports/sandbox.ts";
import type { Slots } from "../ports/slots.ts";
import type { Worker } from "../ports/worker.ts";
import { readFinal } from "../prompts/final-word.ts";
import type { RepoContext } from "./context.ts";
import { privatePlaces, toolPlaces } from "./private-places.ts";
import { type KnownWorker, knownWorkers, type Rung, workerRoutes } from "./worker-entries.ts";
import { baseRow, endpointOf, pricesOf, providerOf, type WorkerRow, type WorkerState } from "./worker-row.ts";

/** What is looked at to say which workers can be used. */
export type LookContext = Pick<RepoContext, "machine" | "files" | "process" | "config"> & {
  /** A Node at or above the floor, for clients that are scripts: the one that runs Orch. */
  readonly nodePath: string;
};

/** What workers need beside the run's own parts. */
export type WorkersContext = LookContext &
  Pick<RepoContext, "clock" | "ids" | "sink" | "run"> & {
    readonly slots?: Slots;
    /** Absent: programs run as they are. */
    readonly confine?: Confine;
    /** Not readable inside the sandbox: the main checkout's private folders, other worktrees, hidden files. */
    readonly denyRead?: readonly AbsPath[];
  };

export interface WorkerLadder {
  /** First rung first. Empty when nothing of it can be used: `skipped` says why, one by one. */
  readonly ladder: readonly Worker[];
  readonly skipped: readonly SkippedWorker[];
}

export interface SkippedWorker {
  readonly id: string;
  readonly why: string;
  /** Brings its client here, or up to date. */
  readonly install?: string;
}

export interface WorkerTable extends AsyncDisposable {
  rows(): readonly WorkerRow[];
  /** By the contract's worker and ladder, else by its kind. */
  ladderOf(contract: Contract): WorkerLadder;
  /** The family of a worker, for waves that are to be spread. */
  familyOf(id: string): string | undefined;
}

interface Looked {
  readonly row: WorkerRow;
  readonly known: KnownWorker;
  readonly recipe?: Recipe;
  readonly found?: Extract<FoundClient, { readonly kind: "found" }>;
}

/** Finds every client of the table and starts none. The homes that its workers are given go when it is disposed. */
export async function openWorkers(context: WorkersContext): Promise<WorkerTable> {
  const { config, files, machine, run } = context;
  const looked = new Map((await lookAt(context)).map((one) => [one.row.id, one]));
  const homes = inRoot(machine.stateDir, "workers", run);
  const made = new Map<string, Worker>();
  const workerOf = (one: Looked): Worker => {
    const known = made.get(one.row.id);
    if (known !== undefined) return known;
    const worker = makeWorker(context, one, homes);
    made.set(one.row.id, worker);
    return worker;
  };
  return {
    rows: () => [...looked.values()].map(({ row }) => row),
    familyOf: (id) => looked.get(id)?.row.family,
    ladderOf(contract) {
      const skipped: SkippedWorker[] = [];
      const ladder = rungsOf(contract, config).flatMap((rung) => {
        const one = looked.get(rung.worker);
        const why = one === undefined ? unknownWorker(rung.worker) : whyNot(one, rung, contract);
        if (why !== undefined) skipped.push({ id: rung.worker, why, ...installOf(one) });
        return why === undefined && one !== undefined ? [workerOf(one)] : [];
      });
      return { ladder, skipped };
    },
    [Symbol.asyncDispose]: () => files.remove(homes),
  };
}

/** The table as `doctor` shows it. */
export async function workerRows(context: LookContext): Promise<readonly WorkerRow[]> {
  return (await lookAt(context)).map(({ row }) => row);
}

/** Ids that a contract may name. */
export function workerIds(config: Pick<Config, "workers">): readonly string[] {
  return knownWorkers(config).map(({ id }) => id);
}

function rungsOf({ worker, ladder, kind }: Contract, { ladders }: Config): readonly Rung[] {
  const named = worker === "auto" ? ladder : [worker, ...ladder];
  const rungs = named.length > 0 ? named : ladders[kind];
  return rungs === undefined ? workerRoutes[kind] : [...new Set(rungs)].map((id) => ({ worker: id }));
}

function unknownWorker(id: string): string {
  return `there is no worker ${id}; see the table with: orch doctor`;
}

function installOf(one: Looked | undefined): Pick<SkippedWorker, "install"> {
  const install = one?.row.state === "missing" || one?.row.state === "too old" ? one.recipe?.install : undefined;
  return install === undefined ? {} : { install };
}

function whyNot({ row, known, recipe }: Looked, rung: Rung, contract: Contract): string | undefined {
  if (row.state !== "usable") return row.why ?? row.state;
  if (known.kinds !== undefined && !known.kinds.includes(contract.kind))
    return `${row.id} is only for ${known.kinds.join(", ")}, and this is ${contract.kind}`;
  if (rung.needs === "hidden checks" && contract.hidden_checks.length === 0)
    return `${row.id} takes ${contract.kind} only with hidden checks, and there are none`;
  if (isReading(contract) && recipe?.can.readOnly === false) return `${row.id} has no read-only mode`;
  return undefined;
}

async function lookAt(context: LookContext): Promise<readonly Looked[]> {
  const { machine, files, process, nodePath, config } = context;
  const deps: ClientProbeDeps = { files, process, env: machine.env, nodePath, cacheDir: machine.cacheDir };
  const programs = new Map<string, Promise<FoundClient>>();
  const find = (recipe: Recipe, command: string | undefined): Promise<FoundClient> => {
    const key = command ?? recipe.program;
    const asked = programs.get(key) ?? findClient(deps, recipe, command);
    programs.set(key, asked);
    return asked;
  };
  return Promise.all(knownWorkers(config).map((known) => lookAtOne(known, config, find)));
}

async function lookAtOne(
  known: KnownWorker,
  config: Config,
  find: (recipe: Recipe, command: string | undefined) => Promise<FoundClient>,
): Promise<Looked> {
  const recipe = recipeFor(known);
  const base = baseRow(known, recipe, config);
  const as = (state: WorkerState, why: string, hint?: string, client?: Recipe): Looked => ({
    known,
    ...(client === undefined ? {} : { recipe: client }),
    row: { ...base, state, why, ...(hint === undefined ? {} : { hint }) },
  });
  if (known.enabled === false) return as("off", "switched off in the settings");
  if (known.acp !== undefined) return as("needs live supervision", "needs live supervision (not in this version)");
  if (recipe === undefined)
    return as(
      "invalid",
      `workers.${known.id} names no client that Orch knows and no argv with a command`,
      `Give workers.${known.id} a client, or a command and an argv`,
    );
  const found = await find(recipe, known.command);
  if (found.kind === "missing")
    return as(
      "missing",
      `not installed: ${found.why}`,
      recipe.install === undefined ? undefined : `Install it: ${recipe.install}`,
      recipe,
    );
  const version = found.version === undefined ? {} : { version: found.version };
  if (found.tooOld !== undefined) {
    const old = as(
      "too old",
      `${recipe.program} ${found.version ?? ""} is older than ${found.tooOld}`,
      recipe.install,
      recipe,
    );
    return { ...old, row: { ...old.row, ...version } };
  }
  return { known, recipe, found, row: { ...base, state: "usable", ...version } };
}

function recipeFor(known: KnownWorker): Recipe | undefined {
  const { id, argv, command } = known;
  if (argv !== undefined && command !== undefined)
    return ownRecipe({ id, program: command, config: { ...known, argv } });
  return recipeOf(known.client);
}

const defaultMinutes = 30;
const defaultSilenceS = 300;
const defaultCalls = 150;
const maxOutputBytes = 96 * 1024 * 1024;

function makeWorker(context: WorkersContext, { known, recipe, found }: Looked, homes: AbsPath): Worker {
  if (recipe === undefined || found === undefined) throw new TypeError(`${known.id} is not usable`);
  const { machine, files, process, clock, ids, sink, run, config, slots, confine } = context;
  const { env } = machine;
  const provider = providerOf(known.model, config);
  const prices = pricesOf(known, config);
  const userHome = absIn(env["HOME"] ?? env["USERPROFILE"]);
  return createCliWorker(recipe, {
    id: known.id,
    argv: found.argv,
    ...(found.version === undefined ? {} : { version: found.version }),
    process,
    files,
    clock,
    ids,
    sink,
    run,
    ...(slots === undefined ? {} : { slots }),
    ...(confine === undefined ? {} : { confine }),
    denyRead: [...privateHome(userHome), machine.stateDir, machine.configDir, ...(context.denyRead ?? [])],
    allowRead: [...found.folders, ...tools(env, userHome)],
    homeOf: ({ id }) => inRoot(homes, id, known.id),
    shared: inRoot(machine.cacheDir, "workers"),
    ...(userHome === undefined ? {} : { userHome }),
    env,
    extraEnv: known.env ?? [],
    extraHosts: known.hosts ?? [],
    ...(known.model === undefined ? {} : { model: known.model }),
    ...(provider === undefined ? {} : { endpoint: endpointOf(provider) }),
    ...(prices === undefined ? {} : { prices: withoutUndefined(prices) }),
    extraArgs: known.args ?? [],
    limits: (contract) => limitsOf(known, contract),
    readFinal,
    unusable: unusableReply,
  });
}

function withoutUndefined({ input, output, cacheRead }: NonNullable<KnownWorker["prices"]>): {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
} {
  return { input, output, ...(cacheRead === undefined ? {} : { cacheRead }) };
}

function limitsOf({ minutes, silence_s: silence, max_calls: calls }: KnownWorker, contract: Contract): WorkerLimits {
  return {
    wallMs: (contract.max_minutes ?? minutes ?? defaultMinutes) * 60_000,
    silenceMs: (silence ?? defaultSilenceS) * 1000,
    maxCalls: calls ?? defaultCalls,
    ...(contract.max_cost_usd === undefined ? {} : { maxCostUsd: contract.max_cost_usd }),
    maxOutputBytes,
  };
}

/** The whole home, and the secrets inside tools that are readable all the same. */
function privateHome(home: AbsPath | undefined): readonly AbsPath[] {
  return home === undefined ? [] : [home, ...privatePlaces(home, []).map((at) => absPath(at))];
}

/** What the worker's commands are run with: the tools on PATH, also those below the home. */
function tools(env: Readonly<Record<string, string>>, home: AbsPath | undefined): readonly AbsPath[] {
  const folders = (env["PATH"] ?? "").split(":").filter(isAbsolutePath);
  return toolPlaces(folders, home).map((at) => absPath(at));
}

function absIn(text: string | undefined): AbsPath | undefined {
  return text !== undefined && isAbsolutePath(text) ? absPath(text) : undefined;
}
