import { OrchError } from "../model/error.ts";
import type { StateChange } from "../model/state-change.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { ran } from "./gate-finding.ts";

/**
 * Did something change that no diff shows, and nobody can say whose it is? A person may have changed git's configuration
 * while the worker ran, and that is no fault of the work: the gate is broken then, so that a lead decides, over whatever
 * else was found: a worker that plants a hook could leave a lesser fault beside it, to be asked again and forgotten. What
 * is traced to the worker is a finding of the gate `observed`.
 */
export function createRepositorySealGate(changes: (input: GateInput) => readonly StateChange[]): Gate {
  return {
    id: "repository-seal",
    phase: "change",
    always: true,
    run(input) {
      const untraced = changes(input).filter(({ traced }) => !traced);
      if (untraced.length === 0) return Promise.resolve(ran([]));
      const what = untraced.map((one) => one.what);
      const whys = [...new Set(untraced.map(({ why }) => why))].join("; ");
      const error = new OrchError("repository.changed", `${named(what)} changed during the attempt: ${whys}`, {
        data: { what },
      });
      return Promise.resolve({ kind: "broken", error, decides: true });
    },
  };
}

const maxNamed = 10;

function named(what: readonly string[]): string {
  const more = what.length - maxNamed;
  return `${what.slice(0, maxNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
