import { splitId } from "../adapters/model-source.ts";
import { nearMisses } from "../features/names.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import { autoId } from "../model/model-ids.ts";
import { familiarModels } from "./familiar-models.ts";

/**
 * Whether `--model` can be an id at all, asked before a command finds out that it needs no model.
 *
 * @throws OrchError `model.unknown` with near misses
 */
export function requireModelId(id: string | undefined, command?: string): void {
  if (id === undefined || id === autoId) return;
  try {
    splitId(id);
  } catch (error) {
    const near = [...nearMisses(id, familiarModels), ...familiarModels.filter((one) => one.endsWith(`/${id}`))];
    if (!isOrchError(error)) throw error;
    throw new OrchError(error.code, error.message, {
      data: {
        ...error.data,
        ...(near.length === 0 ? {} : { known: [...new Set(near)].join(", ") }),
        ...(command === undefined ? {} : { command }),
      },
    });
  }
}
