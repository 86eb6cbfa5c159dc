import type { EventBody } from "../shared/model/event.ts";
import { notices } from "../shared/events/notices.ts";
import { wordsIn } from "../shared/events/words.ts";
import type { Changes } from "./changes.ts";
import type { CommandRunner } from "./command-runner.ts";
import type { FeaturesView } from "./features-view.ts";
import type { Log } from "./log.ts";
import type { ModelLane } from "./model-lane.ts";
import { tell } from "./outcome.ts";
import type { Questions } from "./questions.ts";
import type { RunNews } from "../shared/runner/run-feed.ts";
import type { Session } from "./session.ts";
import { readSettings } from "./settings.ts";
import type { TestsView } from "./tests-view.ts";
import type { Vscode } from "./vscode-api.ts";

interface NewsDeps {
  readonly vscode: Vscode;
  readonly log: Log;
  readonly questions: Questions;
  readonly changes: Changes;
  readonly lane: ModelLane;
  readonly featuresView: FeaturesView;
  readonly commands: CommandRunner;
  readonly tests: TestsView;
}

/** What happens in this window when something happened in a run. A run that was there before stays quiet. */
export class News {
  readonly #deps: NewsDeps;

  constructor(deps: NewsDeps) {
    this.#deps = deps;
  }

  take(session: Session, news: RunNews): void {
    const { changes, commands, featuresView, lane, log, questions, tests, vscode } = this.#deps;
    const { now, before, events } = news;
    for (const parsed of events) {
      if (parsed.kind === "event" && parsed.event.type === "attempt.started") changes.noteBase(now.run, parsed.event);
    }
    questions.follow(now, session.feed);
    if (!now.fresh) return;
    log.tell(news);
    tests.take(news);
    for (const parsed of events) {
      if (parsed.kind !== "event") continue;
      if (parsed.event.type === "completion.requested") lane.offer(now, parsed.event);
      if (parsed.event.type === "command.finished" || parsed.event.type === "commit.made")
        featuresView.refresh(session);
      if (!now.own) continue;
      if (parsed.event.type === "diff.shown")
        void this.#show(session, now, parsed.event).catch((error: unknown) => log.error(error));
      if (parsed.event.type === "location.opened") {
        const { path, line } = parsed.event;
        void vscode.commands.executeCommand("orch.finding.open", line === undefined ? path : `${path}:${line}`);
      }
    }
    if (now.own) this.#ownNotices(now, before);
    if (now.state.result !== undefined && before.result === undefined) commands.ended(session, now);
  }

  /** A diff that the run shows. An amended spec can be kept or discarded: it is written already, and uncommitted. */
  async #show(session: Session, now: RunNews["now"], shown: EventBody<"diff.shown">): Promise<void> {
    const { changes, vscode } = this.#deps;
    const { t } = vscode.l10n;
    await changes.show(now, shown);
    if (now.state.command !== "modify") return;
    await tell(vscode, "info", t("{0} was amended.", shown.path), [
      { label: t("Keep it"), run: async () => undefined },
      { label: t("Discard it"), run: () => changes.takeBack(session, now, shown) },
    ]);
  }

  /** What the run says to the person who started it; its end and its questions have ways of their own. */
  #ownNotices(now: RunNews["now"], before: RunNews["before"]): void {
    const { log, vscode } = this.#deps;
    const level = readSettings(vscode).notifications;
    if (level === "none") return;
    const { result: _end, ...quiet } = now.state;
    const { pending } = quiet;
    for (const notice of notices({ ...before, pending }, quiet, wordsIn(vscode.l10n.t))) {
      if (notice.severity === "info" && level === "decisions") continue;
      const words = notice.hint === undefined ? notice.text : `${notice.text} ${notice.hint}`;
      void tell(vscode, notice.severity, words, []).catch((error: unknown) => log.error(error));
    }
  }
}
