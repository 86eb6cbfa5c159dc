import { familyOf } from "../adapters/recipes/provider-keys.ts";
import type { Endpoint, Persistence, Recipe } from "../adapters/recipes/recipe.ts";
import type { Config, ProviderConfig } from "../model/config.ts";
import type { KnownWorker } from "./worker-entries.ts";

/** What is said of a worker, whether it can be used here or not. */
export type WorkerState = "usable" | "missing" | "too old" | "needs live supervision" | "off" | "invalid";

export interface WorkerRow {
  readonly id: string;
  readonly client: string;
  readonly model?: string;
  readonly family: string;
  readonly tier: string;
  readonly state: WorkerState;
  /** Why it is not usable, or what is to be known. */
  readonly why?: string;
  /** The next keystroke. */
  readonly hint?: string;
  readonly version?: string;
  /** `resumes warm, read-only mode, own sandbox, only for tests`. */
  readonly capability: string;
  /** `told by the client`, `from prices in the settings`, `tokens only`, `not told`. */
  readonly cost: string;
  /** What a run of it took when it was measured; absent for clients that never ran here. */
  readonly measured?: string;
}

export function baseRow(known: KnownWorker, recipe: Recipe | undefined, config: Config): Omit<WorkerRow, "state"> {
  const { id, client, model, kinds } = known;
  const can = recipe?.can;
  const prices = pricesOf(known, config);
  const costs = {
    reported: "told by the client",
    tokens: prices === undefined ? "tokens only" : "from prices in the settings",
    file: prices === undefined ? "tokens only" : "from prices in the settings",
    none: "not told",
  } as const;
  const resumes = { "cache-warm": "resumes warm", cold: "starts afresh", none: "starts afresh" } as const;
  return {
    id,
    client,
    ...(model === undefined ? {} : { model }),
    family: known.family ?? (model === undefined ? undefined : familyOf(model)) ?? "other",
    tier: recipe?.tier ?? "untested",
    capability:
      can === undefined
        ? ""
        : [
            resumes[can.resume],
            can.readOnly ? "read-only mode" : "no read-only mode",
            ...(can.ownSandbox ? ["own sandbox"] : []),
            ...(kinds === undefined ? [] : [`only for ${kinds.join(", ")}`]),
            ...(reachesNobody(known, recipe, config) ? ["no network in a sandbox without hosts"] : []),
          ].join(", "),
    cost: can === undefined ? "not told" : costs[can.cost],
    ...(recipe?.measured === undefined ? {} : { measured: `${recipe.measured}${patienceOf(recipe.persists)}` }),
  };
}

function reachesNobody({ model, hosts = [] }: KnownWorker, recipe: Recipe | undefined, config: Config): boolean {
  const provider = providerOf(model, config);
  const own = recipe?.hosts(model, provider === undefined ? undefined : endpointOf(provider)) ?? [];
  return own.length + hosts.length === 0;
}

function patienceOf(persists: Persistence | undefined): string {
  return persists?.fixed === true ? `, tells of a failing model after ${persists.seconds} s` : "";
}

export function providerOf(
  model: string | undefined,
  { models }: Config,
): readonly [string, ProviderConfig] | undefined {
  const name = model?.split("/")[0] ?? "";
  const provider = Object.hasOwn(models.providers, name) ? models.providers[name] : undefined;
  return provider === undefined || model === undefined || !model.includes("/") ? undefined : [name, provider];
}

export function pricesOf(known: KnownWorker, config: Config): KnownWorker["prices"] {
  if (known.prices !== undefined) return known.prices;
  const [name, provider] = providerOf(known.model, config) ?? [];
  return name === undefined ? undefined : provider?.prices?.[(known.model ?? "").slice(name.length + 1)];
}

export function endpointOf([provider, { baseUrl, keyEnv }]: readonly [string, ProviderConfig]): Endpoint {
  return { provider, baseUrl, ...(keyEnv === undefined ? {} : { keyEnv }) };
}
