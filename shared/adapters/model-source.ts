import { OrchError } from "../model/error.ts";
import { templateId } from "../model/model-ids.ts";
import type { ProviderConfig } from "../model/config.ts";
import type { Files } from "../ports/files.ts";
import type { Ids } from "../ports/ids.ts";
import type { Model, ModelSource, OpenedModel } from "../ports/model.ts";
import type { Process } from "../ports/process.ts";
import type { AbsPath } from "../base/paths.ts";
import { demoUrlVariable, openDemoModel } from "./model-demo.ts";
import { createOpenAiModel } from "./model-openai.ts";
import { createPiModel } from "./model-pi.ts";
import { knownProvider } from "./openai-providers.ts";
import type { PiProbe } from "./pi-probe.ts";

/**
 * Which lane an id goes to. `demo/`, `builtin/` and `vscode-lm/` have one of their own; a provider with an endpoint or
 * a key configured is asked directly; every other id is pi's. A provider of this machine (Ollama, LM Studio, ...) that
 * nobody configured is asked at its usual port where there is no pi.
 */
export interface ModelSourceDeps {
  readonly files: Files;
  readonly process: Process;
  readonly ids: Ids;
  readonly env: Readonly<Record<string, string>>;
  readonly stateDir: AbsPath;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly pi: PiProbe;
  /** Serves `builtin/template`; absent where there is no pack to write from. */
  readonly template?: Model;
  /** Serves `vscode-lm/...` ids, by whichever window of VS Code takes the request. */
  readonly editorModels?: ModelSource;
  readonly marker?: string;
  readonly onStart?: (pid: number, startTime: string) => void;
}

type Opener = (deps: ModelSourceDeps, id: string, signal: AbortSignal) => Promise<OpenedModel>;

/** Lanes with a prefix of their own. */
const reserved: Readonly<Record<string, Opener>> = {
  demo: ({ env }, id, signal) => openDemoModel(id, env[demoUrlVariable], signal),
  builtin: ({ template }, id) => {
    if (id === templateId && template !== undefined) return Promise.resolve({ kind: "model", model: template });
    return Promise.resolve(
      unavailable(
        id === templateId ? "there is no language pack to write from" : `Orch has no model ${id} built in`,
        `The one built in is ${templateId}`,
      ),
    );
  },
  "vscode-lm": ({ editorModels }, id, signal) =>
    editorModels?.open(id, signal) ??
    Promise.resolve(
      unavailable(
        "VS Code's language models are only there in a run",
        "Start it from VS Code, or name another model with --model",
      ),
    ),
};

export function createModelSource(deps: ModelSourceDeps): ModelSource {
  return {
    async open(id, signal) {
      const { provider, name } = splitId(id);
      const lane = Object.hasOwn(reserved, provider) ? reserved[provider] : undefined;
      if (lane !== undefined) return lane(deps, id, signal);
      return openConfigured(deps, id, provider, name) ?? openPi(deps, id, provider, name, signal);
    },
  };
}

/** @throws OrchError `model.unknown` when the id has no provider in it */
export function splitId(id: string): { readonly provider: string; readonly name: string } {
  const at = id.indexOf("/");
  const [provider, name] = [id.slice(0, at), id.slice(at + 1)];
  // A leading dash would be read as an option by a program that gets the id as an argument.
  if (at < 1 || name === "" || /[\s\0]/.test(id) || id.startsWith("-")) {
    throw new OrchError("model.unknown", `${JSON.stringify(id)} is no model id`, {
      data: { known: "ids like provider/model, for example openrouter/poolside/laguna-s-2.1:free" },
    });
  }
  return { provider, name };
}

function openConfigured(deps: ModelSourceDeps, id: string, provider: string, name: string): OpenedModel | undefined {
  const { env } = deps;
  const set = Object.hasOwn(deps.providers, provider) ? deps.providers[provider] : undefined;
  const known = knownProvider(provider);
  const keyEnv = set?.keyEnv ?? known?.keyEnv;
  const key = keyEnv === undefined ? undefined : env[keyEnv] || undefined;
  if (set === undefined && key === undefined) return undefined;
  if (keyEnv !== undefined && key === undefined) {
    const hint = `Set ${keyEnv} in the environment of the host that runs Orch`;
    return { kind: "unavailable", why: `${keyEnv} is not set`, hint, code: "env.no-key" };
  }
  const named = known?.baseUrlEnv === undefined ? undefined : env[known.baseUrlEnv];
  const baseUrl = set?.baseUrl ?? (named === undefined || named === "" ? known?.baseUrl : named);
  if (baseUrl === undefined) return undefined;
  return {
    kind: "model",
    model: createOpenAiModel({
      id,
      remoteName: name,
      baseUrl,
      ...(key === undefined ? {} : { key }),
      ...(keyEnv === undefined ? {} : { keyEnv }),
      ...(set?.prices === undefined ? {} : { prices: set.prices }),
    }),
  };
}

async function openPi(
  deps: ModelSourceDeps,
  id: string,
  provider: string,
  name: string,
  signal: AbortSignal,
): Promise<OpenedModel> {
  const found = await deps.pi.find(signal);
  if (found.kind === "found") return { kind: "model", model: createPiModel({ ...deps, pi: found.pi }, id) };
  const known = knownProvider(provider);
  if (known?.local === true)
    return { kind: "model", model: createOpenAiModel({ id, remoteName: name, baseUrl: known.baseUrl }) };
  if (known?.keyEnv === undefined)
    return unavailable(found.why, `Give ${provider} an endpoint in models.providers, or ${lowerFirst(found.hint)}`);
  // The key is the short way: pi is asked only where there is none.
  const why = `${known.keyEnv} is not set, and ${found.why}`;
  return unavailable(why, `Set ${known.keyEnv}, or ${lowerFirst(found.hint)}`);
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

function unavailable(why: string, hint: string): OpenedModel {
  return { kind: "unavailable", why, hint };
}
