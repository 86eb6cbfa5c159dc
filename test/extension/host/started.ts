// Runs that a test of the host starts: taken up by the window, answered through its own questions, awaited to the end.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { FollowedRun } from "../../../shared/runner/run-feed.ts";
import { host, until } from "./window.ts";

export interface Started {
  readonly run: string;
  readonly dir: string;
}

export async function start(name: string, given: object = {}): Promise<Started> {
  const started = await vscode.commands.executeCommand<Started | undefined>(`orch.${name}`, given);
  assert.ok(started, `orch ${name} started`);
  return started;
}

export async function followed(run: string): Promise<FollowedRun> {
  const { sessions } = await host();
  const found = sessions.ofRun(run)?.feed.get(run);
  assert.ok(found, run);
  return found;
}

export async function ended({ run }: Pick<Started, "run">): Promise<FollowedRun> {
  return until(
    `the end of ${run}`,
    async () => {
      const now = await followed(run);
      return (now.state.result !== undefined || now.state.phase === "cancelled") && now;
    },
    240_000,
  );
}

/** Answers what a run asks, as its picker would. */
export async function answer({ run }: Pick<Started, "run">, choice: string): Promise<void> {
  const ask = await until("the question", async () => (await followed(run)).state.pending[0]);
  const { answerWith } = await host();
  await answerWith(run, ask.id, choice);
}

/** The newest run of the window's first folder, once `fits` says so. */
export async function newest(what: string, fits: (run: FollowedRun) => boolean): Promise<FollowedRun> {
  const { sessions } = await host();
  return until(what, () => {
    const run = sessions.all[0]?.feed.runs[0];
    return run !== undefined && fits(run) && run;
  });
}
