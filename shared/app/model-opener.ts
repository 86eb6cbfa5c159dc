import { chooseModels } from "../adapters/model-auto.ts";
import { createEditorModels } from "../adapters/model-editor.ts";
import { createModelSource } from "../adapters/model-source.ts";
import { createTemplateModel } from "./template/template-model.ts";
import { createPiProbe } from "../adapters/pi-probe.ts";
import { createChain } from "../engine/chain.ts";
import type { Config } from "../model/config.ts";
import { autoId } from "../model/model-ids.ts";
import type { Model, ModelSource, OpenedModel } from "../ports/model.ts";
import type { CommandArgs, RepoContext } from "./context.ts";
import { keepModel, keptWhenItAnswers, orderModels } from "./models.ts";
import type { SpecContext } from "./spec-draft.ts";

export interface ModelOpener {
  /** The models of a call as one model: the order is read once, told, and tried as a chain. */
  readonly open: SpecContext["openModel"];
  /** Exactly this model, for a contract that names it as its worker. */
  readonly named: (id: string) => Model;
}

export function createModelOpener(context: RepoContext, wiring: { readonly nodePath: string }): ModelOpener {
  const { files, process, ids, machine, config, sink, clock } = context;
  const { env, stateDir, cacheDir, configDir } = machine;
  const pi = createPiProbe({
    files,
    process,
    ids,
    env,
    nodePath: wiring.nodePath,
    stateDir,
    cacheDir,
    ...piCommand(config.workers),
  });
  const marker = context.run;
  const sourceOf = (): ModelSource =>
    createModelSource({
      files,
      process,
      ids,
      env,
      stateDir,
      providers: config.models.providers,
      pi,
      editorModels: createEditorModels({ files, clock, ids, sink, runDir: context.runDir }),
      template: createTemplateModel({ files, installRoot: machine.installRoot }),
      marker,
      onStart: (pid, startTime) => sink.append({ type: "process.started", pid, startTime, marker, what: "model" }),
    });
  const chainOf = (chain: readonly string[]): Model => createChain({ ids: chain, source: sourceOf(), sink, clock });
  const open: SpecContext["openModel"] = async (args: CommandArgs, signal: AbortSignal) => {
    const order = await orderModels(
      {
        files,
        configDir,
        maxModels: config.models.max_models,
        ...(args.model === undefined ? {} : { requested: args.model }),
        persist: args.input && !args.dryRun && args.model === autoId,
        piUsable: (stop) => pi.usable(stop),
        auto: (stop) => chooseModels({ env, providers: config.models.providers }, stop),
      },
      signal,
    );
    if (order.ids.length === 0) return { kind: "unavailable", why: order.why, hint: "Name one with --model" };
    sink.append({ type: "model.chosen", models: [...order.ids], why: order.why });
    if (args.dryRun) return await firstOpen(sourceOf(), order.ids, signal);
    const model = chainOf(order.ids);
    const asked = args.model;
    if (asked === undefined || asked === autoId || !args.input) return { kind: "model", model };
    return { kind: "model", model: keptWhenItAnswers(model, asked, () => keepModel({ files, configDir }, asked)) };
  };
  return { open, named: (id) => chainOf([id]) };
}

/** For a dry run: a lane that is not there shows without anybody being asked. */
async function firstOpen(source: ModelSource, ids: readonly string[], signal: AbortSignal): Promise<OpenedModel> {
  const closed: Extract<OpenedModel, { readonly kind: "unavailable" }>[] = [];
  for (const id of ids) {
    const opened = await source.open(id, signal);
    if (opened.kind === "model") return opened;
    closed.push({ ...opened, why: `${id}: ${opened.why}` });
  }
  return closed[0] ?? { kind: "unavailable", why: "there is none", hint: "Name one with --model" };
}

/** `workers.pi.command`: where pi is, when it is not on PATH. */
export function piCommand({ pi }: Config["workers"]): { readonly command?: string } {
  return pi?.command === undefined ? {} : { command: pi.command };
}
