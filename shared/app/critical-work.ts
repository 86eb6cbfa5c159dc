import { globMatcher } from "../base/paths.ts";
import type { Contract } from "../model/contract.ts";

/**
 * What counts as critical: money or ledgers, auth, concurrency, security, migrations. A table of paths and words, used
 * by `route`, `check` and the ladder; a change of what is critical is a change here.
 */
interface CriticalArea {
  readonly area: string;
  readonly paths: readonly string[];
  readonly words: readonly string[];
}

const criticalTable: readonly CriticalArea[] = [
  {
    area: "money or ledgers",
    paths: ["**/billing/**", "**/payments/**", "**/payment/**", "**/ledger/**", "**/invoices/**", "**/accounting/**"],
    words: ["money", "ledger", "payment", "payout", "refund", "invoice total", "currency", "double entry", "balance"],
  },
  {
    area: "auth",
    paths: ["**/auth/**", "**/login/**", "**/sessions/**", "**/permissions/**", "**/oauth/**", "**/acl/**"],
    words: ["auth", "authentication", "authorization", "login", "password", "permission", "session token", "oauth"],
  },
  {
    area: "concurrency",
    paths: ["**/locks/**", "**/scheduler/**", "**/concurrency/**"],
    words: ["race condition", "deadlock", "mutex", "concurrency", "concurrent", "lock-free", "thread safety", "atomic"],
  },
  {
    area: "security",
    paths: ["**/crypto/**", "**/security/**", "**/secrets/**"],
    words: [
      "security",
      "encrypt",
      "decrypt",
      "signature check",
      "sanitize",
      "sandbox",
      "secret",
      "vulnerability",
      "csrf",
    ],
  },
  {
    area: "migrations",
    paths: ["**/migrations/**", "**/migrate/**", "**/alembic/**"],
    words: ["migration", "migrate", "schema change", "backfill", "data loss"],
  },
];

/** The area a task belongs to by its words, or by the files it may change; undefined for ordinary work. */
export function criticalArea(task: { readonly text: string; readonly paths: readonly string[] }): string | undefined {
  const words = task.text.toLowerCase();
  return criticalTable.find(
    ({ paths, words: known }) =>
      known.some((word) => new RegExp(`\\b${word}(?:s|es|d|ed|ing)?\\b`).test(words)) ||
      task.paths.some(globMatcher(paths)),
  )?.area;
}

/** Everything that was thought out for a weaker worker on critical work: all plan fields, and hidden checks. */
function isFullyPlanned(contract: Contract): boolean {
  const { approach, pattern_refs: patterns, examples, rules, acceptance, hidden_checks: hidden } = contract;
  return [approach, patterns, examples, rules, acceptance, hidden].every((list) => list.length > 0);
}

export interface Pinned<W> {
  readonly ladder: readonly W[];
  readonly refused: readonly { readonly id: string; readonly why: string }[];
}

/**
 * Critical work goes to opus, or to sonnet when everything is planned and checked in hiding; the settings' own ladder
 * for it counts as a person's word. Other kinds pass through.
 */
export function pinCritical<W extends { readonly id: string }>(
  contract: Contract,
  ladder: readonly W[],
  own: readonly string[] = [],
): Pinned<W> {
  if (contract.kind !== "critical") return { ladder, refused: [] };
  const refused: { readonly id: string; readonly why: string }[] = [];
  const kept = ladder.filter(({ id }) => {
    const why = refusal(contract, id, own);
    if (why !== undefined) refused.push({ id, why });
    return why === undefined;
  });
  return { ladder: kept, refused };
}

function refusal(contract: Contract, id: string, own: readonly string[]): string | undefined {
  if (id === "opus" || own.includes(id)) return undefined;
  if (id !== "sonnet") return "critical work goes to opus, or to what ladders.critical of the settings names";
  if (isFullyPlanned(contract)) return undefined;
  return "critical work goes to sonnet only with approach, pattern_refs, examples, rules, acceptance and hidden checks";
}
