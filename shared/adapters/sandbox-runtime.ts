import fs from "node:fs";
import { abortError, throwIfAborted } from "../base/abort.ts";
import { clip, stripControls } from "../base/lines.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Process, ProcessSpec } from "../ports/process.ts";
import type { Confinement, Sandbox, SandboxState } from "../ports/sandbox.ts";
import { bwrapArgv } from "./sandbox-bwrap.ts";
import { type KindAt, mountsOf } from "./sandbox-mounts.ts";
import { SrtSession } from "./sandbox-srt.ts";

export interface SandboxDeps {
  readonly process: Pick<Process, "run" | "which">;
  readonly platform: NodeJS.Platform;
  readonly env: Readonly<Record<string, string>>;
  /** ORCH_ATTEMPT of what it starts beside the programs themselves. */
  readonly marker?: string;
  /** Where a probe tries to write, and must not be able to. */
  readonly stateDir: AbsPath;
  readonly installRoot: AbsPath;
}

const probeTimeoutMs = 30_000;

/**
 * Linux: bubblewrap, called by us where a program needs no network, through the sandbox runtime where it may reach some
 * hosts (docs/decisions/0015). macOS: the sandbox runtime. One probe for the life of this object, which tries what must
 * not be possible.
 */
export function createSandbox(deps: SandboxDeps): Sandbox {
  const tools = once(() => findTools(deps));
  const srt = once(
    async () =>
      new SrtSession({
        ...(await tools()),
        vendor: vendorOf(deps.installRoot),
        ...(deps.marker === undefined ? {} : { marker: deps.marker }),
      }),
  );
  let known: Promise<SandboxState> | undefined;

  const confine = async (spec: ProcessSpec, within: Confinement, signal: AbortSignal): Promise<ProcessSpec> => {
    const { bwrap } = await tools();
    const program = await programOf(deps, spec);
    if (program === undefined) return spec; // not started inside either: the caller is told which one is missing
    const inside: ProcessSpec = { ...spec, argv: [program, ...spec.argv.slice(1)] };
    if (deps.platform !== "linux" || within.hosts.length > 0) return (await srt()).wrap(inside, within, signal);
    if (bwrap === undefined) return spec;
    const mounts = mountsOf(within, kindAt, realPath);
    return { ...inside, argv: bwrapArgv({ bwrap, cwd: realPath(spec.cwd) ?? spec.cwd, mounts, argv: inside.argv }) };
  };

  const probe = async (signal: AbortSignal): Promise<SandboxState> => {
    const missing = await lacking(deps, await tools());
    if (missing !== undefined) return missing;
    const spec = probeSpec(deps);
    const within: Confinement = { write: [], denyWrite: [], denyRead: [], allowRead: [deps.stateDir], hosts: [] };
    const exit = await deps.process.run(await confine(spec, within, signal), signal);
    if (exit.kind === "cancelled") throw abortError(signal);
    if (exit.kind === "exited" && exit.code === 0) return { kind: "on", what: onText(deps.platform) };
    const said = stripControls(new TextDecoder().decode(exit.stderr)).trim().split("\n")[0] ?? "";
    const how = exit.kind === "exited" ? `exit code ${exit.code}` : exit.kind;
    return {
      kind: "off",
      why: `a trial did not hold (${how})${said === "" ? "" : `: ${clip(said, 200)}`}`,
      hint: hintOf(said),
    };
  };

  return {
    async state(signal) {
      throwIfAborted(signal);
      known ??= probe(signal);
      const asked = known;
      asked.catch(() => (known = undefined)); // an abort is no answer for the next caller
      return asked;
    },
    async wrap(spec, within, signal) {
      const state = await this.state(signal);
      if (state.kind === "off")
        throw new OrchError("env.no-sandbox", `There is no sandbox on this machine: ${state.why}`);
      return confine(spec, within, signal);
    },
    async [Symbol.asyncDispose]() {
      await srt.made?.then((session) => session.close());
    },
  };
}

interface Tools {
  readonly bwrap: string | undefined;
  readonly socat: string | undefined;
  readonly rg: string | undefined;
}

