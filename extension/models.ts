import os from "node:os";
import type * as vscode from "vscode";
import type { CompletionPrompt } from "../shared/model/completion-file.ts";
import type { Starter } from "../shared/runner/client.ts";
import { type CommandDocument, shortCommand, textIn } from "../shared/runner/short-command.ts";
import { faultWords } from "./outcome.ts";
import type { Sessions } from "./sessions.ts";
import type { Vscode } from "./vscode-api.ts";

interface ModelsDeps {
  readonly vscode: Vscode;
  /** Starts the command line, with the stored keys in its environment. */
  readonly cli: () => Promise<Starter>;
  readonly sessions: Sessions;
}

/** Longer than the whole chain may take: each of its models has a timeout of its own. */
const timeoutMs = 45 * 60_000;
const tokens = { maxInputTokens: 100_000, maxOutputTokens: 10_000 };

/**
 * What Orch adds to the editor's model picker: the demo's model, whose replies are written by hand and say so, and the
 * person's own chain. The chain is asked by the command line (`orch model --ask -`), which is the one place that knows
 * it; the conversation goes in by standard input and the keys by the environment.
 */
export class Models {
  readonly #deps: ModelsDeps;

  constructor(deps: ModelsDeps) {
    this.#deps = deps;
  }

  information(): vscode.LanguageModelChatInformation[] {
    const { t } = this.#deps.vscode.l10n;
    // Agent mode hides a model that takes no tools. These answer in text and call none.
    const capabilities = { toolCalling: true };
    return [
      {
        id: "chain",
        name: t("Orch chain"),
        family: "orch-chain",
        version: "1",
        ...tokens,
        tooltip: t("Your own models, in the order of Orch: Models. The first that gives something usable answers"),
        detail: t("your models"),
        capabilities,
      },
      {
        id: "demo",
        name: t("Orch demo (scripted)"),
        family: "orch-demo",
        version: "1",
        ...tokens,
        tooltip: t("Replies written by hand for the sample project; no model, no network"),
        detail: t("scripted"),
        capabilities,
      },
    ];
  }

  async respond(
    model: vscode.LanguageModelChatInformation,
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    progress: vscode.Progress<vscode.LanguageModelResponsePart>,
    token: vscode.CancellationToken,
  ): Promise<void> {
    const { vscode } = this.#deps;
    const text = model.id === "chain" ? await this.#askChain(messages, token) : this.#demoWords();
    progress.report(new vscode.LanguageModelTextPart(text));
  }

  #demoWords(): string {
    const { t } = this.#deps.vscode.l10n;
    const words = t(
      "This is Orch's demo model. It knows its sample project only and says nothing of its own. See it work with the command Orch: Run the Demo, or ask @orch /status about this repository.",
    );
    return `${t("scripted")}: ${words}`;
  }

  async #askChain(
    messages: readonly vscode.LanguageModelChatRequestMessage[],
    token: vscode.CancellationToken,
  ): Promise<string> {
    const { cli, sessions, vscode } = this.#deps;
    const stop = new AbortController();
    const listening = token.onCancellationRequested(() => stop.abort());
    try {
      const document: CommandDocument = await shortCommand(
        {
          starter: await cli(),
          command: "model",
          args: ["--ask", "-"],
          cwd: sessions.all[0]?.folder.uri.fsPath ?? os.homedir(),
          timeoutMs,
          stdin: JSON.stringify(promptOf(vscode, messages)),
        },
        stop.signal,
      );
      if (document.error !== undefined) throw new Error(faultWords(document.error));
      return textIn({ ...(document.data as object) }, "reply");
    } finally {
      listening.dispose();
    }
  }
}

/** The words of a conversation. A chain answers text: pictures and other data are left out. */
function promptOf(vscode: Vscode, messages: readonly vscode.LanguageModelChatRequestMessage[]): CompletionPrompt {
  const { LanguageModelChatMessageRole, LanguageModelTextPart, LanguageModelToolResultPart } = vscode;
  const words = (part: unknown): string => {
    if (part instanceof LanguageModelTextPart) return part.value;
    if (part instanceof LanguageModelToolResultPart) return part.content.map(words).join("");
    return "";
  };
  const said = messages
    .map(({ role, content }) => ({
      role: role === LanguageModelChatMessageRole.Assistant ? ("assistant" as const) : ("user" as const),
      content: content.map(words).join(""),
    }))
    .filter(({ content }) => content !== "");
  return { v: 1, messages: said };
}
