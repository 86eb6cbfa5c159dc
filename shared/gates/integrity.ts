import type { Finding } from "../model/finding.ts";
import type { Gate } from "../ports/gate.ts";
import type { Audit } from "./audit.ts";
import { ran } from "./gate-finding.ts";

/** Rules that look at lines for what the gate `tests` sees in the syntax tree. */
const seenInTree: ReadonlySet<string> = new Set([
  "skip_marker",
  "focus_marker",
  "assertion_removed",
  "assertion_weakened",
  "assertion_weakened.exact",
  "vacuous_test",
]);

/**
 * Does the change play fair? Secrets, conflict markers, leftovers, forced outcomes: the rulebook's integrity group over
 * the change's lines, files and tree. Where the tests' own tree is read, the lines say nothing that it says better.
 */
export function createIntegrityGate(audit: Audit, readsTree: (path: string) => boolean = () => false): Gate {
  return {
    id: "integrity",
    phase: "change",
    run: async (input, signal) => {
      const found = await audit.findings(input, "integrity", signal);
      return ran(found.filter((one) => !isSeenInTree(one, readsTree)));
    },
  };
}

function isSeenInTree({ rule, path }: Finding, readsTree: (path: string) => boolean): boolean {
  return path !== undefined && seenInTree.has(rule) && readsTree(path);
}
