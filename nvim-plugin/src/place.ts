import os from "node:os";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import type { Starter } from "../../shared/runner/client.ts";

/** Where the bundles are and how they are started: on the Node that runs this process. */
export interface Place {
  readonly runner: Starter;
  readonly cli: Starter;
  /** The user's state folder of Orch, as adapters/machine.ts finds it. */
  readonly stateDir: string;
}

/** `moduleUrl` is this bundle, `dist/nvim/main.cjs`; its siblings are `dist/runner` and `dist/cli`. */
export function placeOf(moduleUrl: string): Place {
  const dist = path.dirname(path.dirname(fileURLToPath(moduleUrl)));
  const starter = (entry: string): Starter => ({
    entry: path.join(dist, entry),
    execPath: process.execPath,
    env: environment(),
  });
  return { runner: starter("runner/main.mjs"), cli: starter("cli/main.mjs"), stateDir: stateDir() };
}

/** The person's environment without what Neovim put there for its own children. Keys of model providers stay. */
function environment(): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (
      value !== undefined &&
      !/^(NVIM|VIM|VIMRUNTIME|MYVIMRC|NVIM_LOG_FILE|NODE_COMPILE_CACHE|NODE_OPTIONS)$/.test(name)
    )
      out[name] = value;
  }
  return out;
}

function stateDir(): string {
  const { env } = process;
  const home = env["HOME"] ?? os.homedir();
  if (process.platform === "win32") {
    const local = env["LOCALAPPDATA"];
    const base = local !== undefined && path.isAbsolute(local) ? local : path.join(home, "AppData/Local");
    return path.join(base, "orch", "state");
  }
  const state = env["XDG_STATE_HOME"];
  return path.join(state !== undefined && path.isAbsolute(state) ? state : path.join(home, ".local/state"), "orch");
}
