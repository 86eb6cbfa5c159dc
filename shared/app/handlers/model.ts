import { chooseModels } from "../../adapters/model-auto.ts";
import { createModelSource, splitId } from "../../adapters/model-source.ts";
import { count } from "../../base/lines.ts";
import { nearMisses } from "../../features/names.ts";
import { OrchError } from "../../model/error.ts";
import type { ModelSource } from "../../ports/model.ts";
import type { AnywhereContext, AnywhereHandler } from "../anywhere.ts";
import { noteOfferedModels } from "../offered-models.ts";
import { askModels } from "../model-ask.ts";
import { requireModelId } from "../model-id.ts";
import { type LaneOffer, laneOffers } from "../model-offers.ts";
import { autoId } from "../../model/model-ids.ts";
import { type ModelOrder, orderModels } from "../models.ts";
import { createTemplateModel } from "../template/template-model.ts";

/** The document of `model --json`. */
export interface ModelData {
  readonly order: readonly OrderRow[];
  readonly why: string;
  readonly lanes: readonly LaneOffer[];
  readonly text: readonly string[];
}

export interface OrderRow {
  readonly id: string;
  /** What put it there: `model_config.json`, `model_chain.json`, the default chain, or what `auto` found. */
  readonly from: string;
  /** Absent when it can be asked; else why not, and what to do. */
  readonly trouble?: string;
}

/** How many ids of a lane are shown to a person; the document has them all. */
const shown = 12;

/**
 * The order in which models are tried, with reasons. With an id: that one leads from now on, written to the user's
 * model_config.json, which only a person decides: on a terminal, by an editor's picker, or with --yes. With `--ask` the
 * order is asked once, and an id leads that one question.
 *
 * @throws OrchError `model.unknown`, `model.not-kept`, `model.exhausted`, `config.invalid`, `file.invalid`
 */
export const model: AnywhereHandler = async (context, args, signal) => {
  const { settings } = context;
  if (settings.broken !== undefined) throw settings.broken;
  const [id] = args.words;
  if (id !== undefined) {
    requireModelId(id, "model");
    if (args.ask === undefined && !context.editor.interactive && !args.yes) {
      throw new OrchError("model.not-kept", `${id} was not written to model_config.json: nobody is here to decide`, {
        data: { model: id },
      });
    }
    if (args.ask === undefined) await mustBeListed(context, id, signal);
  }
  const order = await readOrder(context, id, signal, id !== undefined && args.ask === undefined);
  if (args.ask !== undefined) return askModels({ ...context, order, source: sourceOf(context) }, args.ask, signal);
  const lanes = await laneOffers(
    {
      env: context.machine.env,
      providers: settings.config.models.providers,
      pi: context.pi,
      askProviders: args.list === true,
    },
    signal,
  );
  const rows = await orderRows(context, order, signal);
  if (args.list === true)
    await noteOfferedModels(
      context,
      lanes.flatMap(({ models }) => models),
    );
  const data: ModelData = {
    order: rows,
    why: order.why,
    lanes,
    text: linesOf(rows, order.why, lanes, args.list === true),
  };
  return {
    ok: true,
    code: 0,
    summary: summaryOf(id, rows),
    next: id === undefined && args.list !== true ? ["orch model --list", "orch model <id>"] : ["orch do"],
    data,
  };
};

function summaryOf(id: string | undefined, rows: readonly OrderRow[]): string {
  if (id === autoId) return "auto decides from now on";
  const [first] = rows;
  if (id !== undefined) return `${id} leads from now on${first?.trouble === undefined ? "" : `, but ${first.trouble}`}`;
  return first === undefined ? "no model can be asked" : `${first.id} leads, ${count(rows.length, "model")} in all`;
}

/**
 * Where the endpoint, the server or pi that the id goes to says what it serves, the id must be among it. One that says
 * nothing now is believed: it may be off, or its key may come later.
 *
 * @throws OrchError `model.unknown` with near misses
 */
async function mustBeListed(context: AnywhereContext, id: string, signal: AbortSignal): Promise<void> {
  if (id === autoId) return;
  const { machine, settings, pi } = context;
  const { provider } = splitId(id);
  const { providers } = settings.config.models;
  const lanes = await laneOffers({ env: machine.env, providers, pi, askProviders: true, only: provider }, signal);
  const served = lanes.flatMap((lane) =>
    lane.usable ? lane.models.filter((one) => one.startsWith(`${provider}/`)) : [],
  );
  if (served.length === 0 || served.includes(id)) return;
  const near = nearMisses(id, served).slice(0, 3);
  throw new OrchError("model.unknown", `${provider} serves no model ${JSON.stringify(id)}`, {
    data: { known: (near.length === 0 ? served.slice(0, 3) : near).join(", "), command: "model" },
  });
}

export async function readOrder(
  { files, machine, settings, pi }: AnywhereContext,
  requested: string | undefined,
  signal: AbortSignal,
  persist = false,
): Promise<ModelOrder> {
  return await orderModels(
    {
      files,
      configDir: machine.configDir,
      maxModels: settings.config.models.max_models,
      ...(requested === undefined ? {} : { requested }),
      persist,
      piUsable: (stop) => pi.usable(stop),
      auto: (stop) => chooseModels({ env: machine.env, providers: settings.config.models.providers }, stop),
    },
    signal,
  );
}

/** Opening a model asks nobody on the network; it finds out whether its lane is there. */
export async function orderRows(
  context: AnywhereContext,
  order: ModelOrder,
  signal: AbortSignal,
): Promise<readonly OrderRow[]> {
  const source = sourceOf(context);
  const rows: OrderRow[] = [];
  for (const [index, id] of order.ids.entries()) {
    const opened = await source.open(id, signal);
    const trouble = opened.kind === "model" ? {} : { trouble: `${opened.why}. ${opened.hint}` };
    rows.push({ id, from: order.from[index] ?? "", ...trouble });
  }
  return rows;
}

/** The lanes as they are outside of a run: an editor's models are only there in one. */
function sourceOf({ files, process, ids, machine, settings, pi }: AnywhereContext): ModelSource {
  return createModelSource({
    files,
    process,
    ids,
    env: machine.env,
    stateDir: machine.stateDir,
    providers: settings.config.models.providers,
    pi,
    template: createTemplateModel({ files, installRoot: machine.installRoot }),
  });
}

function linesOf(
  rows: readonly OrderRow[],
  why: string,
  lanes: readonly LaneOffer[],
  list: boolean,
): readonly string[] {
  const width = Math.max(0, ...rows.map(({ id }) => id.length));
  const laneWidth = Math.max(...lanes.map(({ lane }) => lane.length));
  return [
    `Tried in this order: ${why}`,
    ...rows.flatMap(({ id, from, trouble }, index) => [
      `  ${index + 1}. ${id.padEnd(width)}  ${from}`,
      ...(trouble === undefined ? [] : [`     cannot be asked: ${trouble}`]),
    ]),
    "Lanes",
    ...lanes.flatMap(({ lane, usable, why: how, hint, models }) => [
      `  ${lane.padEnd(laneWidth)}  ${usable ? "usable" : "not usable"}: ${how}${hint === undefined ? "" : `. ${hint}`}`,
      ...(list ? models.slice(0, shown).map((id) => `    ${id}`) : []),
      ...(list && models.length > shown ? [`    and ${models.length - shown} more; all of them with --json`] : []),
    ]),
  ];
}
