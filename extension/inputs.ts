import type * as vscode from "vscode";
import type { Command, CommandArgument } from "../shared/app/commands.ts";
import { DomainName, FeatureName } from "../shared/model/names.ts";
import type { Features } from "./features.ts";
import { createPickers } from "./pickers.ts";
import { featuresDir, targetOfFile } from "./slice-place.ts";
import type { Session } from "./session.ts";
import type { TitleOf } from "./titles.ts";
import type { Vscode } from "./vscode-api.ts";

/** What a person gave for a command: its words in the table's order, and the prompt apart. */
export interface Given {
  readonly words: readonly string[];
  readonly prompt?: string;
  /** The file that a context menu was opened on; else the active editor's. */
  readonly file?: vscode.Uri;
}

const maxRecent = 20;
const recentKey = "orch.recentPrompts";

export interface Inputs {
  /** Asks for what the command needs and `preset` does not give; undefined when dismissed. */
  gather(command: Command, session: Session, preset: Given): Promise<Given | undefined>;
  pickSession(sessions: readonly Session[]): Promise<Session | undefined>;
}

export function createInputs(vscode: Vscode, memory: vscode.Memento, features: Features, titleOf: TitleOf): Inputs {
  const { t } = vscode.l10n;
  const pickers = createPickers(vscode, features, titleOf);

  return {
    async pickSession(sessions) {
      if (sessions.length < 2) return sessions[0];
      const active = vscode.window.activeTextEditor?.document.uri;
      const own = active === undefined ? undefined : vscode.workspace.getWorkspaceFolder(active);
      const items = sessions
        .map((session) => ({ label: session.folder.name, description: session.base, session }))
        .toSorted((a, b) => Number(b.session.folder === own) - Number(a.session.folder === own));
      return (await vscode.window.showQuickPick(items, { title: t("Which folder?") }))?.session;
    },

    async gather(command, session, preset) {
      const words = [...preset.words];
      let { prompt } = preset;
      for (const [index, argument] of command.args.entries()) {
        if (argument.name === "prompt") {
          prompt ??= await askPrompt(command, words[0]);
          if (prompt === undefined) return undefined;
          continue;
        }
        if (words[index] !== undefined) continue;
        const word = await askWord(command, argument, session, preset.file);
        if (word === undefined) return undefined;
        words.push(...[word].flat().filter((one) => one !== ""));
      }
      return { ...preset, words, ...(prompt === undefined || prompt === "" ? {} : { prompt }) };
    },
  };

  /** "" means: left out, the command infers it. */
  async function askWord(
    command: Command,
    argument: CommandArgument,
    session: Session,
    file: vscode.Uri | undefined,
  ): Promise<string | readonly string[] | undefined> {
    if (command.name === "new") return askTarget(session);
    if (command.name === "init") return askProject(command, argument, session);
    if (argument.choices !== undefined) return argument.required ? pickChoice(command, argument.choices) : "";
    if (argument.completes === "feature") {
      if (!argument.required && (await isInferred(command, session, file))) return "";
      return pickFeature(command, session);
    }
    // What nothing here can offer is typed by hand.
    const pick = command.name === "apply" ? pickers["attempt"] : pickers[argument.completes ?? ""];
    if (pick !== undefined) return pick({ command, session, many: argument.many === true });
    return argument.required ? askText(command, argument) : "";
  }

  /** By the branch; for `modify` by the file that is looked at, whose text and selection go along. */
  async function isInferred(command: Command, session: Session, file: vscode.Uri | undefined): Promise<boolean> {
    const looked = file ?? vscode.window.activeTextEditor?.document.uri;
    if (command.name === "modify" && looked?.scheme === "file") {
      if (targetOfFile(looked.fsPath, await featuresDir(vscode, session.base)) !== undefined) return true;
    }
    return (await features.current(session)) !== undefined;
  }

  async function pickChoice(command: Command, choices: readonly string[]): Promise<string | undefined> {
    return vscode.window.showQuickPick([...choices], { title: titleOf(command.name) });
  }

  /** The open folder itself, or a new one in it. */
  async function askProject(
    command: Command,
    argument: CommandArgument,
    session: Session,
  ): Promise<string | undefined> {
    const here = { label: t("This folder"), description: session.folder.uri.fsPath };
    const inside = { label: t("A new folder in it"), description: argument.name };
    const picked = await vscode.window.showQuickPick([here, inside], { title: titleOf(command.name) });
    if (picked === here) return ".";
    return picked === undefined ? undefined : askText(command, argument);
  }

  async function askText(command: Command, argument: CommandArgument): Promise<string | undefined> {
    return vscode.window.showInputBox({
      title: titleOf(command.name),
      prompt: t(argument.summary),
      placeHolder: argument.name,
      validateInput: (text) => (argument.required && text.trim() === "" ? t("It is needed.") : undefined),
    });
  }

  async function askTarget(session: Session): Promise<string | undefined> {
    const known = await features.list(session);
    const domains = [...new Set(known.map(({ domain }) => domain))];
    return vscode.window.showInputBox({
      title: t("New feature"),
      prompt: domains.length === 0 ? t("domain/Feature") : t("domain/Feature; domains here: {0}", domains.join(", ")),
      placeHolder: "Billing/Invoice",
      validateInput: (text) =>
        targetFault(
          text,
          known.map(({ target }) => target),
        ),
    });
  }

  function targetFault(text: string, known: readonly string[]): string | undefined {
    const words = text.trim();
    if (words === "") return t("A target is domain/Feature, for example Billing/Invoice.");
    const at = words.indexOf("/");
    const [domain, name] = at === -1 ? [undefined, words] : [words.slice(0, at), words.slice(at + 1)];
    const fault =
      (domain === undefined ? undefined : DomainName.safeParse(domain).error?.issues[0]?.message) ??
      FeatureName.safeParse(name).error?.issues[0]?.message;
    if (fault !== undefined) return t(fault);
    return known.includes(words) ? t("{0} exists already.", words) : undefined;
  }

  async function pickFeature(command: Command, session: Session): Promise<string | undefined> {
    const known = await features.list(session);
    if (known.length === 0) {
      const create = t("New Feature");
      const words = t("This repository has no feature yet.");
      if ((await vscode.window.showInformationMessage(words, create)) === create)
        await vscode.commands.executeCommand("orch.new");
      return undefined;
    }
    const items: (vscode.QuickPickItem & { readonly target?: string })[] = [];
    for (const domain of [...new Set(known.map((one) => one.domain))]) {
      items.push({ label: domain, kind: vscode.QuickPickItemKind.Separator });
      for (const one of known.filter((other) => other.domain === domain)) {
        items.push({ label: one.name, description: one.state, target: one.target });
      }
    }
    const picked = await vscode.window.showQuickPick(items, {
      title: titleOf(command.name),
      placeHolder: t("The feature"),
      matchOnDescription: true,
    });
    return picked?.target;
  }

  /** Free text with the recent prompts below it. "" when left empty where the command allows that. */
  async function askPrompt(command: Command, target: string | undefined): Promise<string | undefined> {
    // What an amendment says cannot be nothing.
    const mayBeEmpty = command.name !== "modify";
    const recent = memory.get<readonly string[]>(recentKey, []);
    const needed = command.name !== "do" && command.name !== "init";
    // `do` implements spec.md: its prompt is an addition that nobody has to give, and `init` takes none.
    if (!needed) return "";
    const picker = vscode.window.createQuickPick();
    picker.title = target === undefined ? titleOf(command.name) : `${titleOf(command.name)}: ${target}`;
    picker.placeholder = mayBeEmpty
      ? t("What is wanted, in your words; Enter without words takes the template")
      : t("What changes, in your words");
    picker.ignoreFocusOut = true;
    const paint = (): void => {
      const typed = picker.value.trim();
      const old = recent.filter((text) => text !== typed).map((label) => ({ label, description: t("recent") }));
      const skip = { label: t("Without words"), description: t("the template's overview"), alwaysShow: true };
      const first = typed === "" ? (mayBeEmpty ? [skip] : []) : [{ label: typed, alwaysShow: true }];
      picker.items = [...first, ...old];
    };
    picker.onDidChangeValue(paint);
    paint();
    const picked = await new Promise<string | undefined>((resolve) => {
      picker.onDidAccept(() => {
        const item = picker.selectedItems[0] ?? picker.activeItems[0];
        if (!mayBeEmpty && item === undefined && picker.value.trim() === "") return;
        resolve(item?.label === t("Without words") ? "" : (item?.label ?? picker.value.trim()));
        picker.hide();
      });
      picker.onDidHide(() => resolve(undefined));
      picker.show();
    });
    picker.dispose();
    if (picked !== undefined && picked !== "")
      await memory.update(recentKey, [picked, ...recent.filter((text) => text !== picked)].slice(0, maxRecent));
    return picked;
  }
}
