import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { createRunParts, type RunParts } from "../../shared/app/run-parts.ts";
import { absPath } from "../../shared/base/paths.ts";
import { foldRun } from "../../shared/events/reduce.ts";
import type { RunState } from "../../shared/events/run-state.ts";
import { type ParsedEvent, parseEvent } from "../../shared/model/event.ts";
import { runsDir } from "../../shared/model/run-place.ts";
import { type Starter, type StartedRun, startRun } from "../../shared/runner/client.ts";
import { eventually } from "./eventually.ts";
import type { Step } from "./runner-entry.ts";
import { TempDir } from "./temp-dir.ts";

const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
const testEntry = fileURLToPath(new URL(`./runner-entry.${extension}`, import.meta.url));

/** A folder with runs whose runners are real processes; whatever still lives is ended with it. */
export class RunFixture implements AsyncDisposable {
  readonly dir = new TempDir();
  readonly parts: RunParts = createRunParts({}, [runsDir(this.dir.path)]);
  readonly #pids: number[] = [];

  starter(env: Readonly<Record<string, string>> = {}): Starter {
    return {
      entry: testEntry,
      execPath: process.execPath,
      env: { PATH: process.env["PATH"] ?? "", TEST_STATE: this.dir.at("state"), ...env },
    };
  }

  async start(steps: readonly Step[], env: Readonly<Record<string, string>> = {}): Promise<StartedRun> {
    const started = await startRun(
      { v: 1, command: "do", args: { words: ["Billing/Invoice"], steps }, cwd: this.dir.path, host: "cli", at: 1 },
      { ...this.starter(env), runsDirs: [runsDir(this.dir.path)], ids: this.parts.ids },
    );
    this.#pids.push(started.pid);
    return started;
  }

  note(pid: number): void {
    this.#pids.push(pid);
  }

  events(started: { readonly dir: string }): ParsedEvent[] {
    const file = path.join(started.dir, "events.jsonl");
    if (!fs.existsSync(file)) return [];
    return fs
      .readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map(parseEvent);
  }

  state(started: { readonly run: string; readonly dir: string }): RunState {
    return foldRun(started.run, this.events(started));
  }

  async until(started: StartedRun, what: string, look: (state: RunState) => boolean): Promise<RunState> {
    return eventually(what, () => {
      const state = this.state(started);
      return look(state) ? state : undefined;
    });
  }

  async gone(pid: number): Promise<void> {
    await eventually(`process ${pid} is gone`, () => this.parts.process.startTimeOf(pid) === undefined);
  }

  async free(started: { readonly dir: string }): Promise<void> {
    await eventually("its lock is free", () => !this.parts.store.isAlive(absPath(started.dir)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pid of this.#pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // ended already
      }
      await this.gone(pid);
    }
    this.dir[Symbol.dispose]();
  }
}
