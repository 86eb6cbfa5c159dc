// A headless Neovim with the plugin and nothing of the person's, driven over RPC.
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { attach, type NeovimClient } from "neovim";
import { sourceRoot } from "../../support/source-root.ts";
import type { NeovimBuild } from "./neovims.ts";

// The first decoded handle makes the client build a logger that takes `console` over, and mocha's reporter goes silent:
// let it happen now and undo it.
const saved = { ...console };
(createRequire(import.meta.url)("neovim/lib/utils/logger.js") as { getLogger(): unknown }).getLogger();
Object.assign(console, saved);

type ClientLogger = NonNullable<NonNullable<Parameters<typeof attach>[0]["options"]>["logger"]>;
const silent = (): void => {};
export const quietLogger = {
  level: "warn",
  debug: silent,
  info: silent,
  warn: silent,
  error: silent,
} as unknown as ClientLogger;

export const pluginFolder = path.join(sourceRoot, "nvim-plugin");
export const initFile = path.join(sourceRoot, "test/nvim/harness/init.lua");
/** An upper bound, for a machine that is busy with other things. */
const answerMs = 60_000;

export interface NvimOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** Lua run before the plugin is loaded, e.g. to set `vim.g.orch`. */
  readonly before?: string;
}

/** Where this Neovim keeps what is its own; the repository's environment is handed through. */
export function environmentOf(home: string, env: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...env,
    XDG_DATA_HOME: path.join(home, "data"),
    XDG_RUNTIME_DIR: home,
    NVIM_LOG_FILE: path.join(home, "nvim.log"),
    ORCH_NODE: process.execPath,
    TERM: "xterm-256color",
    LANG: "C.UTF-8",
  };
}

export class Nvim {
  readonly proc: ChildProcess;
  readonly client: NeovimClient;
  readonly exited: Promise<void>;
  readonly #home = fs.mkdtempSync(path.join(os.tmpdir(), "orch-nvim-"));
  #gone = false;

  constructor(build: NeovimBuild, { cwd, env, args = [], before = "" }: NvimOptions) {
    // An empty `lua` would be an error, and each costs a second of showing it.
    const setUp = before === "" ? [] : ["--cmd", `lua ${before}`];
    this.proc = spawn(build.program, ["--embed", "--headless", "-n", "-i", "NONE", ...setUp, "-u", initFile, ...args], {
      cwd,
      stdio: ["pipe", "pipe", "ignore"],
      env: { ...environmentOf(this.#home, env), ORCH_PLUGIN: pluginFolder },
    });
    this.client = attach({ proc: this.proc, options: { logger: quietLogger } });
    this.exited = new Promise((resolve) => {
      this.proc.once("exit", () => {
        this.#gone = true;
        resolve();
      });
    });
  }

  /** The client neither settles what is pending when Neovim dies, nor times out; this does both. */
  async call<T>(method: string, args: readonly unknown[]): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`${method} took over ${answerMs} ms: ${String(args[0])}`)), answerMs);
    });
    const died = this.exited.then(() => {
      throw new Error(`Neovim ended during ${method}`);
    });
    try {
      return (await Promise.race([this.client.request(method, [...args]), died, late])) as T;
    } catch (error) {
      // The client rejects with plain arrays and strings.
      throw error instanceof Error ? error : new Error(`${method}: ${JSON.stringify(error)}`);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Arguments arrive as `...`; leave out rather than pass undefined, which would be vim.NIL. */
  lua<T = unknown>(code: string, ...args: readonly unknown[]): Promise<T> {
    return this.call("nvim_exec_lua", [code, args]);
  }

  ex(command: string): Promise<void> {
    return this.call("nvim_command", [command]);
  }

  /** As a person types; not waited for. */
  keys(keys: string): Promise<void> {
    return this.call("nvim_input", [keys]);
  }

  lines(buffer = 0): Promise<readonly string[]> {
    return this.call("nvim_buf_get_lines", [buffer, 0, -1, false]);
  }

  async text(): Promise<string> {
    return (await this.lines()).join("\n");
  }

  /** Polls until the Lua expression is neither nil nor false. */
  async until<T = unknown>(expression: string, deadlineMs = answerMs): Promise<T> {
    const until = performance.now() + deadlineMs;
    for (;;) {
      const found = await this.lua<T | null | false>(`return (function() return ${expression} end)() or false`);
      if (found !== false && found !== null) return found;
      if (performance.now() > until)
        throw new Error(`not within ${deadlineMs} ms: ${expression}\n${(await this.said()).join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  /** What was notified, each whole: the messages themselves are cut to one screen line. */
  async said(): Promise<readonly string[]> {
    return this.lua(`return require('orch.rpc').lines`);
  }

  /** Resolves with the first line of the plugin's log that fits. */
  async saying(pattern: RegExp, deadlineMs = answerMs): Promise<string> {
    const until = performance.now() + deadlineMs;
    for (;;) {
      const said = await this.said();
      const found = said.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (performance.now() > until) throw new Error(`nobody said ${pattern}:\n${said.join("\n")}`);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  complete(line: string): Promise<readonly string[]> {
    return this.lua(`return vim.fn.getcompletion(..., 'cmdline')`, line);
  }

  async hostPid(): Promise<number> {
    return this.until<number>(`require('orch.rpc').info().pid`);
  }

  async close(): Promise<void> {
    if (!this.#gone) {
      this.client.request("nvim_command", ["qa!"]).catch(() => {}); // it ends before it answers
      const timer = setTimeout(() => this.proc.kill("SIGKILL"), 5000);
      await this.exited;
      clearTimeout(timer);
    }
    fs.rmSync(this.#home, { recursive: true, force: true });
  }
}

export function isAlive(pid: number): boolean {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2)[0] !== "Z";
  } catch {
    return false;
  }
}

/** Polls a probe of this process. */
export async function until<T>(what: string, probe: () => T | undefined | false, deadlineMs = 60_000): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const found = probe();
    if (found !== undefined && found !== false) return found;
    if (performance.now() > end) throw new Error(`not within ${deadlineMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}
