import { abortError, throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot, isAbsolutePath } from "../base/paths.ts";
import type { Pack, PackRunner } from "../model/pack.ts";
import type { Files } from "../ports/files.ts";
import type { Process } from "../ports/process.ts";

/**
 * Which of a pack's runners starts the tests: the first for this system whose files stand in the project, whose commands
 * are on PATH and whose probe exits 0. Every place of a command on PATH is tried: the first python3 there may lack pytest.
 */
export interface ChoiceDeps {
  readonly process: Process;
  readonly files: Files;
  readonly machine: { readonly platform: "posix" | "win32" };
  /** The check environment. */
  readonly env: Readonly<Record<string, string>>;
}

export type ChosenRunner =
  | { readonly kind: "runner"; readonly argv: readonly string[] }
  | { readonly kind: "missing-tool"; readonly message: string };

const probeTimeoutMs = 120_000;
const maxPlaces = 10;

export async function chooseRunner(
  deps: ChoiceDeps,
  pack: Pack,
  root: AbsPath,
  toolsRoot: AbsPath,
  signal: AbortSignal,
): Promise<ChosenRunner> {
  const tried = new Set<string>();
  for (const runner of pack.test.runners) {
    throwIfAborted(signal);
    if (!runner.platforms.includes(deps.machine.platform) || !(await hasFiles(deps, runner, toolsRoot))) continue;
    for (const { program, place } of await programs(deps, runner, root === toolsRoot ? undefined : toolsRoot)) {
      if (await probes(deps, pack, runner, program, root, toolsRoot, signal))
        return { kind: "runner", argv: [program, ...runner.argv.slice(1)] };
      tried.add(place);
    }
  }
  // Which ones were asked tells a person whose PATH starts with a version manager what to install it for.
  const asked = tried.size === 0 ? "" : `. Asked: ${[...tried].join(", ")}`;
  return { kind: "missing-tool", message: `${pack.test.missing}${asked}` };
}

/** `{name}` becomes the value of that name. */
export function filledIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{([a-z]+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? whole) : whole,
  );
}

async function hasFiles(deps: ChoiceDeps, runner: PackRunner, toolsRoot: AbsPath): Promise<boolean> {
  for (const file of runner.files) if ((await deps.files.stat(inRoot(toolsRoot, file))) === undefined) return false;
  return true;
}

/** What is started, and where it lies for a person. */
interface Program {
  readonly program: string;
  readonly place: string;
}

/** The programs a runner may mean: a file of the project, or the places of the command on PATH, nearest first. */
async function programs(
  deps: ChoiceDeps,
  runner: PackRunner,
  toolsRoot: AbsPath | undefined,
): Promise<readonly Program[]> {
  const program = runner.argv[0] ?? "";
  const search = deps.env["PATH"] ?? "";
  for (const command of runner.commands) if ((await deps.process.which(command, search)) === undefined) return [];
  if (program.includes("/")) {
    const own = toolsRoot === undefined || isAbsolutePath(program) ? program : inRoot(toolsRoot, program);
    return [{ program: own, place: program }];
  }
  const found = new Set<string>();
  for (const folder of search.split(deps.machine.platform === "win32" ? ";" : ":")) {
    const place = folder === "" ? undefined : await deps.process.which(program, folder);
    if (place !== undefined && found.size < maxPlaces) found.add(place);
  }
  const [first, ...others] = found;
  if (first === undefined) return [];
  return [{ program, place: first }, ...others.map((place) => ({ program: place, place }))];
}

async function probes(
  deps: ChoiceDeps,
  pack: Pack,
  runner: PackRunner,
  program: string,
  root: AbsPath,
  toolsRoot: AbsPath,
  signal: AbortSignal,
): Promise<boolean> {
  const [, ...rest] = runner.probe ?? [];
  if (runner.probe === undefined) return true;
  const own = Object.entries(pack.test.env).map(
    ([name, value]) => [name, filledIn(value, { root, tools: toolsRoot, home: deps.env["HOME"] ?? "" })] as const,
  );
  const exit = await deps.process.run(
    {
      argv: [program, ...rest],
      cwd: root,
      env: { ...deps.env, ...Object.fromEntries(own) },
      timeoutMs: probeTimeoutMs,
      maxOutputBytes: 1_000_000,
    },
    signal,
  );
  if (exit.kind === "cancelled") throw abortError(signal);
  return exit.kind === "exited" && exit.code === 0;
}
