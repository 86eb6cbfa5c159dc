import { execFile } from "node:child_process";
import fs from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { openWorkers, type WorkerTable, type WorkersContext } from "../../shared/app/workers.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { WorkerReport } from "../../shared/model/attempt.ts";
import { Config } from "../../shared/model/config.ts";
import { Contract, type ContractInput } from "../../shared/model/contract.ts";
import type { WorkerConfig } from "../../shared/model/worker-config.ts";
import type { Clock } from "../../shared/ports/clock.ts";
import type { Process, ProcessSweep } from "../../shared/ports/process.ts";
import type { Worker } from "../../shared/ports/worker.ts";
import type { Workspace } from "../../shared/ports/workspace.ts";
import { clientProgram, clientTools, type ClientName } from "./client-tools.ts";
import { RecordingSink } from "./recording-sink.ts";
import type { Script } from "./scripted-model-server/script.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "./scripted-model-server/server.ts";
import { sourceRoot } from "./source-root.ts";
import { makeTempRepo, type TempRepo } from "./temp-repo.ts";

/**
 * One real client, found through the table of workers as a run finds it, in a real linked worktree, against a scripted
 * server. The person it runs for has a secret in the environment, which no worker may see.
 */
export interface WorkerPlace extends AsyncDisposable {
  readonly worker: Worker;
  readonly table: WorkerTable;
  readonly server: ScriptedModelServer;
  readonly sink: RecordingSink;
  readonly repo: TempRepo;
  readonly process: Process & ProcessSweep;
  /** The worktree. */
  readonly dir: AbsPath;
  readonly stateDir: AbsPath;
  run(about?: RunAbout, signal?: AbortSignal): Promise<WorkerReport>;
  /** What git says has changed in the worktree. */
  changes(): Promise<string>;
  greeting(): Promise<string>;
}

export interface RunAbout {
  readonly contract?: Partial<ContractInput>;
  readonly attempt?: number;
  readonly session?: string;
  readonly prompt?: string;
}

export const secretOfThePerson = "not-for-any-worker-0123456789";
export const keyOfTheLab = "key-of-the-lab-0123456789";

export async function workerPlace(
  client: ClientName,
  script: (dir: AbsPath) => Script,
  over: Partial<WorkerConfig> = {},
  more: Partial<WorkersContext> = {},
): Promise<WorkerPlace> {
  const program = clientProgram(client);
  if (program === undefined) throw new Error(`${client} is not installed`);
  const repo = await makeTempRepo({
    files: { "greet.js": 'export function greet(name) {\n  return "hi " + name;\n}\n' },
  });
  const dir = absPath(path.join(repo.base, "tree"));
  await repo.git("worktree", "add", "--detach", dir);
  const server = await startScriptedModelServer(script(dir));
  const sink = new RecordingSink();
  const clock = clockFrom(server.received(1));
  const process_ = createProcess();
  const stateDir = absPath(path.join(repo.base, "state"));
  const config = Config.parse({
    models: {
      providers: {
        lab: {
          baseUrl: server.baseUrl,
          keyEnv: "LAB_KEY",
          prices: { [clientTools[client].model]: { input: 1, output: 2, cacheRead: 0.1 } },
        },
      },
    },
    workers: {
      [client]: {
        model: `lab/${clientTools[client].model}`,
        command: program,
        minutes: 2,
        silence_s: 60,
        max_calls: 20,
        ...over,
      },
    },
  });
  const table = await openWorkers({
    machine: {
      installRoot: absPath(sourceRoot),
      version: "0.0.0",
      configDir: absPath(path.join(repo.base, "config")),
      stateDir,
      cacheDir: absPath(path.join(repo.base, "cache")),
      env: {
        PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"] ?? ""}`,
        HOME: repo.home,
        LANG: "C.UTF-8",
        LAB_KEY: keyOfTheLab,
        MY_DATABASE_PASSWORD: secretOfThePerson,
        OPENAI_API_KEY: secretOfThePerson,
      },
      platform: "posix",
    },
    files: createFiles(),
    process: process_,
    clock,
    ids: createIds(clock),
    sink,
    config,
    run: "r-test",
    nodePath: process.execPath,
    ...more,
  });
  const contractOf = (about: Partial<ContractInput> = {}): Contract =>
    Contract.parse({ id: "GREET", title: "Greet", goal: "Say hello", allowed: ["**"], worker: client, ...about });
  const [worker] = table.ladderOf(contractOf()).ladder;
  if (worker === undefined) throw new Error(JSON.stringify(table.ladderOf(contractOf()).skipped));
  const run = promisify(execFile);
  return {
    worker,
    table,
    server,
    sink,
    repo,
    process: process_,
    dir,
    stateDir,
    run: (
      { contract, attempt = 1, session, prompt = "Make greet say hello." } = {},
      signal = new AbortController().signal,
    ) =>
      worker.run(
        {
          contract: contractOf(contract),
          attempt,
          messages: [
            { role: "system", content: "You carry out one contract." },
            { role: "user", content: prompt },
          ],
          workspace: { root: dir } as unknown as Workspace,
          replyDir: "",
          ...(session === undefined ? {} : { session }),
        },
        signal,
      ),
    changes: async () =>
      (
        await run("git", ["status", "--porcelain", "--untracked-files=all"], { cwd: dir, env: { ...repo.env } })
      ).stdout.trimEnd(),
    greeting: () => fs.readFile(path.join(dir, "greet.js"), "utf8"),
    async [Symbol.asyncDispose]() {
      await server.close();
      await table[Symbol.asyncDispose]();
      await repo.cleanup();
    },
  };
}

/**
 * Stands still until the client has asked its model: how long a program takes to start on a busy machine is no silence
 * that a test is about.
 */
function clockFrom(asked: Promise<void>): Clock {
  const clock = createClock();
  const began = clock.tick();
  let waited: number | undefined;
  void asked.then(() => {
    waited = clock.tick() - began;
  });
  return { ...clock, tick: () => (waited === undefined ? began : clock.tick() - waited) };
}

/** What an agent says at its end. */
export function finalJson(over: Readonly<Record<string, unknown>> = {}): string {
  return `All done.\n${JSON.stringify({
    status: "done",
    summary: "greet says hello",
    files_changed: ["greet.js"],
    acceptance: { A1: "by hand" },
    concerns: [],
    ...over,
  })}`;
}
