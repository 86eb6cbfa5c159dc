import type * as vscode from "vscode";
import type { Disposable } from "../shared/base/disposable.ts";
import { durationText, findingText, plain, verdictText } from "../shared/events/words.ts";
import type { EventBody, EventType } from "../shared/model/event.ts";
import type { FollowedRun, RunNews } from "../shared/runner/run-feed.ts";
import type { Vscode } from "./vscode-api.ts";

export interface Log extends Disposable {
  readonly channel: vscode.LogOutputChannel;
  tell(news: RunNews): void;
  error(error: unknown): void;
}

type Level = "info" | "warn" | "error";
type Line = readonly [level: Level, text: string];
type Teller<T extends EventType> = (body: EventBody<T>, run: FollowedRun) => readonly Line[];

/** What is told, and how loud; every other event is a line at trace level. */
const tellers: { readonly [T in EventType]?: Teller<T> } = {
  "run.started": ({ command, host, pid }) => [["info", `orch ${command} started from ${host}, process ${pid}`]],
  "run.resumed": ({ host, pid }) => [["info", `resumed from ${host}, process ${pid}`]],
  "run.parked": ({ why, hint }) => [["warn", `parked: ${why}. ${hint}`]],
  "attempt.started": ({ attempt, contract, worker }) => [
    ["info", `attempt ${attempt} of ${contract} starts with ${worker}`],
  ],
  "model.fell-through": ({ model, why }) => [["warn", `${model} gave nothing usable: ${why}`]],
  "gate.finished": ({ gate, status, why, findings }) => [
    ...(status === "ran" ? [] : [["warn", `gate ${gate} ${status}: ${why ?? ""}`] as const]),
    ...findings.map((finding) => ["warn", findingText(finding)] as const),
  ],
  "verdict.reached": ({ attempt, verdict, fails, warns }) => [
    ["info", `attempt ${attempt}: ${verdictText({ kind: verdict, fails, warns })}`],
  ],
  "notice.shown": ({ severity, text }) => [[severity === "warning" ? "warn" : severity, text]],
  "command.finished": ({ ok, code, summary, error }, { state }) => {
    const took = durationText((state.lastAt ?? 0) - (state.startedAt ?? 0));
    const hint = error === undefined ? "" : `. ${error.hint}`;
    return [[ok ? "info" : "error", `ended with ${code} after ${took}: ${summary}${hint}`]];
  },
};

/** The output channel "Orch": what runs did, with levels. Run folders are redacted when written, so nothing secret comes by. */
export function createLog(vscode: Vscode): Log {
  const channel = vscode.window.createOutputChannel("Orch", { log: true });
  return {
    channel,
    tell({ now, events }) {
      for (const parsed of events) {
        if (parsed.kind === "bad") channel.error(`${now.run}: a line of its log cannot be read: ${parsed.why}`);
        else if (parsed.kind === "unknown") channel.warn(`${now.run}: ${parsed.event.type} (of a newer Orch)`);
        else {
          const teller: Teller<EventType> | undefined = tellers[parsed.event.type];
          if (teller === undefined) channel.trace(`${now.run}: ${parsed.event.type}`);
          for (const [level, text] of teller?.(parsed.event, now) ?? []) channel[level](`${now.run}: ${plain(text)}`);
        }
      }
    },
    error(error) {
      channel.error(error instanceof Error ? error : String(error));
    },
    dispose: () => channel.dispose(),
  };
}
