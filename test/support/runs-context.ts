import fs from "node:fs";
import { type CommandArgs, plainArgs } from "../../shared/app/context.ts";
import { lookAt, type RunsContext } from "../../shared/app/run-look.ts";
import { absPath } from "../../shared/base/paths.ts";
import { timeline } from "../../shared/events/timeline.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import { isOrchError } from "../../shared/model/error.ts";
import { createRunHost, type StartedRun } from "../../shared/runner/client.ts";
import type { RunFixture } from "./run-fixture.ts";
import { fixture } from "./source-root.ts";

// What the tests of runs share: the handlers' context over real run folders, and short forms of what they return.
export const never: AbortSignal = new AbortController().signal;
export const untidy = fixture("programs", "untidy.mjs");

export function context(f: RunFixture, env: Readonly<Record<string, string>> = {}): RunsContext {
  const { files, process, clock, ids, locks, store } = f.parts;
  const editor = { host: "cli", interactive: false } as unknown as RunsContext["editor"];
  const machine = { env: { USER: "kim" } } as unknown as RunsContext["machine"];
  return { files, process, clock, ids, locks, editor, machine, runs: store, host: createRunHost(f.starter(env)) };
}

export const args = (more: Partial<CommandArgs>): CommandArgs => ({ ...plainArgs, ...more });

export async function refusal(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    if (isOrchError(error)) return `${error.code}: ${error.message}`;
    throw error;
  }
  return "no refusal";
}

export const standing = async (f: RunFixture, { run, dir }: StartedRun): Promise<string> =>
  (await lookAt(f.parts.store, { run, dir: absPath(dir) })).standing;

export function briefly({ code, summary }: CommandResult): Pick<CommandResult, "code" | "summary"> {
  return { code, summary };
}

export const told = (f: RunFixture, started: StartedRun): string[] =>
  timeline(f.events(started)).map((line) => line.slice(10));
export const pidsIn = (file: string): number[] => JSON.parse(fs.readFileSync(file, "utf8")) as number[];
