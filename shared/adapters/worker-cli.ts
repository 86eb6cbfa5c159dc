import { isAbort, throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type { WorkerReport } from "../model/attempt.ts";
import type { ChatMessage } from "../model/completion.ts";
import type { Contract } from "../model/contract.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import type { FinalWord } from "../model/final-word.ts";
import type { UnusableWhy } from "../ports/model.ts";
import type { Confine, Confinement } from "../ports/sandbox.ts";
import type { Slots } from "../ports/slots.ts";
import type { LeftBudget, Worker, WorkerOrder } from "../ports/worker.ts";
import type { Endpoint, Recipe, WorkerTask } from "./recipes/recipe.ts";
import type { Files } from "../ports/files.ts";
import { shareTokens, type SharedLogin } from "./login-tokens.ts";
import { createRedactor, secretsOf } from "./redact.ts";
import { workerEnvironment } from "./worker-environment.ts";
import { follow, type FollowDeps, type Ran, type Started, type WorkerLimits } from "./worker-follow.ts";
import { furnish, makeWorkerHome, type WorkerHome } from "./worker-home.ts";
import { watchStray } from "./worker-stray.ts";
import { claimsOf, judgeWorker, withPrice } from "./worker-verdict.ts";

export interface CliWorkerDeps extends FollowDeps {
  /** How the client is started; the recipe's arguments follow. */
  readonly argv: readonly [string, ...string[]];
  readonly version?: string;
  readonly run: string;
  readonly slots?: Slots;
  readonly confine?: Confine;
  /** Not readable inside the sandbox: the person's home, other worktrees, hidden files. */
  readonly denyRead: readonly AbsPath[];
  /** Readable although it lies below one of them: where the client is installed. */
  readonly allowRead: readonly AbsPath[];
  /** One folder for all attempts of a contract, so that a session can be resumed; `home` and `tmp` are made in it. */
  readonly homeOf: (contract: Contract, attempt: number) => AbsPath;
  readonly shared: AbsPath;
  readonly userHome?: AbsPath;
  /** The environment Orch was started with; only what is named is passed on. */
  readonly env: Readonly<Record<string, string>>;
  /** Names of further variables that the person's settings pass to it. */
  readonly extraEnv: readonly string[];
  /** Hosts that the person's settings let it reach, beside those of its provider. */
  readonly extraHosts: readonly string[];
  readonly model?: string;
  readonly endpoint?: Endpoint;
  readonly prices?: { readonly input: number; readonly output: number; readonly cacheRead?: number };
  readonly extraArgs: readonly string[];
  readonly limits: (contract: Contract) => WorkerLimits;
  readonly readFinal: (text: string) => FinalWord | undefined;
  readonly unusable: (text: string) => { readonly why: UnusableWhy; readonly detail: string } | undefined;
}

/** One argument of a program may not be longer on Linux. */
const maxArgumentBytes = 120_000;

/**
 * A real client as a worker: it writes the workspace itself, and git says what it did. Long because an attempt is one
 * life: its home, its limits, what it says and how it ends share it.
 */
export function createCliWorker(recipe: Recipe, deps: CliWorkerDeps): Worker {
  return {
    id: deps.id,
    can: { resume: recipe.can.resume === "cache-warm", supervise: false, write: true },
    run: (order, signal) => work(recipe, deps, order, signal),
  };
}

async function work(
  recipe: Recipe,
  deps: CliWorkerDeps,
  order: WorkerOrder,
  signal: AbortSignal,
): Promise<WorkerReport> {
  throwIfAborted(signal);
  const { contract, attempt, workspace } = order;
  const { sink, clock } = deps;
  const began = clock.tick();
  const keys = [...new Set([...recipe.env(deps.model, deps.endpoint), ...deps.extraEnv])];
  const home = await makeWorkerHome(deps.files, recipe, {
    at: deps.homeOf(contract, attempt),
    userHome: deps.userHome,
    env: deps.env,
    withLogins: deps.endpoint === undefined,
  });
  const limits = within(deps.limits(contract), order.left);
  const started = await prepare(recipe, deps, order, { home, keys, limits }, signal);
  using slot = await deps.slots?.take({ run: deps.run, contract: contract.id, worker: deps.id }, signal, (held) => {
    sink.append({
      type: "progress.noted",
      text: `${contract.id} waits for a free place: ${held.length} workers are alive`,
    });
  });
  const stray = await watchStray(deps.files, workspace.root, recipe.stray);
  const ran = await sharing(deps.files, home.shared, () =>
    follow(recipe, deps, order, { ...started, limits, slot }, signal),
  );
  const removed = await stray.clear();
  throwIfAborted(signal);
  const safe = createRedactor([
    ...secretsOf(deps.env),
    ...[...keys, deps.endpoint?.keyEnv ?? ""].flatMap((name) => deps.env[name] ?? []),
  ]);
  const report = reportOf(recipe, deps, order, { ...ran, limits });
  sink.append({
    type: "usage.recorded",
    contract: contract.id,
    attempt,
    model: report.model ?? deps.id,
    usage: report.usage,
  });
  return safe.value({
    ...report,
    ...(removed.length === 0 ? {} : { stray: removed }),
    durationMs: clock.tick() - began,
    transcript: ran.transcript,
  });
}

const shareEveryMs = 1000;

/**
 * Tokens go over while it runs: a worker beside it, or the person, that still holds the spent one would be logged out. A
 * round that fails is made up for by the next one, the last of which is nobody's fault.
 */
async function sharing<T>(files: Files, logins: readonly SharedLogin[], work: () => Promise<T>): Promise<T> {
  if (logins.length === 0) return await work();
  let round = Promise.resolve();
  const share = (): Promise<void> =>
    (round = round.then(async () => {
      for (const login of logins) await shareTokens(files, login).catch(() => undefined);
    }));
  // Errors are caught in each round.
  const timer = setInterval(() => void share(), shareEveryMs);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    await share();
  }
}

