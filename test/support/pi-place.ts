import { mkdir, mkdtemp, readFile, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createPiProbe, type PiProbe, type PiProbeDeps, type PiProgram } from "../../shared/adapters/pi-probe.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import { sourceRoot } from "./source-root.ts";

/**
 * The real pi of this checkout with a home of its own that knows one provider, `lab`, at `baseUrl`. `deps` is what the
 * probe and the pi lane take.
 */
export interface PiPlace extends AsyncDisposable {
  readonly deps: PiProbeDeps;
  readonly probe: PiProbe;
  readonly home: AbsPath;
  readonly agentDir: AbsPath;
  program(): Promise<PiProgram>;
  /** Every file of the user's pi folder, name to text. */
  userFiles(): Promise<Record<string, string>>;
  /** Names left in the folder where private homes are made. */
  leftHomes(): Promise<readonly string[]>;
}

export interface PiPlaceOptions {
  readonly baseUrl?: string;
  readonly apiKey?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly command?: string;
  /** Cost per million tokens in models.json; no price when absent. */
  readonly cost?: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheWrite: number;
  };
}

export async function piPlace(options: PiPlaceOptions = {}): Promise<PiPlace> {
  const base = await realpath(await mkdtemp(path.join(tmpdir(), "orch-pi-")));
  const home = path.join(base, "home");
  const agentDir = path.join(home, ".pi", "agent");
  await mkdir(agentDir, { recursive: true });
  const models = [
    { id: "scripted", contextWindow: 128_000, maxTokens: 8000, ...(options.cost ? { cost: options.cost } : {}) },
  ];
  const lab = {
    baseUrl: options.baseUrl ?? "http://127.0.0.1:9/v1",
    api: "openai-completions",
    apiKey: options.apiKey ?? "dummy-key-of-the-lab",
    models,
  };
  if (options.baseUrl !== undefined)
    await writeFile(path.join(agentDir, "models.json"), JSON.stringify({ providers: { lab } }));
  const bin = path.join(sourceRoot, "node_modules", ".bin");
  const deps: PiProbeDeps = {
    files: createFiles(),
    process: createProcess(),
    ids: createIds(createClock()),
    env: { PATH: `${bin}${path.delimiter}${process.env["PATH"] ?? ""}`, HOME: home, ...options.env },
    nodePath: process.execPath,
    stateDir: absPath(path.join(base, "state")),
    cacheDir: absPath(path.join(base, "cache")),
    ...(options.command === undefined ? {} : { command: options.command }),
  };
  const probe = createPiProbe(deps);
  return {
    deps,
    probe,
    home: absPath(home),
    agentDir: absPath(agentDir),
    async program() {
      const found = await probe.find(new AbortController().signal);
      if (found.kind === "missing") throw new Error(found.why);
      return found.pi;
    },
    async userFiles() {
      const names = await readdir(agentDir, { recursive: true });
      return Object.fromEntries(
        await Promise.all(
          names.map(async (name) => [name, await readFile(path.join(agentDir, name), "utf8")] as const),
        ),
      );
    },
    leftHomes: () => readdir(path.join(base, "state", "pi")).catch(() => []),
    [Symbol.asyncDispose]: () => rm(base, { recursive: true, force: true }),
  };
}
