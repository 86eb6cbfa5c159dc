import type * as vscode from "vscode";
import type { Vscode } from "./vscode-api.ts";

/**
 * Keys of model providers, in the editor's secret storage under the name of the environment variable that the runner
 * gets them in. They are in no setting, no log, no file of a run and on no command line.
 */
const prefix = "orch.key.";
const keyNamePattern = /^[A-Z][A-Z0-9_]{2,60}$/;

export interface Keys {
  /** Variable name -> key. */
  all(): Promise<Readonly<Record<string, string>>>;
  names(): Promise<readonly string[]>;
  store(name: string, key: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Asks for name and key; undefined when dismissed, else the name. */
  askAndStore(): Promise<string | undefined>;
  askAndRemove(): Promise<string | undefined>;
}

const known = ["OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "TYPESAFE_API_KEY"];

export function createKeys(vscode: Vscode, secrets: vscode.SecretStorage): Keys {
  const names = async (): Promise<readonly string[]> =>
    (await secrets.keys())
      .filter((key) => key.startsWith(prefix))
      .map((key) => key.slice(prefix.length))
      .toSorted();
  const keys: Keys = {
    names,
    async all() {
      const out: Record<string, string> = {};
      for (const name of await names()) {
        const key = await secrets.get(prefix + name);
        if (key !== undefined) out[name] = key;
      }
      return out;
    },
    async store(name, key) {
      if (!keyNamePattern.test(name)) throw new TypeError(`not the name of an environment variable: ${name}`);
      await secrets.store(prefix + name, key);
    },
    remove: async (name) => secrets.delete(prefix + name),
    async askAndStore() {
      const t = vscode.l10n.t;
      const other = { label: t("Another variable") };
      const picked = await vscode.window.showQuickPick([...known.map((label) => ({ label })), other], {
        title: t("Whose key?"),
        placeHolder: t("The environment variable that the provider's key goes by"),
      });
      if (picked === undefined) return undefined;
      const name =
        picked === other
          ? await vscode.window.showInputBox({
              title: t("Name of the environment variable"),
              validateInput: (text) => (keyNamePattern.test(text) ? undefined : t("Capital letters, digits and _")),
            })
          : picked.label;
      if (name === undefined) return undefined;
      const key = await vscode.window.showInputBox({
        title: name,
        password: true,
        prompt: t("Stays in this editor's secret storage"),
      });
      if (key === undefined || key.trim() === "") return undefined;
      await keys.store(name, key.trim());
      return name;
    },
    async askAndRemove() {
      const t = vscode.l10n.t;
      const stored = await names();
      if (stored.length === 0) {
        void vscode.window.showInformationMessage(t("No key is stored."));
        return undefined;
      }
      const name = await vscode.window.showQuickPick([...stored], { title: t("Which key is to go?") });
      if (name !== undefined) await keys.remove(name);
      return name;
    },
  };
  return keys;
}
