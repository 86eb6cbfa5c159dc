import type * as vscode from "vscode";
import { type Command, commands, isCommandName } from "../shared/app/commands.ts";
import { type Given, readGiven, splitWords } from "../shared/app/given-words.ts";
import type { Action } from "./outcome.ts";
import type { Vscode } from "./vscode-api.ts";

/**
 * What a person has yet to give stands as one of these, and nothing else does: a prompt may begin like one. `-` is
 * standard input, which an editor does not have.
 */
const placeholder = /^(?:ID|domain\/Feature|what it does|what changes|\.\.\.|<[\w/-]+>|-)$/;
const filePlaceholder = "FILE";
const most = 3;

export interface NextDeps {
  readonly vscode: Vscode;
  /** What a command is called here. */
  readonly titleOf: (name: string) => string;
  /** Of the repository: where a path of `edit <path>` begins. */
  readonly root: vscode.Uri;
}

/**
 * What a command names as next, as buttons: `orch merge Billing/Invoice` is carried out with its words and options,
 * `edit <path>` opens the file. Words that are yet to be given are asked for, a file is picked.
 */
export function nextActions(deps: NextDeps, next: readonly string[]): readonly Action[] {
  const actions: Action[] = [];
  for (const line of next) {
    const action = line.startsWith("edit ") ? editing(deps, line.slice("edit ".length)) : carryingOut(deps, line);
    if (action !== undefined && !actions.some(({ label }) => label === action.label)) actions.push(action);
  }
  return actions.slice(0, most);
}

function editing({ vscode, root }: NextDeps, path: string): Action {
  const [name = path] = path.split("/").slice(-1);
  return {
    label: vscode.l10n.t("Edit {0}", name),
    run: async () => vscode.commands.executeCommand("vscode.open", vscode.Uri.joinPath(root, path), { preview: false }),
  };
}

function carryingOut(deps: NextDeps, line: string): Action | undefined {
  const [program, name] = splitWords(line);
  if (program !== "orch" || name === undefined || !isCommandName(name)) return undefined;
  const preset = readNext(commands[name], line.slice(line.indexOf(name) + name.length));
  if (preset === undefined) return undefined;
  const label = labelOf(deps, preset) ?? deps.titleOf(name);
  return { label, run: async () => start(deps, name, preset) };
}

/** What a palette command is called with: see presetOf. */
interface Preset {
  readonly words: readonly string[];
  readonly prompt?: string;
  readonly overrides: Readonly<Record<string, unknown>>;
  readonly flags: readonly string[];
}

/** undefined where something is to be given that no input asks for, and for what only a person can read. */
function readNext(command: Command, after: string): Preset | undefined {
  const given = asGiven(command, after);
  if (given === undefined) return undefined;
  const { words: said, options, flags } = given;
  const promptAt = command.args.findIndex(({ name }) => name === "prompt");
  // A prompt of several words is a person's, whatever one of them is.
  const inPrompt = (at: number): boolean => promptAt !== -1 && at >= promptAt && said.length > promptAt + 1;
  const open = said.findIndex((word, at) => placeholder.test(word) && !inPrompt(at));
  if (open >= command.args.length) return undefined;
  const words = open === -1 ? said : said.slice(0, open);
  const hasPrompt = promptAt !== -1 && words.length > promptAt;
  const isGiven = (value: unknown): boolean => typeof value !== "string" || !placeholder.test(value);
  return {
    words: hasPrompt ? words.slice(0, promptAt) : words,
    ...(hasPrompt ? { prompt: words.slice(promptAt).join(" ") } : {}),
    overrides: Object.fromEntries(Object.entries(options).filter(([, value]) => isGiven(value))),
    flags: flags.filter((flag) => isGiven(/^[^=]*=(.*)$/s.exec(flag)?.[1])),
  };
}

function asGiven(command: Command, after: string): Given | undefined {
  try {
    return readGiven(command, after);
  } catch {
    return undefined;
  }
}

/** The ways to end a review are one command: they are told apart by what they do. */
function labelOf({ vscode }: NextDeps, { overrides }: Preset): string | undefined {
  const { t } = vscode.l10n;
  if (overrides["accept"] === true) return t("Accept");
  if (overrides["revise"] !== undefined) return t("Revise...");
  return overrides["takeOver"] === true ? t("Take over") : undefined;
}

async function start({ vscode, root }: NextDeps, name: string, preset: Preset): Promise<unknown> {
  const overrides: Record<string, unknown> = { ...preset.overrides };
  for (const [key, value] of Object.entries(overrides)) {
    if (value !== filePlaceholder) continue;
    const { t } = vscode.l10n;
    const picked = await vscode.window.showOpenDialog({
      title: t("The file with numbered items: the place, what is wrong, what done looks like"),
      defaultUri: root,
      canSelectMany: false,
    });
    if (picked?.[0] === undefined) return undefined;
    overrides[key] = picked[0].fsPath;
  }
  return vscode.commands.executeCommand(`orch.${name}`, { ...preset, overrides });
}
