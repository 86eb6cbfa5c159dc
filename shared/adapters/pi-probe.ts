import * as z from "zod";
import { type AbsPath, absPath, inRoot, isAbsolutePath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Process } from "../ports/process.ts";
import { isNodeScript } from "./client-probe.ts";
import { flagsOfHelp, piEnvironment, variablesOfHelp } from "./pi-environment.ts";
import { createPiHome, namedVariables, piUserDir } from "./pi-home.ts";

/** Finds pi, learns from its help what it can, and asks whether the user has any model in it. */
export interface PiProbe {
  /** Remembered for the life of the process; what the help says is also kept on disk until the program changes. */
  find(signal: AbortSignal): Promise<PiFound>;
  /** `usable`: it runs and lists at least one model. */
  usable(signal: AbortSignal): Promise<PiUsable>;
}

export interface PiUsable {
  readonly usable: boolean;
  readonly why: string;
  /** Ids that pi lists: those with a login or a key. */
  readonly models: readonly string[];
}

export type PiFound =
  | { readonly kind: "found"; readonly pi: PiProgram }
  | { readonly kind: "missing"; readonly why: string; readonly hint: string };

export interface PiProgram {
  /** How to start it; arguments follow. */
  readonly argv: readonly [string, ...string[]];
  readonly flags: readonly string[];
  /** Environment variables of providers, from its help and the user's own pi files. */
  readonly variables: readonly string[];
  readonly userDir: AbsPath;
}

export interface PiProbeDeps {
  readonly files: Files;
  readonly process: Process;
  readonly ids: Ids;
  readonly env: Readonly<Record<string, string>>;
  /** A Node at or above pi's floor: the one that runs Orch. */
  readonly nodePath: string;
  /** Where private folders for calls are made; Orch's own. */
  readonly stateDir: AbsPath;
  readonly cacheDir: AbsPath;
  /** Absolute path, or a name on PATH; `pi` when absent. */
  readonly command?: string;
}

const probeMs = 15_000;
const maxProbeBytes = 4 * 1024 * 1024;
const hint = "Install pi: npm install -g @earendil-works/pi-coding-agent, or name it in workers.pi.command";

const CacheFile = z.object({
  v: z.literal(1),
  key: z.string(),
  flags: z.array(z.string()),
  variables: z.array(z.string()),
});

export function createPiProbe(deps: PiProbeDeps): PiProbe {
  let found: PiFound | undefined;
  const find = async (signal: AbortSignal): Promise<PiFound> => (found ??= await look(deps, signal));
  return {
    find,
    async usable(signal) {
      const pi = await find(signal);
      return pi.kind === "missing" ? { usable: false, why: pi.why, models: [] } : listModels(deps, pi.pi, signal);
    },
  };
}

async function look(deps: PiProbeDeps, signal: AbortSignal): Promise<PiFound> {
  const { files, env } = deps;
  const command = deps.command ?? "pi";
  const missing = (why: string): PiFound => ({ kind: "missing", why, hint });
  const userDir = piUserDir(env);
  if (userDir === undefined) return missing("there is no home folder to look for pi's logins in");
  const path = isAbsolutePath(command)
    ? absPath(command)
    : await deps.process.which(command, env["PATH"] ?? env["Path"] ?? "");
  const real = path === undefined ? undefined : await files.realPath(path);
  if (path === undefined || real === undefined) return missing(`${command} is not on the PATH`);
  const argv: readonly [string, ...string[]] = (await isNodeScript(files, real)) ? [deps.nodePath, real] : [path];
  const stat = await files.stat(real);
  const key = `${real} ${stat?.sizeBytes ?? 0} ${stat?.mtimeMs ?? 0}`;
  const cached = await readCache(deps, key);
  const help = cached ?? (await readHelp(deps, argv, signal));
  if ("why" in help) return missing(`${command} does not run: ${help.why}`);
  if (!help.flags.includes("--mode") || !help.flags.includes("--system-prompt"))
    return missing(`${command} at ${path} is not the pi that Orch knows`);
  if (cached === undefined) await writeCache(deps, key, help);
  const named = await namedVariables(files, userDir);
  return {
    kind: "found",
    pi: { argv, flags: help.flags, variables: [...new Set([...help.variables, ...named])], userDir },
  };
}

interface PiHelp {
  readonly flags: readonly string[];
  readonly variables: readonly string[];
}

async function readHelp(
  deps: PiProbeDeps,
  argv: PiProgram["argv"],
  signal: AbortSignal,
): Promise<PiHelp | { readonly why: string }> {
  const said = await probe(deps, argv, ["--help"], [], signal);
  if (said.code !== 0) return { why: said.text.trim().split("\n").at(-1) ?? "it failed" };
  return { flags: flagsOfHelp(said.text), variables: variablesOfHelp(said.text) };
}

async function listModels(deps: PiProbeDeps, pi: PiProgram, signal: AbortSignal): Promise<PiUsable> {
  const said = await probe(
    deps,
    pi.argv,
    ["--list-models", "--offline", "--no-extensions"].filter((flag) => pi.flags.includes(flag)),
    pi.variables,
    signal,
  );
  if (said.code !== 0) return { usable: false, why: "pi is installed, but it does not list its models", models: [] };
  // A header line, then one line for each model that has a login or a key: provider, model, what it can.
  const [, ...models] = said.stdout.split("\n").flatMap((line) => {
    const [, provider, model] = /^(\S+)\s+(\S+)/.exec(line) ?? [];
    return provider === undefined || model === undefined ? [] : [`${provider}/${model}`];
  });
  if (models.length === 0) return { usable: false, why: "pi is installed, but has no login and no key", models };
  return { usable: true, why: `pi lists ${models.length} ${models.length === 1 ? "model" : "models"}`, models };
}

async function probe(
  deps: PiProbeDeps,
  argv: PiProgram["argv"],
  args: readonly string[],
  names: readonly string[],
  signal: AbortSignal,
) {
  const userDir = piUserDir(deps.env) ?? deps.stateDir;
  await using home = await createPiHome(deps.files, {
    at: inRoot(deps.stateDir, "pi", deps.ids.next("marker")),
    userDir,
    timeoutMs: probeMs,
    systemPrompt: "",
  });
  const env = piEnvironment(deps.env, { agentDir: home.dir, names });
  const done = await deps.process.run(
    { argv: [...argv, ...args], cwd: home.work, env, timeoutMs: probeMs, maxOutputBytes: maxProbeBytes },
    signal,
  );
  signal.throwIfAborted();
  const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
  const code = done.kind === "exited" ? done.code : undefined;
  const stdout = text(done.stdout);
  return { code, stdout, text: done.kind === "not-started" ? done.reason : `${stdout}\n${text(done.stderr)}` };
}

const cachePath = ({ cacheDir }: PiProbeDeps): AbsPath => inRoot(cacheDir, "pi-help.json");

async function writeCache(deps: PiProbeDeps, key: string, { flags, variables }: PiHelp): Promise<void> {
  await deps.files.makeDir(deps.cacheDir, { mode: 0o700 });
  await deps.files.write(cachePath(deps), JSON.stringify({ v: 1, key, flags, variables }), { mode: 0o600 });
}

async function readCache(deps: PiProbeDeps, key: string): Promise<PiHelp | undefined> {
  try {
    const file = CacheFile.parse(JSON.parse((await deps.files.readText(cachePath(deps))) ?? ""));
    return file.key === key ? file : undefined;
  } catch {
    return undefined;
  }
}
