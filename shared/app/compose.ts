import type { Redactor } from "../adapters/redact.ts";
import { openGit } from "../adapters/git.ts";
import { createKeptResults } from "../adapters/kept-results.ts";
import { createTrash } from "../adapters/trash.ts";
import { createTrustStore } from "../adapters/trust-store.ts";
import { heldHooks, openHookWatch } from "./hook-watch.ts";
import type { MachinePlaces } from "../adapters/machine.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { runsDir, stateRunsDir } from "../model/run-place.ts";
import type { ParsedEvent } from "../model/event.ts";
import type { Editor } from "../ports/editor.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { RunHost } from "../ports/run-host.ts";
import type { RunFolder } from "../ports/run-store.ts";
import type { Trust } from "../ports/trust.ts";
import { type ResolvedConfig, resolveConfig } from "./config.ts";
import { configLayers } from "./config-layers.ts";
import { configuredKeys } from "./configured-keys.ts";
import type { Machine, RepoContext } from "./context.ts";
import type { WaveContext } from "./contract-wave.ts";
import type { AgentContext } from "./agent-parts.ts";
import type { DoContext } from "./do-context.ts";
import { createTreeJudge } from "./judge-tree.ts";
import { createModelOpener } from "./model-opener.ts";
import { createProjectGates } from "./project-gates.ts";
import { projectPersonas } from "./project-personas.ts";
import type { RunsContext } from "./run-look.ts";
import { openSandbox } from "./open-sandbox.ts";
import { openWorktrees } from "./open-worktrees.ts";
import { createRunParts, type RunParts } from "./run-parts.ts";
import type { MergeContext } from "./tree-judge.ts";

/** Everything a handler may use; handlers take the part they need. This file alone knows engine and adapters. */
export type FullContext = AgentContext & MergeContext & RunsContext & WaveContext;

/** Where a command runs, and for whom. */
export interface Wiring {
  readonly places: MachinePlaces;
  readonly env: Readonly<Record<string, string>>;
  /** The Node that runs this process; pi runs on it. */
  readonly nodePath: string;
  /** The folder the command was given in. */
  readonly cwd: AbsPath;
  readonly editor: Editor;
  /** Starts and resumes runners. */
  readonly host: RunHost;
  /** Ends fetches, pushes and hooks. */
  readonly signal: AbortSignal;
  /** What is said and logged elsewhere goes through it, too: it learns the keys that the settings name. */
  readonly redactor?: Redactor;
  /** The run this is; a command without a run folder gets a silent sink and a private folder. */
  readonly run?: { readonly folder: RunFolder; readonly sink: EventSink; readonly history: readonly ParsedEvent[] };
}

export interface Composed extends AsyncDisposable {
  readonly context: FullContext;
}

