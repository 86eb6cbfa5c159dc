import { askLocalServers, listedModels, type LocalServer } from "../adapters/model-auto.ts";
import { knownProviders } from "../adapters/openai-providers.ts";
import type { PiProbe } from "../adapters/pi-probe.ts";
import type { ProviderConfig } from "../model/config.ts";
import { templateId } from "../model/model-ids.ts";

/** A way to models: whether it can be used here and now, and what it offers as far as that is known. */
export interface LaneOffer {
  readonly lane: string;
  readonly usable: boolean;
  readonly why: string;
  readonly hint?: string;
  /** Full ids. */
  readonly models: readonly string[];
}

export interface OffersDeps {
  readonly env: Readonly<Record<string, string>>;
  readonly providers: Readonly<Record<string, ProviderConfig>>;
  readonly pi: PiProbe;
  /** Also ask the providers whose key is here; else only this machine is asked. */
  readonly askProviders: boolean;
  /** Ask this provider alone among those with a key. */
  readonly only?: string;
  readonly servers?: readonly LocalServer[];
  readonly providerTimeoutMs?: number;
}

const providerMs = 4000;

/** Everything is asked at once, so the slowest lane decides how long it takes: a few seconds. Never rejects but on abort. */
export async function laneOffers(deps: OffersDeps, signal: AbortSignal): Promise<readonly LaneOffer[]> {
  const [pi, providers, servers] = await Promise.all([
    piOffer(deps, signal),
    Promise.all(endpoints(deps).map((endpoint) => providerOffer(deps, endpoint, signal))),
    askLocalServers(deps.servers === undefined ? {} : { servers: deps.servers }, signal),
  ]);
  signal.throwIfAborted();
  const local = servers.map(({ server, models }): LaneOffer => {
    const host = new URL(server.url).host;
    const ids = (models ?? []).map((name) => `${server.provider}/${name}`);
    if (models === undefined)
      return { lane: server.title, usable: false, why: `nothing answers at ${host}`, models: [] };
    return { lane: server.title, usable: ids.length > 0, why: `${ids.length} models at ${host}`, models: ids };
  });
  return [
    pi,
    ...providers,
    ...local,
    {
      lane: "editor (vscode-lm)",
      usable: false,
      why: "only in a run that VS Code starts",
      hint: "Pick one there: Orch: Connect a Model",
      models: [],
    },
    { lane: "demo", usable: false, why: "only in orch demo; its replies are scripted", models: [] },
    { lane: templateId, usable: true, why: "no AI: writes what a spec's tables determine", models: [templateId] },
  ];
}

async function piOffer({ pi }: OffersDeps, signal: AbortSignal): Promise<LaneOffer> {
  const found = await pi.find(signal);
  if (found.kind === "missing") return { lane: "pi", usable: false, why: found.why, hint: found.hint, models: [] };
  const { usable, why, models } = await pi.usable(signal);
  return { lane: "pi", usable, why, ...(usable ? {} : { hint: "Log in with: pi, then /login" }), models };
}

interface Endpoint {
  readonly name: string;
  readonly title: string;
  readonly baseUrl: string;
  readonly keyEnv?: string;
  /** What `auto` would ask for; shown without asking anybody. */
  readonly known: readonly string[];
}

/** The user's own providers, then the known ones that need a key. */
function endpoints({ providers, env, only }: OffersDeps): readonly Endpoint[] {
  const own = Object.entries(providers).map(([name, { baseUrl, keyEnv }]): Endpoint => ({
    name,
    title: `${name} (models.providers)`,
    baseUrl,
    ...(keyEnv === undefined ? {} : { keyEnv }),
    known: [],
  }));
  const known = Object.entries(knownProviders).flatMap(([name, row]): readonly Endpoint[] => {
    if (!("keyEnv" in row) || Object.hasOwn(providers, name)) return [];
    const other = "baseUrlEnv" in row ? env[row.baseUrlEnv] : undefined;
    const baseUrl = other === undefined || other === "" ? row.baseUrl : other;
    return [{ name, title: row.title, baseUrl, keyEnv: row.keyEnv, known: row.models }];
  });
  return [...own, ...known].filter(({ name }) => only === undefined || name === only);
}

async function providerOffer(deps: OffersDeps, endpoint: Endpoint, signal: AbortSignal): Promise<LaneOffer> {
  const { name, title: lane, baseUrl, keyEnv } = endpoint;
  const key = keyEnv === undefined ? undefined : deps.env[keyEnv] || undefined;
  if (keyEnv !== undefined && key === undefined)
    return { lane, usable: false, why: `${keyEnv} is not set`, hint: `Set ${keyEnv}`, models: [] };
  const idOf = (model: string): string => `${name}/${model}`;
  const has = keyEnv === undefined ? "needs no key" : `${keyEnv} is set`;
  if (!deps.askProviders) return { lane, usable: true, why: has, models: endpoint.known.map(idOf) };
  const place = { url: `${baseUrl.replace(/\/+$/, "")}/models`, timeoutMs: deps.providerTimeoutMs ?? providerMs };
  const models = await listedModels(key === undefined ? place : { ...place, key }, signal);
  const { host } = new URL(baseUrl);
  if (models === undefined)
    return { lane, usable: false, why: `${has}, but ${host} lists no models`, models: endpoint.known.map(idOf) };
  return { lane, usable: true, why: `${has}, ${models.length} models at ${host}`, models: models.map(idOf) };
}
