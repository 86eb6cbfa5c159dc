import { openAsks } from "../shared/events/open-runs.ts";
import { isResumable } from "../shared/events/standing.ts";
import { type FollowedRun, isActive } from "../shared/runner/run-feed.ts";
import type { Vscode } from "./vscode-api.ts";

const last = new Map<string, boolean>();

/** What the manifest's conditions read. Set only when it changed: each is a message to the window. */
export function setContexts(vscode: Vscode, runs: readonly FollowedRun[], open: readonly FollowedRun[]): void {
  const keys = {
    "orch.ready": true,
    "orch.runActive": runs.some(isActive),
    "orch.runResumable": open.some(({ standing }) => isResumable(standing)),
    "orch.decisionWaiting": open.some((run) => openAsks(run).length > 0),
  };
  for (const [key, value] of Object.entries(keys)) {
    if (last.get(key) === value) continue;
    last.set(key, value);
    void vscode.commands.executeCommand("setContext", key, value);
  }
}
