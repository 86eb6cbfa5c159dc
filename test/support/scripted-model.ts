import { abortError } from "../../shared/base/abort.ts";
import type { Completion, Model, ModelRequest, ModelSource, OpenedModel } from "../../shared/ports/model.ts";
import { unknownUsage } from "../../shared/model/usage.ts";

/** What a scripted model does when it is asked: answer with the text ("hang": wait for ever), say something else, or break. */
export type ScriptedSaid = string | Omit<Extract<Completion, { kind: "failed" }>, "model"> | Completion | Error;

/** A model that gives the listed answers in order, the last one again and again, and keeps what it was asked. */
export class ScriptedModel implements Model {
  readonly id: string;
  readonly lane = "openai";
  readonly asked: ModelRequest[] = [];
  readonly #script: readonly ScriptedSaid[];

  constructor(id: string, ...script: readonly ScriptedSaid[]) {
    this.id = id;
    this.#script = script;
  }

  get provider(): string {
    return this.id.split("/")[0] ?? this.id;
  }

  complete(request: ModelRequest, signal: AbortSignal): Promise<Completion> {
    this.asked.push(request);
    const said = this.#script[Math.min(this.asked.length, this.#script.length) - 1];
    if (said === undefined || said === "hang") {
      return new Promise((_, reject) =>
        signal.addEventListener("abort", () => reject(abortError(signal)), { once: true }),
      );
    }
    if (said instanceof Error) return Promise.reject(said);
    if (typeof said === "string")
      return Promise.resolve({ kind: "ok", text: said, model: this.id, usage: unknownUsage });
    return Promise.resolve({ model: this.id, ...said } as Completion);
  }
}

/** Opens the models it was given; any other id is unavailable. */
export function scriptedSource(models: readonly Model[]): ModelSource & { readonly opened: string[] } {
  const opened: string[] = [];
  return {
    opened,
    open(id): Promise<OpenedModel> {
      opened.push(id);
      const model = models.find((one) => one.id === id);
      return Promise.resolve(
        model ? { kind: "model", model } : { kind: "unavailable", why: `${id} is not here`, hint: "Install it" },
      );
    },
  };
}
