import { openGit } from "../adapters/git.ts";
import type { GitCall } from "../adapters/git-call.ts";
import type { MachinePlaces } from "../adapters/machine.ts";
import { createPiProbe, type PiProbe } from "../adapters/pi-probe.ts";
import { createTrustStore } from "../adapters/trust-store.ts";
import { openHookWatch } from "./hook-watch.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { Config } from "../model/config.ts";
import { isOrchError, type OrchError } from "../model/error.ts";
import { runsDir, stateRunsDir } from "../model/run-place.ts";
import type { Editor } from "../ports/editor.ts";
import type { Git } from "../ports/git.ts";
import type { RunStore } from "../ports/run-store.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { Trust } from "../ports/trust.ts";
import { resolveConfig } from "./config.ts";
import { configLayers } from "./config-layers.ts";
import type { ConfigValue, Handler, MachineContext } from "./context.ts";
import { openSandbox } from "./open-sandbox.ts";
import { createRunParts } from "./run-parts.ts";
import { piCommand } from "./model-opener.ts";

/** What commands get that also work outside a repository and where something is broken: they are there to say so. */
export interface AnywhereContext extends MachineContext {
  readonly cwd: AbsPath;
  readonly nodePath: string;
  readonly repository: OpenRepository | NoRepository;
  readonly settings: Settings;
  readonly pi: PiProbe;
  readonly sandbox: Sandbox;
}

export interface OpenRepository {
  readonly kind: "open";
  readonly root: AbsPath;
  readonly git: Git;
  readonly call: GitCall;
  readonly trust: Trust;
  readonly runs: RunStore;
  readonly runsDirs: readonly AbsPath[];
}

export interface NoRepository {
  readonly kind: "none";
  /** `git.*` */
  readonly why: OrchError;
}

/** The defaults stand in where a file is broken. */
export interface Settings {
  readonly config: Config;
  readonly sources: readonly ConfigValue[];
  /** `config.invalid` or, of the trust store, `file.invalid`. */
  readonly broken?: OrchError;
}

export type AnywhereHandler = Handler<AnywhereContext>;

export interface AnywhereWiring {
  readonly places: MachinePlaces;
  readonly env: Readonly<Record<string, string>>;
  readonly nodePath: string;
  readonly cwd: AbsPath;
  readonly editor: Editor;
  readonly signal: AbortSignal;
}

/** Refuses only what no command can work without: a Node that has no locks. */
export async function composeAnywhere(wiring: AnywhereWiring): Promise<AnywhereContext> {
  const { places, env, cwd, editor, nodePath } = wiring;
  const { files, process, clock, ids, locks } = createRunParts(env, []);
  const machine = { ...places, env };
  const sandbox = openSandbox({ process, places, env });
  const base = { machine, files, process, clock, ids, locks, editor, cwd, nodePath };
  const repository = await openRepository(base, wiring.signal);
  const settings = await readSettings(base, repository);
  const pi = createPiProbe({ ...base, ...places, env, ...piCommand(settings.config.workers) });
  return { ...base, repository, settings, pi, sandbox };
}

type Base = MachineContext & Pick<AnywhereContext, "cwd" | "nodePath">;

async function openRepository(base: Base, signal: AbortSignal): Promise<AnywhereContext["repository"]> {
  const { machine, files, process, locks, clock, cwd } = base;
  const late: { trust?: Trust } = {};
  try {
    const { git, call } = await openGit({
      folder: cwd,
      process,
      env: machine.env,
      signal,
      // A trust store that cannot be read approves nothing.
      approvedKeys: async () => (await late.trust?.approvedGitKeys().catch(() => [])) ?? [],
      hooksHeld: async () => (await late.trust?.hooksHeld().catch(() => true)) ?? false,
    });
    const { root } = git.place;
    const trust = createTrustStore({
      files,
      place: git.place,
      programKeys: () => git.programKeys(),
      hooks: openHookWatch(files, machine.stateDir, git),
      locks,
      stateDir: machine.stateDir,
      now: () => clock.now(),
    });
    late.trust = trust;
    const runsDirs = [runsDir(root), stateRunsDir(machine.stateDir, root)];
    return { kind: "open", root, git, call, trust, runs: createRunParts(machine.env, runsDirs).store, runsDirs };
  } catch (error) {
    if (isOrchError(error)) return { kind: "none", why: error };
    throw error;
  }
}

async function readSettings({ files, machine }: Base, repository: AnywhereContext["repository"]): Promise<Settings> {
  try {
    const project = repository.kind === "open" ? [repository] : [];
    return resolveConfig(await configLayers(files, machine.configDir, ...project));
  } catch (error) {
    if (!isOrchError(error)) throw error;
    const { sources } = resolveConfig([]);
    return { config: Config.parse({}), sources, broken: error };
  }
}

/** Where the user's own settings are. */
export function userFile({ machine }: Pick<MachineContext, "machine">, name: string): AbsPath {
  return inRoot(machine.configDir, name);
}
