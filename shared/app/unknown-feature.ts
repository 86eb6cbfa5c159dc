import { nearTargets } from "../features/resolve.ts";
import { OrchError } from "../model/error.ts";
import { type Target, targetText } from "../model/target.ts";
import type { RepoContext } from "./context.ts";

export interface Unknown {
  readonly target: Target;
  /** What there is instead. */
  readonly known: readonly Target[];
  /** The command with which the right name alone is a whole line. */
  readonly command?: string;
  readonly message?: string;
}

/** Refuses a feature that is not there: by another spelling it may be, or it was removed and can come back. */
export async function unknownFeature({ trash }: Pick<RepoContext, "trash">, unknown: Unknown): Promise<OrchError> {
  const { target, known, command, message = `there is no feature ${targetText(target)}` } = unknown;
  const text = targetText(target);
  const spelled = known.map(targetText).find((one) => one.toLowerCase() === text.toLowerCase());
  if (spelled !== undefined) {
    return new OrchError("target.unknown", `${message}; ${spelled} differs from it by case only`, {
      data: { target: text, near: spelled, case: true, ...(command === undefined ? {} : { command }) },
    });
  }
  const removed = (await trash.list()).find(({ by, what }) => (by === "undo" || by === "delete") && what === text);
  const near = nearTargets(target, known);
  return new OrchError("target.unknown", message, {
    data: {
      target: text,
      ...(removed === undefined ? {} : { removed: removed.id }),
      ...(near.length === 0 ? {} : { near: near.join(", ") }),
    },
  });
}
