import path from "node:path";
import { repoPath } from "../../shared/base/paths.ts";
import { plain } from "../../shared/events/words.ts";
import type { EventBody, EventType, RunEvent } from "../../shared/model/event.ts";
import type { FollowedRun } from "../../shared/runner/run-feed.ts";

export interface Listener {
  readonly now: FollowedRun;
  readonly base: string;
  readonly say: (event: string, payload: object) => void;
}

type Teller<T extends EventType> = (listener: Listener, event: EventBody<T>) => void;

/** What happens in Neovim when it happened in a run. The other types are for the views alone. */
const tellers: { readonly [T in EventType]?: Teller<T> } = {
  "run.started": (listener) => fire(listener, "OrchRunStarted", {}),
  "gate.finished"(listener, { contract = "", attempt = 0, gate, status, findings }) {
    const fails = findings.filter(({ severity }) => severity === "FAIL").length;
    if (fails > 0 || status === "broken") fire(listener, "OrchGateFailed", { contract, attempt, gate, status, fails });
  },
  "verdict.reached": (listener, { contract, attempt, verdict, fails, warns }) =>
    fire(listener, "OrchAttemptReady", { contract, attempt, verdict, fails, warns }),
  "location.opened"({ now, base, say }, { path: at, line = 0 }) {
    if (now.own && repoPath(at) !== undefined) say("open", { file: path.join(base, at), line });
  },
  "change.collected": changed,
  "contract.finished": changed,
  "commit.made": changed,
  "command.finished"(listener, { ok, code, summary }) {
    changed(listener);
    fire(listener, "OrchRunFinished", { ok, code, summary: plain(summary) });
  },
};

export function tellEvent(listener: Listener, event: RunEvent): void {
  const tell: Teller<EventType> | undefined = tellers[event.type];
  tell?.(listener, event);
}

function changed({ base, say }: Listener): void {
  say("changed", { root: base });
}

function fire({ now, base, say }: Listener, pattern: string, more: object): void {
  const data = { run: now.run, command: now.state.command, own: now.own, root: base, ...more };
  say("user", { pattern, data });
}
