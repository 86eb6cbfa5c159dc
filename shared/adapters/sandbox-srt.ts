import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import type { SandboxManager, SandboxRuntimeConfig } from "@anthropic-ai/sandbox-runtime";
import { isInside } from "../base/paths.ts";
import { quotedWord } from "../base/shell-word.ts";
import type { ProcessSpec } from "../ports/process.ts";
import type { Confinement } from "../ports/sandbox.ts";
import { markerName } from "./process-sweep.ts";

export interface SrtPlace {
  /** Folder that holds what the runtime starts itself: its seccomp filter and its agent for the JVM. */
  readonly vendor: string;
  readonly bwrap: string | undefined;
  readonly socat: string | undefined;
  /** ORCH_ATTEMPT of the proxies: they outlive a killed process, and nobody else would know them. */
  readonly marker?: string;
}

/**
 * The sandbox runtime: for a program that may speak to some hosts, which takes a proxy, and for every program on macOS.
 * Its manager is one per process and so are its proxies; which hosts a program may reach is bound to a secret of that
 * program alone. It is loaded when the first such program is started.
 */
export class SrtSession {
  readonly #place: SrtPlace;
  #manager: Promise<Manager> | undefined;
  readonly #ids = new Set<string>();

  constructor(place: SrtPlace) {
    this.#place = place;
  }

  async wrap(spec: ProcessSpec, within: Confinement, signal: AbortSignal): Promise<ProcessSpec> {
    const manager = await (this.#manager ??= start(this.#place));
    const id = randomBytes(16).toString("base64url");
    const command = commandLine(spec, within);
    const line = await manager.wrapWithSandbox(command, "/bin/bash", configOf(this.#place, within), signal, {
      commandId: id,
      commandText: spec.argv[0],
    });
    if (within.hosts.length > 0) {
      this.#ids.add(id);
      manager.registerCommandNetworkLists(id, { allowedDomains: [...within.hosts] });
    }
    // Node's own fetch looks at the proxy's variables only when it is told to.
    return { ...spec, argv: ["/bin/bash", "-c", `exec ${line}`], env: { ...spec.env, NODE_USE_ENV_PROXY: "1" } };
  }

  async close(): Promise<void> {
    const manager = await this.#manager?.catch(() => undefined);
    this.#manager = undefined;
    for (const id of this.#ids) manager?.unregisterCommandNetworkLists(id);
    this.#ids.clear();
    await manager?.reset();
  }
}

type Manager = typeof SandboxManager;

const endSignals = ["SIGINT", "SIGTERM"] as const;

async function start(place: SrtPlace): Promise<Manager> {
  const { SandboxManager: manager } = await import("@anthropic-ai/sandbox-runtime");
  const nothing: Confinement = { write: [], denyWrite: [], denyRead: [], allowRead: [], hosts: [] };
  // The runtime starts its proxies with this process's own environment, and offers no other way to name them.
  const before = process.env[markerName];
  if (place.marker !== undefined) process.env[markerName] = place.marker;
  const listeners = endSignals.map((signal) => new Set(process.listeners(signal)));
  try {
    await manager.initialize(configOf(place, nothing));
  } finally {
    // It would answer these signals by closing its proxies, and a process that answers does not end: how a runner stops
    // is the runner's to say, and whoever made this session closes it.
    endSignals.forEach((signal, index) => {
      for (const listener of process.listeners(signal))
        if (listeners[index]?.has(listener) === false) process.removeListener(signal, listener);
    });
    if (before === undefined) delete process.env[markerName];
    else process.env[markerName] = before;
  }
  return manager;
}

function configOf({ vendor, bwrap, socat }: SrtPlace, within: Confinement): SandboxRuntimeConfig {
  const literal = (paths: readonly string[]): { readonly path: string; readonly literal: true }[] =>
    paths.map((at) => ({ path: at, literal: true }));
  const filter = path.join(vendor, "seccomp", process.arch, "apply-seccomp");
  const agent = path.join(vendor, "java-proxy-agent", "srt-proxy-agent.jar");
  return {
    // A list of its own for each program is registered with its id; this one is nobody's.
    network: { allowedDomains: [], deniedDomains: [] },
    filesystem: {
      denyRead: literal(within.denyRead),
      allowRead: literal(within.allowRead),
      allowWrite: literal(within.write),
      denyWrite: literal(within.denyWrite),
    },
    ...(fs.existsSync(filter) ? { seccomp: { applyPath: filter } } : {}),
    ...(fs.existsSync(agent) ? { javaAgentJarPath: agent } : {}),
    ...(bwrap === undefined ? {} : { bwrapPath: bwrap }),
    ...(socat === undefined ? {} : { socatPath: socat }),
  };
}

/**
 * The program as a shell reads it. Its own variables stand over those of the runtime where that would lead it elsewhere:
 * a folder for temporary files that all programs share, and a proxy that is passed by for hosts of this machine.
 */
function commandLine(spec: ProcessSpec, within: Confinement): string {
  const temp = tempOf(spec, within);
  const words = [
    "env",
    ...(within.hosts.some(isLocal) ? ["-u", "NO_PROXY", "-u", "no_proxy"] : []),
    ...(temp === undefined ? [] : [`TMPDIR=${temp}`]),
    ...spec.argv,
  ];
  return `exec ${words.map(quotedWord).join(" ")}`;
}

function tempOf({ env }: ProcessSpec, { write }: Confinement): string | undefined {
  const writable = (at: string | undefined): at is string =>
    at !== undefined && write.some((folder) => isInside(at, folder));
  if (writable(env["TMPDIR"])) return env["TMPDIR"];
  const home = env["HOME"];
  if (!writable(home)) return undefined;
  const temp = path.join(home, "tmp");
  fs.mkdirSync(temp, { recursive: true, mode: 0o700 });
  return temp;
}

const isLocal = (host: string): boolean =>
  /^(?:localhost|127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|\[?::1)/.test(host);