/** The contract's limits hold for all of its attempts together. */
function within(limits: WorkerLimits, { minutes, usd }: LeftBudget = {}): WorkerLimits {
  return {
    ...limits,
    ...(minutes === undefined ? {} : { wallMs: Math.min(limits.wallMs, minutes * 60_000) }),
    ...(usd === undefined ? {} : { maxCostUsd: usd }),
  };
}

interface Around {
  readonly home: WorkerHome;
  readonly keys: readonly string[];
  readonly limits: WorkerLimits;
}

/** Files of the home are written and the program is put into the sandbox; nothing runs yet. */
async function prepare(
  recipe: Recipe,
  deps: CliWorkerDeps,
  order: WorkerOrder,
  around: Around,
  signal: AbortSignal,
): Promise<Started> {
  // A sandbox shows only what is there when it is set up.
  for (const confined of [true, false]) await deps.files.makeDir(sharedOf(deps, confined), { mode: 0o700 });
  const within = confinementOf(recipe, deps, order, around);
  if (deps.confine !== undefined) {
    const inside = commandOf(recipe, deps, order, around, true);
    const spec = await deps.confine(inside.spec, within, signal).catch((error: unknown) => {
      if (isAbort(error) || isOrchError(error)) throw error;
      // A runtime that cannot set itself up (a busy machine, a tool gone) is the environment's matter, not a bug of the run.
      throw new OrchError("env.no-sandbox", `${deps.id} could not be put into the sandbox: ${wordsOf(error)}`, {
        cause: error,
      });
    });
    if (spec.argv !== inside.spec.argv) {
      await furnish(deps.files, around.home.home, inside.command);
      return { command: inside.command, spec };
    }
  }
  const plain = commandOf(recipe, deps, order, around, false);
  await furnish(deps.files, around.home.home, plain.command);
  return plain;
}