/** @throws OrchError `git.*` where there is no repository to work on, `config.invalid` */
export async function composeRepository(wiring: Wiring): Promise<Composed> {
  const { places, env, signal } = wiring;
  const machine: Machine = { ...places, env };
  const parts = createRunParts(env, []);
  const { files, process } = parts;
  const redactor = wiring.redactor ?? parts.redactor;
  const late: { trust?: Trust } = {};
  const { git, call } = await openGit({
    folder: wiring.cwd,
    process,
    env,
    signal,
    ...(wiring.run === undefined ? {} : { run: wiring.run.folder.run }),
    approvedKeys: async () => (await late.trust?.approvedGitKeys()) ?? [],
    hooksHeld: heldHooks(wiring.editor, () => late.trust),
  });
  const { root } = git.place;
  const store = createTrustStore({
    files,
    place: git.place,
    programKeys: () => git.programKeys(),
    hooks: openHookWatch(files, places.stateDir, git),
    locks: parts.locks,
    stateDir: places.stateDir,
    now: () => parts.clock.now(),
  });
  late.trust = store;
  const runs = createRunParts(env, runsDirsOf(places, root)).store;
  const resolved = async (): Promise<ResolvedConfig> =>
    resolveConfig(await configLayers(files, places.configDir, { root, trust: store }));
  const { config, sources } = await resolved();
  redactor.learn(configuredKeys(config, env));
  // Trusted in the middle of a command, the settings take effect in it, as the rules and personas do.
  const grant: Trust["grant"] = async (seen) => {
    await store.grant(seen);
    Object.assign(config, (await resolved()).config);
    redactor.learn(configuredKeys(config, env));
  };
  const trust: Trust = { ...store, grant };
  const own = wiring.run ?? (await privateRun({ ...parts, redactor }, places));
  const sandbox = openSandbox({ process, places, env, run: own.folder.run });
  const repository: RepoContext = {
    machine,
    files,
    process,
    clock: parts.clock,
    ids: parts.ids,
    locks: parts.locks,
    sandbox,
    editor: wiring.editor,
    root,
    git,
    trash: createTrash({ call, clock: parts.clock, ids: parts.ids }),
    trust,
    config,
    configSources: sources,
    sink: own.sink,
    run: own.folder.run,
    runDir: own.folder.dir,
  };
  const projectGates = createProjectGates(repository);
  const models = createModelOpener(repository, wiring);
  const doContext: DoContext = {
    ...repository,
    cwd: wiring.cwd,
    openModel: models.open,
    redact: (text) => redactor.text(text),
    testRunner: projectGates.testRunner,
    bystanders: projectGates.bystanders,
    projectGates: () => projectGates.load(),
    personas: () => projectPersonas(repository),
    history: own.history,
    linkContract: (contract) => runs.link(contract, own.folder),
  };
  const runsContext = { ...doContext, runs, host: wiring.host };
  const kept = createKeptResults(call);
  const context: FullContext = {
    ...runsContext,
    judgeTree: createTreeJudge(doContext),
    kept,
    worktreesOf: (run) => openWorktrees(runsContext, { call, kept }, run),
    modelNamed: models.named,
    openAgent: async (order, stop) => {
      const { openAgent } = await import("./open-agent.ts");
      return openAgent(runsContext, { call, kept, nodePath: wiring.nodePath }, order, stop);
    },
    openWave: async (order, stop) => {
      // Clients, gate 1 and the wave's workers: few commands want them, and every command starts here.
      const { openWave } = await import("./open-wave.ts");
      return openWave(runsContext, { call, kept, nodePath: wiring.nodePath, modelNamed: models.named }, order, stop);
    },
  };
  return {
    context,
    async [Symbol.asyncDispose]() {
      await projectGates[Symbol.asyncDispose]();
      await sandbox[Symbol.asyncDispose]();
      if (wiring.run === undefined) await files.remove(own.folder.dir);
    },
  };
}

export function runsDirsOf(places: Pick<MachinePlaces, "stateDir">, root: AbsPath): readonly AbsPath[] {
  return [runsDir(root), stateRunsDir(places.stateDir, root)];
}

/** Commands without a run write their logs where nobody looks, and leave nothing. */
async function privateRun(
  { files, ids, redactor }: RunParts,
  places: MachinePlaces,
): Promise<NonNullable<Wiring["run"]>> {
  const run = ids.next("run");
  const dir = inRoot(places.stateDir, "short", run);
  await files.makeDir(dir, { mode: 0o700 });
  const sink: EventSink = {
    append: () => undefined,
    async sidecar(path, data) {
      const at = inRoot(dir, path);
      await files.makeDir(inRoot(dir, path.split("/").slice(0, -1).join("/")), { mode: 0o700 });
      const bytes = typeof data === "string" ? new TextEncoder().encode(redactor.text(data)) : data;
      await files.write(at, bytes, { mode: 0o600 });
      return {
        path,
        bytes: bytes.length,
        sha256: "",
      };
    },
  };
  return { folder: { run, dir }, sink, history: [] };
}
