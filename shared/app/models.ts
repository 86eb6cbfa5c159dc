import { type AbsPath, inRoot } from "../base/paths.ts";
import type { AutoChoice } from "../adapters/model-auto.ts";
import { splitId } from "../adapters/model-source.ts";
import { ModelChainFile, ModelConfigFile } from "../model/config.ts";
import { OrchError } from "../model/error.ts";
import { type JsonResult, readJson } from "../model/json-text.ts";
import { autoId, templateId } from "../model/model-ids.ts";
import type { Files } from "../ports/files.ts";
import type { Model } from "../ports/model.ts";
import { defaultChain } from "./familiar-models.ts";

export interface ModelOrder {
  /** At least one, no repeats, at most `maxModels`. */
  readonly ids: readonly string[];
  /** For the person: where the order comes from. */
  readonly why: string;
  /** For each id, what put it there. */
  readonly from: readonly string[];
}

export interface ModelOrderDeps {
  readonly files: Files;
  /** The user's `orch/` config folder. */
  readonly configDir: AbsPath;
  readonly maxModels: number;
  /** `--model`, as typed. */
  readonly requested?: string;
  /** Write `requested` to model_config.json now: only what is known to be one, see `keptWhenItAnswers`. */
  readonly persist: boolean;
  readonly piUsable: (signal: AbortSignal) => Promise<{ readonly usable: boolean; readonly why: string }>;
  readonly auto: (signal: AbortSignal) => Promise<AutoChoice>;
}

/**
 * The attempt order: the requested model, else model_config.json's; then model_chain.json; without that file the
 * default chain when pi is usable, else what `auto` finds. A named model is never replaced by the template worker: who
 * names one is told when it fails.
 *
 * @throws OrchError `model.unknown` for an id without a provider, `file.invalid` for a broken file; nothing is written
 * then
 */
export async function orderModels(deps: ModelOrderDeps, signal: AbortSignal): Promise<ModelOrder> {
  if (deps.requested !== undefined && deps.requested !== autoId) splitId(deps.requested);
  const chain = await readFile(deps, "model_chain.json", (text) => readJson(text, ModelChainFile));
  const config = await readFile(deps, "model_config.json", (text) => readJson(text, ModelConfigFile));
  for (const id of [...(chain ?? []), ...(config === undefined || config.model === autoId ? [] : [config.model])])
    splitId(id);
  if (deps.requested !== undefined && deps.persist) await write(deps, { ...config, model: deps.requested });
  const first = deps.requested ?? config?.model;
  const lead = first === undefined || first === autoId ? undefined : first;
  const leadWhy =
    lead === undefined ? [] : [deps.requested === undefined ? `${lead} from model_config.json` : `${lead} as asked`];
  const rest = await restOfChain(deps, chain, first === autoId, lead !== undefined, signal);
  const ids = [...new Set([...(lead === undefined ? [] : [lead]), ...rest.ids])].slice(0, deps.maxModels);
  const why = [...leadWhy, ...(rest.why === "" ? [] : [rest.why])].join("; then ");
  const leadFrom = deps.requested === undefined ? "model_config.json" : "as asked";
  return { ids, why, from: ids.map((id) => (id === lead ? leadFrom : rest.from)) };
}

async function restOfChain(
  deps: ModelOrderDeps,
  chain: readonly string[] | undefined,
  auto: boolean,
  led: boolean,
  signal: AbortSignal,
): Promise<{ readonly ids: readonly string[]; readonly why: string; readonly from: string }> {
  if (chain !== undefined && !auto && (chain.length > 0 || led))
    return { ids: chain, why: chain.length === 0 ? "" : "model_chain.json", from: "model_chain.json" };
  if (!auto) {
    const pi = await deps.piUsable(signal);
    if (pi.usable) return { ids: defaultChain, why: `the default chain (${pi.why})`, from: "the default chain" };
  }
  const choice = await deps.auto(signal);
  const ids = led ? choice.ids.filter((id) => id !== templateId) : choice.ids;
  return { ids, why: ids.length === 0 ? "" : `auto: ${choice.why}`, from: "auto" };
}

async function readFile<T>(
  deps: Pick<ModelOrderDeps, "files" | "configDir">,
  name: string,
  parse: (text: string) => JsonResult<T>,
): Promise<T | undefined> {
  const path = inRoot(deps.configDir, name);
  const text = await deps.files.readText(path);
  if (text === undefined) return undefined;
  const read = parse(text);
  if (read.kind === "ok") return read.value;
  throw new OrchError("file.invalid", `${path}:${read.fault.line}: ${read.fault.message}`, {
    data: { path, line: read.fault.line },
  });
}

/**
 * Makes `id` the model that leads from now on, because it gave something usable.
 *
 * @throws OrchError `file.invalid` for a broken model_config.json, which stays
 */
export async function keepModel(deps: Pick<ModelOrderDeps, "files" | "configDir">, id: string): Promise<void> {
  const config = await readFile(deps, "model_config.json", (text) => readJson(text, ModelConfigFile));
  if (config?.model !== id) await write(deps, { ...config, model: id });
}

/** The model as it is; `keep` is called once, when `id` has answered. An id that never answers is not kept. */
export function keptWhenItAnswers(model: Model, id: string, keep: () => Promise<void>): Model {
  let kept = false;
  const { id: led, provider, lane, label } = model;
  return {
    id: led,
    provider,
    lane,
    ...(label === undefined ? {} : { label }),
    async complete(request, signal) {
      const said = await model.complete(request, signal);
      if (kept || said.kind !== "ok" || said.model !== id) return said;
      kept = true;
      await keep();
      return said;
    },
  };
}

/** Keys that another Orch wrote survive. */
async function write(
  deps: Pick<ModelOrderDeps, "files" | "configDir">,
  value: Readonly<Record<string, unknown>>,
): Promise<void> {
  await deps.files.makeDir(deps.configDir, { mode: 0o700 });
  await deps.files.write(inRoot(deps.configDir, "model_config.json"), `${JSON.stringify(value, null, 2)}\n`);
}
