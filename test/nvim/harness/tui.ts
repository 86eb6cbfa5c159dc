// A real Neovim in a real terminal: tmux's, on a tmux server of its own.
import { execFileSync, spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { attach, type NeovimClient } from "neovim";
import { sourceRoot } from "../../support/source-root.ts";
import type { NeovimBuild } from "./neovims.ts";
import { environmentOf, initFile, pluginFolder, quietLogger } from "./nvim.ts";

export const hasTmux = (): boolean => spawnSync("tmux", ["-V"]).status === 0;

export interface TuiOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly columns?: number;
  readonly rows?: number;
}

const pictures = path.join(sourceRoot, "artifacts/nvim");

export class Tui {
  readonly #home = fs.mkdtempSync(path.join(os.tmpdir(), "orch-tui-"));
  readonly #socket = path.join(this.#home, "tmux.sock");
  readonly #env: Readonly<Record<string, string>>;
  readonly #server = path.join(this.#home, "nvim.sock");
  #client: NeovimClient | undefined;
  /** Screens that held a hit-enter or more prompt: every look is a check. */
  readonly prompts: string[] = [];

  constructor(build: NeovimBuild, { cwd, env, args = [], columns = 110, rows = 30 }: TuiOptions) {
    this.#env = { PATH: env["PATH"] ?? "", HOME: this.#home, LANG: "C.UTF-8" };
    const inside = {
      ...environmentOf(this.#home, env),
      ORCH_PLUGIN: pluginFolder,
      ORCH_TEST_ANSWER: "person",
      TERM: "tmux-256color",
      COLORTERM: "truecolor",
    };
    this.#tmux(
      ...["-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", String(columns), "-y", String(rows), "-c", cwd],
      ...Object.entries(inside).flatMap(([name, value]) => ["-e", `${name}=${value}`]),
      ...[build.program, "--listen", this.#server, "-n", "-i", "NONE", "-u", initFile, ...args],
      ...[";", "set", "-g", "status", "off", ";", "set", "-s", "escape-time", "0"],
    );
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync("tmux", ["-S", this.#socket, ...args], { encoding: "utf8", env: this.#env });
  }

  /** Literally, as keys. */
  type(text: string): void {
    this.#tmux("send-keys", "-t", "t", "-l", "--", text);
  }

  /** By tmux's names: Enter, Escape, C-w. */
  press(...keys: readonly string[]): void {
    this.#tmux("send-keys", "-t", "t", ...keys);
  }

  ex(command: string): void {
    this.type(`:${command}`);
    this.press("Enter");
  }

  screen(): string {
    const screen = this.#tmux("capture-pane", "-t", "t", "-p");
    if (/Press ENTER|-- More --/.test(screen)) this.prompts.push(screen);
    return screen;
  }

  async see(pattern: RegExp, deadlineMs = 60_000): Promise<string> {
    const until = performance.now() + deadlineMs;
    for (;;) {
      const screen = this.screen();
      if (pattern.test(screen)) return screen;
      if (performance.now() > until) throw new Error(`${pattern} was not seen:\n${screen}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The screen as text, kept for people: artifacts/nvim/<name>.txt, and with its colours as .ansi. */
  shot(name: string): void {
    fs.mkdirSync(pictures, { recursive: true });
    fs.writeFileSync(path.join(pictures, `${name}.txt`), this.screen());
    fs.writeFileSync(path.join(pictures, `${name}.ansi`), this.#tmux("capture-pane", "-t", "t", "-e", "-p", "-N"));
  }

  /** The same editor by RPC. A prompt on the screen blocks it. */
  async lua<T = unknown>(code: string, ...args: readonly unknown[]): Promise<T> {
    this.#client ??= attach({ socket: this.#server, options: { logger: quietLogger } });
    return (await this.#client.request("nvim_exec_lua", [code, [...args]])) as T;
  }

  async close(): Promise<void> {
    await this.#client?.close();
    spawnSync("tmux", ["-S", this.#socket, "kill-server"], { env: this.#env });
    fs.rmSync(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
}
