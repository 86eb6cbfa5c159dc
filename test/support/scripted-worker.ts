import { repoPath } from "../../shared/base/paths.ts";
import type { WorkerReport } from "../../shared/model/attempt.ts";
import { zeroUsage } from "../../shared/model/usage.ts";
import type { Worker, WorkerOrder } from "../../shared/ports/worker.ts";

export interface Turn {
  readonly files?: Readonly<Record<string, string>>;
  readonly report?: Partial<WorkerReport>;
  /** Runs before the files are written: to abort, to throw, to edit as a person would. */
  readonly before?: (order: WorkerOrder, signal: AbortSignal) => void | Promise<void>;
}

/** Does what its turns say, one for each attempt; the last turn is repeated. */
export class ScriptedWorker implements Worker {
  readonly id: string;
  readonly can: Worker["can"];
  readonly orders: WorkerOrder[] = [];
  readonly #turns: readonly Turn[];

  constructor(turns: readonly Turn[], options: { readonly id?: string; readonly resume?: boolean } = {}) {
    this.#turns = turns;
    this.id = options.id ?? "scripted";
    this.can = { resume: options.resume ?? false, supervise: false, write: false };
  }

  async run(order: WorkerOrder, signal: AbortSignal): Promise<WorkerReport> {
    const turn = this.#turns[Math.min(this.orders.length, this.#turns.length - 1)] ?? {};
    this.orders.push(order);
    await turn.before?.(order, signal);
    signal.throwIfAborted();
    const data = Object.entries(turn.files ?? {}).flatMap(([path, text]) => {
      const at = repoPath(path);
      return at === undefined ? [] : [{ path: at, data: new TextEncoder().encode(text) }];
    });
    if (data.length > 0) await order.workspace.write(data, signal);
    return {
      kind: "done",
      summary: "wrote what the script says",
      claims: data.map(({ path }) => path as string),
      concerns: [],
      refused: [],
      problems: [],
      usage: zeroUsage,
      durationMs: 5,
      ...turn.report,
    };
  }
}