async function findTools({ process, env }: SandboxDeps): Promise<Tools> {
  const path = env["PATH"] ?? "";
  const [bwrap, socat, rg] = await Promise.all(["bwrap", "socat", "rg"].map((name) => process.which(name, path)));
  return { bwrap, socat, rg };
}

async function lacking({ platform, process }: SandboxDeps, tools: Tools): Promise<SandboxState | undefined> {
  if (platform === "darwin") {
    if ((await process.which("sandbox-exec", "/usr/bin")) !== undefined) return undefined;
    return { kind: "off", why: "sandbox-exec is not in /usr/bin", hint: "Use the macOS that Apple ships" };
  }
  if (platform !== "linux")
    return { kind: "off", why: `this version has none for ${platform}`, hint: "Run Orch in WSL 2 to have one" };
  const packages = { bwrap: "bubblewrap", socat: "socat", rg: "ripgrep" };
  const absent = (["bwrap", "socat", "rg"] as const).filter((name) => tools[name] === undefined);
  if (absent.length === 0) return undefined;
  return {
    kind: "off",
    why: `${absent.join(", ")} not found on the PATH`,
    hint: `Install it: sudo apt-get install ${absent.map((name) => packages[name]).join(" ")}`,
  };
}

/**
 * Exits 0 only where it could neither write beside Orch's own state nor see a network. Only what a shell has built in is
 * used.
 */
function probeSpec({ stateDir, env }: SandboxDeps): ProcessSpec {
  fs.mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  const file = inRoot(stateDir, `sandbox-probe-${process.pid}`);
  const script = `
    if (: > "$1") 2>/dev/null; then rm -f "$1"; exit 20; fi
    routes=0
    if [ -r /proc/net/route ]; then while read -r line; do routes=$((routes + 1)); done < /proc/net/route; fi
    [ "$routes" -le 1 ] || exit 21`;
  return {
    argv: ["/bin/sh", "-c", script, "sh", file],
    cwd: stateDir,
    env: { PATH: env["PATH"] ?? "" },
    timeoutMs: probeTimeoutMs,
    maxOutputBytes: 100_000,
  };
}

function onText(platform: NodeJS.Platform): string {
  return platform === "linux"
    ? "bubblewrap: files, network and processes of workers and checks are confined"
    : "sandbox-exec: files and network of workers and checks are confined";
}

function hintOf(said: string): string {
  if (/RTM_NEWADDR|uid map|namespace|Operation not permitted|Permission denied/i.test(said)) {
    return "Allow user namespaces: on Ubuntu load an AppArmor profile for bwrap, in a container start it with --security-opt seccomp=unconfined";
  }
  return "See what is wrong with: bwrap --ro-bind / / --unshare-all true";
}

/** A name becomes a path here, since inside a missing program would look like one that failed. */
async function programOf({ process }: SandboxDeps, { argv, cwd, env }: ProcessSpec): Promise<string | undefined> {
  const [name] = argv;
  if (!/[\\/]/.test(name)) return process.which(name, env["PATH"] ?? "");
  const at = name.startsWith("/") ? name : inRoot(cwd, name);
  try {
    fs.accessSync(at, fs.constants.X_OK);
    return at;
  } catch {
    return undefined;
  }
}

/** A bundle has the runtime's files beside it; a checkout has them where npm put them. */
function vendorOf(installRoot: AbsPath): string {
  const beside = inRoot(installRoot, "dist/sandbox");
  return fs.existsSync(beside) ? beside : inRoot(installRoot, "node_modules/@anthropic-ai/sandbox-runtime/vendor");
}

const kindAt: KindAt = (path) => {
  const found = fs.statSync(path, { throwIfNoEntry: false });
  return found === undefined ? undefined : found.isDirectory() ? "folder" : "file";
};

function realPath(path: string): string | undefined {
  try {
    return fs.realpathSync(path);
  } catch {
    return undefined;
  }
}

interface Once<T> {
  (): Promise<T>;
  readonly made: Promise<T> | undefined;
}

function once<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined;
  const get = (): Promise<T> => (made ??= make());
  return Object.defineProperty(get, "made", { get: () => made }) as Once<T>;
}
