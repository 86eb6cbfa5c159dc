import { count } from "../base/lines.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import { repositoryText, type TrustState } from "../model/trust.ts";
import type { Editor } from "../ports/editor.ts";
import { resolveConfig } from "./config.ts";
import { projectConfigPath } from "./config-layers.ts";
import type { RepoContext } from "./context.ts";
import { requireSandbox } from "./sandbox.ts";

type TrustContext = Pick<RepoContext, "editor" | "files" | "root" | "trust">;

/** What a person is asked: in words, what this repository would run and which files would take effect. */
export function trustSummary(state: TrustState): string {
  const parts = state.code ? [] : ["its tests, checks and commit hooks run as you"];
  const waiting = state.files.filter((file) => !file.trusted);
  if (waiting.length > 0) {
    parts.push(
      `${count(waiting.length, "file")} of .orch would take effect: ${waiting.map((file) => (file.changed ? `${file.path} (changed since you trusted it)` : file.path)).join(", ")}`,
    );
  }
  const keys = state.gitKeys.filter((key) => !key.trusted);
  if (keys.length > 0) parts.push(`git would run: ${keys.map((key) => `${key.key} = ${key.value}`).join("; ")}`);
  if (waiting.length === 0 && keys.length === 0)
    parts.push("It ships no settings, rules, personas or contracts that wait");
  return parts.join(". ");
}

/**
 * A contract has no effect before a command names it, and then it is asked about by itself, unless it was written here
 * (contract-files.ts): that one lies there is nothing to warn about, or to ask at every command.
 */
export function withoutContracts(state: TrustState): TrustState {
  return { ...state, files: state.files.filter(({ path }) => !path.startsWith(".orch/contracts/")) };
}

export function isFullyTrusted(state: TrustState): boolean {
  return state.code && state.files.every((file) => file.trusted) && state.gitKeys.every((key) => key.trusted);
}

/**
 * Asked once, by the first command that would run the repository's code, with every file that would take effect shown;
 * asked again when one of them changed. `--yes` does not answer it; without a person it is refused. Only code that never
 * was trusted stops a command: changed files that nobody accepts have no effect, and that is said.
 *
 * @throws OrchError `trust.needed`; `env.no-sandbox`, for the answer may have brought the setting into effect
 */
export async function requireTrust(
  context: TrustContext & Pick<RepoContext, "config" | "sandbox">,
  why: string,
  signal: AbortSignal,
): Promise<void> {
  const { trust, editor } = context;
  const all = await trust.state();
  const state = all.code ? withoutContracts(all) : all;
  const asked = !isFullyTrusted(state) && editor.interactive;
  const granted = asked && (await askTrust(context, state, `Trust this repository? ${why}`, signal));
  if (!state.code && !granted) {
    throw new OrchError("trust.needed", `this repository is not trusted: ${why}`, { data: { hash: state.hash } });
  }
  if (!granted) tellUntrusted(editor, state);
  await requireSandbox(context, signal);
}

/**
 * What a dry run needs of the same: nobody is asked, and what a person could still decide is named.
 *
 * @throws OrchError `trust.needed`, `env.no-sandbox`
 */
export async function requireTrusted(
  context: TrustContext & Pick<RepoContext, "config" | "sandbox">,
  why: string,
  signal: AbortSignal,
): Promise<void> {
  const state = await context.trust.state();
  if (!state.code) {
    throw new OrchError("trust.needed", `this repository is not trusted: ${why}`, { data: { hash: state.hash } });
  }
  tellUntrusted(context.editor, state);
  await requireSandbox(context, signal);
}

/** What the repository ships and nobody accepted has no effect; a person must not find out by its absence. */
export function tellUntrusted(editor: Editor, state: TrustState): void {
  const waiting = [
    ...withoutContracts(state)
      .files.filter((file) => !file.trusted)
      .map((file) => file.path),
    ...state.gitKeys.filter((key) => !key.trusted).map((key) => `git's ${key.key}`),
  ];
  if (waiting.length === 0) return;
  editor.notify({
    severity: "warning",
    text: `not trusted, so without effect: ${nameSome(waiting)}`,
    hint: "Look and decide with: orch trust",
  });
}

/**
 * Settings that cannot be read are no decision: trusted, they would stop every command. Asked before the question, so that
 * nothing is stored.
 *
 * @throws OrchError `config.invalid` with path and line
 */
export async function requireReadableSettings(
  { files, root }: Pick<RepoContext, "files" | "root">,
  state: TrustState,
): Promise<void> {
  if (!state.files.some(({ path, trusted }) => path === projectConfigPath && !trusted)) return;
  const text = await files.readText(inRoot(root, projectConfigPath));
  if (text !== undefined) resolveConfig([{ source: inRoot(root, projectConfigPath), text }]);
}

/**
 * Shows what waits and asks; true when the person trusts it, which is recorded as shown.
 *
 * @throws OrchError `config.invalid`
 */
export async function askTrust(
  context: TrustContext,
  state: TrustState,
  title: string,
  signal: AbortSignal,
): Promise<boolean> {
  const { trust, editor } = context;
  await requireReadableSettings(context, state);
  for (const file of state.files.filter((row) => !row.trusted)) await showFile(context, file.path);
  for (const { key, hook, trusted } of state.gitKeys)
    if (!trusted && hook?.at !== undefined) await showHook(context, key, hook.at);
  const answer = await editor.ask(
    {
      kind: "pick",
      weight: "question",
      title,
      detail: `${repositoryText(state.repository)}: ${trustSummary(state)}`,
      choices: [
        { id: "trust", label: "Trust it" },
        { id: "no", label: "Not now" },
      ],
      otherwise: "no",
    },
    signal,
  );
  if (answer?.choice !== "trust") return false;
  await trust.grant(state);
  return true;
}

async function showHook({ editor, files }: TrustContext, name: string, at: AbsPath): Promise<void> {
  const right = (await files.readText(at)) ?? "";
  await editor.showDiff({ title: `${name}: changed while a worker could write it`, path: name, left: "", right });
}

async function showFile({ editor, files, root, trust }: TrustContext, path: string): Promise<void> {
  const text = (await files.readText(inRoot(root, path))) ?? "";
  const former = await trust.formerBytes(path);
  await editor.showDiff({
    title: `${path}: ${former ? "changed since you trusted it" : "new to you"}`,
    path,
    left: former ? new TextDecoder().decode(former) : "",
    right: text,
  });
}
