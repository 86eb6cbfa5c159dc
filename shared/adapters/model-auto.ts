import * as z from "zod";
import { editorLane, grantedModelEnv, templateId } from "../model/model-ids.ts";
import type { ProviderConfig } from "../model/config.ts";
import { isLoopback, knownProvider, knownProviders } from "./openai-providers.ts";

/**
 * What `auto` asks when nobody named a model and pi is not usable: endpoints that the person configured and provider keys
 * in the environment, a language model the editor already granted, a server on this machine, else the template worker.
 * The person's own endpoints and the loopback are asked what they serve, and nothing else: no scan.
 */
export interface AutoChoice {
  readonly ids: readonly string[];
  /** For the person: what was chosen and why. */
  readonly why: string;
}

export interface LocalServer {
  readonly provider: "ollama" | "llama-cpp" | "llama-swap" | "lmstudio" | "vllm";
  readonly title: string;
  /** Absolute URL on the loopback that lists the models. */
  readonly url: string;
}

export interface AutoDeps {
  readonly env: Readonly<Record<string, string>>;
  /** `models.providers`; one whose key is missing is left out. */
  readonly providers?: Readonly<Record<string, ProviderConfig>>;
  readonly servers?: readonly LocalServer[];
  readonly probeMs?: number;
}

const localServers = [
  { provider: "ollama", title: "Ollama", url: "http://127.0.0.1:11434/api/tags" },
  { provider: "llama-swap", title: "llama.cpp or llama-swap", url: "http://127.0.0.1:8080/v1/models" },
  { provider: "lmstudio", title: "LM Studio", url: "http://127.0.0.1:1234/v1/models" },
  { provider: "vllm", title: "vLLM", url: "http://127.0.0.1:8000/v1/models" },
] as const satisfies readonly LocalServer[];

const probeMs = 300;
const listMs = 3000;
const maxListBytes = 1024 * 1024;
const maxLocalModels = 3;

export async function chooseModels(deps: AutoDeps, signal: AbortSignal): Promise<AutoChoice> {
  const own = await ownEndpoint(deps, signal);
  if (own !== undefined) return own;
  const keyed = Object.entries(knownProviders).find(
    ([name, row]) =>
      "keyEnv" in row && (deps.env[row.keyEnv] ?? "") !== "" && !Object.hasOwn(deps.providers ?? {}, name),
  );
  if (keyed !== undefined) {
    const [name, row] = keyed;
    return { ids: row.models.map((model) => `${name}/${model}`), why: `${"keyEnv" in row ? row.keyEnv : name} is set` };
  }
  const granted = deps.env[grantedModelEnv];
  // The variable says what the editor granted; it opens no other lane.
  if (granted?.startsWith(editorLane) === true)
    return { ids: [granted], why: "the editor's language model is granted" };
  const lists = await askLocalServers(deps, signal);
  const local = lists.find(({ models }) => models !== undefined && models.length > 0);
  if (local?.models !== undefined) {
    const ids = byFitness(local.models).slice(0, maxLocalModels);
    return {
      ids: ids.map((model) => `${local.server.provider}/${model}`),
      why: `${local.server.title} answers at ${new URL(local.server.url).host}`,
    };
  }
  return {
    ids: [templateId],
    why: "no endpoint in models.providers, no provider key, no local server and no pi: the template worker writes only what the spec's tables say",
  };
}

/** The first endpoint of `models.providers`, in the person's order, that can be asked and says what it serves. */
async function ownEndpoint(deps: AutoDeps, signal: AbortSignal): Promise<AutoChoice | undefined> {
  for (const [name, { baseUrl, keyEnv }] of Object.entries(deps.providers ?? {})) {
    const key = keyEnv === undefined ? undefined : deps.env[keyEnv] || undefined;
    if (keyEnv !== undefined && key === undefined) continue;
    const timeoutMs = isLoopback(baseUrl) ? (deps.probeMs ?? probeMs) : listMs;
    const place = { url: `${baseUrl.replace(/\/+$/, "")}/models`, timeoutMs };
    const listed = await listedModels(key === undefined ? place : { ...place, key }, signal);
    signal.throwIfAborted();
    const known: readonly string[] = knownProvider(name)?.models ?? [];
    const ids = [...known.filter((model) => listed?.includes(model) ?? true), ...byFitness(listed ?? [])];
    const first = [...new Set(ids)].slice(0, maxLocalModels);
    const why =
      keyEnv === undefined ? `${name} is in models.providers` : `${name} is in models.providers and ${keyEnv} is set`;
    if (first.length > 0) return { ids: first.map((model) => `${name}/${model}`), why };
  }
  return undefined;
}

/** Every server that may be here, asked at once; `models` is undefined where nothing answers in time. */
export async function askLocalServers(
  deps: Pick<AutoDeps, "servers" | "probeMs">,
  signal: AbortSignal,
): Promise<readonly { readonly server: LocalServer; readonly models: readonly string[] | undefined }[]> {
  const ms = deps.probeMs ?? probeMs;
  const lists = await Promise.all(
    (deps.servers ?? localServers).map(async (server) => ({
      server,
      models: await listedModels({ url: server.url, timeoutMs: ms }, signal),
    })),
  );
  signal.throwIfAborted();
  return lists;
}

export interface ModelListPlace {
  /** Answers with OpenAI's list of models, or with Ollama's tags. */
  readonly url: string;
  readonly key?: string;
  readonly timeoutMs: number;
}

const Tags = z.looseObject({ models: z.array(z.looseObject({ name: z.string() })) });
const List = z.looseObject({ data: z.array(z.looseObject({ id: z.string() })) });

/** Names of what it offers; undefined when it does not answer in time, refuses, or answers something else. */
export async function listedModels(
  { url, key, timeoutMs }: ModelListPlace,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(url, {
      redirect: "error",
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    });
    if (!response.ok) return undefined;
    const json: unknown = JSON.parse(await bounded(response));
    // Some servers fill both; the list of the protocol that will be spoken is the one that counts.
    const listed = List.safeParse(json).data?.data.map(({ id }) => id);
    return listed ?? Tags.safeParse(json).data?.models.map(({ name }) => name);
  } catch {
    return undefined;
  }
}

async function bounded(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const part of response.body ?? []) {
    text += decoder.decode(part, { stream: true });
    if (text.length > maxListBytes) return "";
  }
  return text + decoder.decode();
}

/** Models that write code first, models that cannot answer a chat left out; else in the server's order. */
function byFitness(models: readonly string[]): readonly string[] {
  const chat = models.filter((name) => !/embed|rerank|whisper|tts|bge-|minilm/i.test(name));
  const score = (name: string): number => (/cod(?:er|e|estral)|devstral/i.test(name) ? 0 : 1);
  return chat.toSorted((a, b) => score(a) - score(b));
}
