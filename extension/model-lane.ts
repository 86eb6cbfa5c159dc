import path from "node:path";
import type * as vscode from "vscode";
import { type Disposable, DisposableStore, toDisposable } from "../shared/base/disposable.ts";
import type { EventBody } from "../shared/model/event.ts";
import { CompletionPrompt, type CompletionOutcome, windowGone } from "../shared/model/completion-file.ts";
import { dropClaim, dropReply, keepClaim } from "../shared/runner/drop.ts";
import type { Log } from "./log.ts";
import { readSettings } from "./settings.ts";
import type { FollowedRun } from "../shared/runner/run-feed.ts";
import type { Vscode } from "./vscode-api.ts";

const keepMs = 2000;
/** A window that did not start the run leaves the first word to the one that did. */
const politeMs = 700;
const coolDownMs = 60_000;

/**
 * Serves `vscode-lm/<vendor>/<id>` to the runner: takes a request of a run, asks the editor's model, drops the whole
 * reply. One window claims a request and keeps the claim fresh; when the window closes the claim goes stale and the
 * chain falls through. Partial text is never handed over.
 */
export class ModelLane implements Disposable {
  readonly #vscode: Vscode;
  readonly #log: Log;
  readonly #store = new DisposableStore();
  readonly #blocked = new Map<string, number>();
  /**
   * `run model` that the person said no to: a run asks them once. The editor asks at every request until it is allowed,
   * and `canSendRequest` cannot tell beforehand: VS Code 1.139 answers true for every model.
   */
  readonly #refused = new Set<string>();
  #closing = false;

  constructor(vscode: Vscode, log: Log) {
    this.#vscode = vscode;
    this.#log = log;
  }

  /** Whether the person said no to a model of this vendor since the window opened, and did not ask to be asked again. */
  isRefused(vendor: string): boolean {
    return [...this.#refused].some((one) => one.includes(` vscode-lm/${vendor}/`));
  }

  offer(run: FollowedRun, request: EventBody<"completion.requested">): void {
    if (!readSettings(this.#vscode).serve || !run.alive) return;
    const begin = (): void => {
      if (!dropClaim(run.dir, request.id, "vscode")) return;
      this.#serve(run, request).catch((error: unknown) => this.#log.error(error));
    };
    if (run.own) begin();
    else {
      const timer = setTimeout(begin, politeMs);
      this.#store.add(toDisposable(() => clearTimeout(timer)));
    }
  }

  dispose(): void {
    this.#closing = true;
    this.#store.dispose();
  }

  async #serve(run: FollowedRun, request: EventBody<"completion.requested">): Promise<void> {
    const source = new this.#vscode.CancellationTokenSource();
    // The runner takes the claim away when it no longer waits.
    const keep = setInterval(() => {
      if (!keepClaim(run.dir, request.id, Date.now())) source.cancel();
    }, keepMs);
    const late = setTimeout(() => source.cancel(), Math.max(0, request.deadline - Date.now()));
    const stop = this.#store.add(toDisposable(() => source.cancel()));
    let said: { readonly choice: CompletionOutcome; readonly text: string };
    try {
      said = await this.#ask(run, request, source.token);
    } finally {
      clearInterval(keep);
      clearTimeout(late);
      stop.dispose();
      source.dispose();
    }
    dropReply(run.dir, { v: 1, id: request.id, ...said, by: "vscode-lm", host: "vscode", at: Date.now() });
  }

  async #ask(
    run: FollowedRun,
    request: EventBody<"completion.requested">,
    token: vscode.CancellationToken,
  ): Promise<{ readonly choice: CompletionOutcome; readonly text: string }> {
    const { LanguageModelChatMessage, LanguageModelError, Uri, l10n, lm, workspace } = this.#vscode;
    const [, vendor = "", ...rest] = request.model.split("/");
    // Ours answer people, not runs: the chain would ask itself.
    if (vendor === "orch") return { choice: "unknown-model", text: `${request.model} serves no run` };
    if ((this.#blocked.get(vendor) ?? 0) > Date.now())
      return { choice: "rate-limit", text: `${vendor} refused for its quota a moment ago` };
    try {
      const [model] = await lm.selectChatModels({ vendor, id: rest.join("/") });
      if (model === undefined) return { choice: "unknown-model", text: `this editor offers no ${request.model}` };
      if (this.#refused.has(`${run.run} ${request.model}`))
        return { choice: "auth", text: "not allowed by the person: they said so in this run" };
      const bytes = await workspace.fs.readFile(Uri.file(path.join(run.dir, request.prompt.path)));
      const { messages } = CompletionPrompt.parse(JSON.parse(new TextDecoder().decode(bytes)));
      const justification = l10n.t("Orch asks for run {0}, which you started.", run.run);
      const response = await model.sendRequest(
        folded(messages).map(({ role, content }) =>
          role === "user" ? LanguageModelChatMessage.User(content) : LanguageModelChatMessage.Assistant(content),
        ),
        { justification },
        token,
      );
      let text = "";
      for await (const part of response.text) text += part;
      return token.isCancellationRequested ? this.#stopped() : { choice: "ok", text };
    } catch (error) {
      if (token.isCancellationRequested) return this.#stopped();
      const why = error instanceof Error ? error.message : String(error);
      if (!(error instanceof LanguageModelError)) return { choice: "error", text: why };
      switch (error.code) {
        case LanguageModelError.NoPermissions.name:
          this.#offerAccess(`${run.run} ${request.model}`);
          return { choice: "auth", text: `not allowed by the person: ${why}` };
        case LanguageModelError.NotFound.name:
          return { choice: "unknown-model", text: why };
        case LanguageModelError.Blocked.name:
          this.#blocked.set(vendor, Date.now() + coolDownMs);
          return { choice: "rate-limit", text: why };
        default:
          return { choice: "error", text: why };
      }
    }
  }

  #stopped(): { readonly choice: CompletionOutcome; readonly text: string } {
    return this.#closing ? { choice: "gone", text: windowGone } : { choice: "cancelled", text: "cancelled" };
  }

  /** The editor asks for consent when a request needs it, and nowhere else: to ask again is to wait for the next one. */
  #offerAccess(refused: string): void {
    const { l10n, window } = this.#vscode;
    this.#refused.add(refused);
    const again = l10n.t("Ask me again");
    const words = l10n.t("Orch may not use the editor's language models. The chain goes on without them for this run.");
    void window.showWarningMessage(words, again).then((picked) => picked === again && this.#refused.delete(refused));
  }
}

/** There is no system role here: it goes in front of the first message of the person. */
function folded(
  messages: CompletionPrompt["messages"],
): readonly { readonly role: "user" | "assistant"; readonly content: string }[] {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  const out: { role: "user" | "assistant"; content: string }[] = [];
  for (const { role, content } of messages) {
    if (role === "system") continue;
    const first = role === "user" && !out.some((one) => one.role === "user") && system.length > 0;
    out.push({ role, content: first ? `${system.join("\n\n")}\n\n${content}` : content });
  }
  return out.length > 0 ? out : [{ role: "user", content: system.join("\n\n") }];
}
