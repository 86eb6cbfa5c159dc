import type { Config } from "../model/config.ts";
import type { ContractKind } from "../model/contract-kinds.ts";
import type { WorkerConfig } from "../model/worker-config.ts";

/** Workers that need no settings: an id, a client and a model. `workers.<id>` of config.json changes or adds one. */
export interface WorkerEntry {
  readonly client: string;
  readonly model?: string;
  readonly family?: string;
  readonly args?: readonly string[];
  readonly kinds?: readonly ContractKind[];
  readonly acp?: readonly string[];
}

export const workerEntries: Readonly<Record<string, WorkerEntry>> = {
  sonnet: { client: "claude", model: "sonnet", family: "anthropic" },
  opus: { client: "claude", model: "opus", family: "anthropic" },
  haiku: { client: "claude", model: "haiku", family: "anthropic", kinds: ["tests"] },
  pi: { client: "pi" },
  codex: { client: "codex", family: "openai" },
  opencode: { client: "opencode" },
  gemini: { client: "gemini", family: "google" },
  copilot: { client: "copilot", family: "github" },
  cline: { client: "cline" },
  agy: { client: "agy", model: "gemini-3.8-flash-medium", family: "google" },
  "rx-flash": { client: "reasonix", model: "deepseek-v4-flash", family: "deepseek" },
  "rx-flash-max": {
    client: "reasonix",
    model: "deepseek-v4-flash",
    family: "deepseek",
    args: ["--effort", "max"],
  },
  "rx-acp": { client: "reasonix", model: "deepseek-v4-flash", family: "deepseek", acp: ["reasonix", "acp"] },
  "rx-acp-max": {
    client: "reasonix",
    model: "deepseek-v4-flash",
    family: "deepseek",
    acp: ["reasonix", "acp", "--effort", "max"],
  },
};

export interface Rung {
  readonly worker: string;
  /** Left out of the ladder when the contract has none. */
  readonly needs?: "hidden checks";
}

/** Where a contract goes that names no worker; `ladders.<kind>` of config.json replaces a row. */
export const workerRoutes: Readonly<Record<ContractKind, readonly Rung[]>> = {
  mechanical: [{ worker: "rx-acp" }, { worker: "rx-acp-max" }, { worker: "agy" }, { worker: "sonnet" }],
  analysis: [{ worker: "rx-flash" }, { worker: "rx-flash-max" }, { worker: "sonnet" }],
  feature: [{ worker: "sonnet" }, { worker: "opus" }],
  tests: [{ worker: "haiku" }, { worker: "sonnet" }],
  refactor: [{ worker: "sonnet", needs: "hidden checks" }, { worker: "opus" }],
  ui: [{ worker: "agy" }, { worker: "sonnet" }],
  critical: [{ worker: "sonnet", needs: "hidden checks" }, { worker: "opus" }],
  // Another family than the one that does features, read-only.
  second_opinion: [{ worker: "codex" }, { worker: "gemini" }, { worker: "rx-flash" }, { worker: "opus" }],
};

/** What is known of a worker once the settings are laid over the table. */
export interface KnownWorker extends WorkerConfig {
  readonly id: string;
  readonly client: string;
}

/** Every id in the table's order, then the person's own. */
export function knownWorkers({ workers }: Pick<Config, "workers">): readonly KnownWorker[] {
  const ids = [...new Set([...Object.keys(workerEntries), ...Object.keys(workers)])];
  return ids.map((id) => {
    const entry = Object.hasOwn(workerEntries, id) ? workerEntries[id] : undefined;
    const own = workers[id];
    const client = own?.client ?? entry?.client ?? id;
    // An entry named like the client says where it is for all of its workers.
    const base = client === id ? undefined : workers[client];
    const shared: Partial<WorkerConfig> =
      base === undefined
        ? {}
        : {
            ...(base.command === undefined ? {} : { command: base.command }),
            ...(base.env === undefined ? {} : { env: base.env }),
            ...(base.hosts === undefined ? {} : { hosts: base.hosts }),
          };
    return { ...shared, ...copyOf(entry), ...own, id, client };
  });
}

function copyOf(entry: WorkerEntry | undefined): Partial<WorkerConfig> {
  if (entry === undefined) return {};
  const { args, kinds, acp, ...rest } = entry;
  return {
    ...rest,
    ...(args === undefined ? {} : { args: [...args] }),
    ...(kinds === undefined ? {} : { kinds: [...kinds] }),
    ...(acp === undefined ? {} : { acp: [...acp] }),
  };
}