/** What a client unpacks there is its program: one that a confined worker could write must not run without a sandbox. */
function sharedOf({ shared }: Pick<CliWorkerDeps, "shared">, confined: boolean): AbsPath {
  return inRoot(shared, confined ? "confined" : "open");
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function commandOf(
  recipe: Recipe,
  deps: CliWorkerDeps,
  order: WorkerOrder,
  { home, keys, limits }: Around,
  confined: boolean,
): Started {
  const { contract, workspace, session } = order;
  const env = workerEnvironment(deps.env, keys, home);
  const key = deps.endpoint?.keyEnv === undefined ? undefined : deps.env[deps.endpoint.keyEnv];
  const task: WorkerTask = {
    prompt: promptOf(order.messages),
    dir: workspace.root,
    home: home.home,
    tmp: home.tmp,
    ...(deps.version === undefined ? {} : { version: deps.version }),
    ...(deps.model === undefined ? {} : { model: deps.model }),
    ...(session === undefined ? {} : { session }),
    access: isReading(contract) ? "read" : "edit",
    ...(deps.endpoint === undefined ? {} : { endpoint: deps.endpoint }),
    ...(key === undefined ? {} : { key }),
    ...(deps.prices === undefined ? {} : { prices: deps.prices }),
    maxArgumentBytes,
    wallMs: limits.wallMs,
    ...(limits.maxCostUsd === undefined ? {} : { maxCostUsd: limits.maxCostUsd }),
    extraArgs: deps.extraArgs,
    env,
    shared: sharedOf(deps, confined),
    userFiles: home.userFiles,
    confined,
  };
  const command = recipe.command(task);
  return {
    command,
    spec: {
      argv: [...deps.argv, ...command.args],
      cwd: workspace.root,
      env: { ...env, ...command.env },
      timeoutMs: limits.wallMs,
      maxOutputBytes: limits.maxOutputBytes,
      ...(command.stdin === undefined ? {} : { stdin: command.stdin }),
    },
  };
}

/** An opinion never writes, whatever its contract says. */
export function isReading({ mode, kind }: Pick<Contract, "mode" | "kind">): boolean {
  return mode === "read_only" || kind === "second_opinion";
}

function confinementOf(
  recipe: Recipe,
  deps: CliWorkerDeps,
  order: WorkerOrder,
  { home, keys }: Pick<Around, "home" | "keys">,
): Confinement {
  const { root } = order.workspace;
  const shared = sharedOf(deps, true);
  return {
    write: [...(isReading(order.contract) ? [] : [root]), home.home, home.tmp, shared, ...home.logins],
    denyWrite: [inRoot(root, ".git")],
    denyRead: deps.denyRead,
    allowRead: [
      ...[root, ...(order.workspace.reads ?? []), home.home, home.tmp, shared, ...home.logins],
      ...deps.allowRead,
    ],
    hosts: [
      ...new Set([
        ...recipe.hosts(deps.model, deps.endpoint, home.userFiles),
        ...namedHosts(deps.env, keys),
        ...deps.extraHosts,
      ]),
    ],
  };
}

/** An address among the variables that it is given (`ANTHROPIC_BASE_URL`) is its provider's. */
function namedHosts(env: CliWorkerDeps["env"], keys: readonly string[]): readonly string[] {
  return keys.flatMap((key) => {
    const value = env[key] ?? "";
    return /^https?:\/\//.test(value) && URL.canParse(value) ? [new URL(value).hostname] : [];
  });
}

function promptOf(messages: readonly ChatMessage[]): string {
  return messages
    .map(({ role, content }) => (role === "assistant" ? `Your earlier answer:\n\n${content}` : content))
    .join("\n\n");
}

function reportOf(
  recipe: Recipe,
  deps: CliWorkerDeps,
  order: WorkerOrder,
  { parser, done, stop, itsOwnDoing, limits }: Ran & { readonly limits: WorkerLimits },
): Omit<WorkerReport, "durationMs" | "transcript"> {
  const stderr = new TextDecoder().decode(done.stderr);
  const end = parser.end(stderr);
  const final = deps.readFinal(end.text);
  const judged = judgeWorker({
    id: deps.id,
    ...(recipe.install === undefined ? {} : { install: recipe.install }),
    root: order.workspace.root,
    end,
    exit: done,
    ...(stop === undefined ? {} : { stop }),
    itsOwnDoing,
    stderr,
    final,
    unusable: deps.unusable(end.text),
    tellsTokenLimit: recipe.can.tellsTokenLimit,
    limits,
  });
  const model = end.model ?? deps.model;
  const resumes = recipe.can.resumesToWrite !== true || !isReading(order.contract);
  return {
    ...judged,
    claims: claimsOf(final, order.workspace.root),
    concerns: final?.concerns ?? (judged.kind === "done" ? ["it ended without the final JSON it was asked for"] : []),
    refused: [],
    ...(final?.status === undefined ? {} : { status: final.status }),
    ...(final === undefined ? { withoutFinal: true } : { acceptance: final.acceptance }),
    ...(end.denied.length === 0 ? {} : { denied: end.denied }),
    ...(done.leftovers === 0 ? {} : { leftovers: done.leftovers }),
    calls: end.calls,
    ...(end.session === undefined || !resumes ? {} : { session: end.session }),
    ...(model === undefined ? {} : { model }),
    usage: withPrice(end.usage, deps.prices),
  };
}
