import { isAbort, raceAbort } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { isOrchError } from "../../model/error.ts";
import type { AnywhereContext, AnywhereHandler } from "../anywhere.ts";
import type { Check, CheckRow } from "../doctor/check.ts";
import { checks } from "../doctor/checks.ts";

/** The document of `doctor --json`. */
export interface DoctorData {
  readonly checks: readonly DoctorRow[];
  readonly text: readonly string[];
  /** The same with every detail. */
  readonly verboseText: readonly string[];
}

export interface DoctorRow {
  readonly id: string;
  readonly title: string;
  readonly state: CheckRow["state"];
  readonly what: string;
  readonly next?: string;
  readonly list?: readonly string[];
  readonly details?: readonly string[];
  readonly workers?: CheckRow["workers"];
  /** What `--fix` would do, or did. */
  readonly mend?: { readonly what: string; readonly done: boolean };
}

const lookMs = 60_000;
const maxNext = 4;

/**
 * Looks at everything Orch stands on, one line each, and changes nothing. With `--fix` it does what is safe, and asks a
 * person about the rest. A check that takes too long or breaks is a line of its own; the others still answer.
 */
export const doctor: AnywhereHandler = async (context, args, signal) => {
  const found = await Promise.all(checks.map((check) => looked(check, context, signal)));
  const rows: DoctorRow[] = [];
  for (const [index, lines] of found.entries()) {
    const id = checks[index]?.id ?? "";
    for (const row of lines) rows.push(await mended(context, id, row, args.fix === true, signal));
  }
  const fails = rows.filter(({ state }) => state === "fail").length;
  const warns = rows.filter(({ state }) => state === "warn").length;
  const done = rows.filter(({ mend }) => mend?.done === true).length;
  return {
    ok: fails === 0,
    code: fails === 0 ? 0 : 1,
    summary: [
      fails + warns === 0
        ? "everything Orch needs is here"
        : [...(fails > 0 ? [count(fails, "failure")] : []), ...(warns > 0 ? [count(warns, "warning")] : [])].join(", "),
      ...(done > 0 ? [`${done} mended`] : []),
    ].join(", "),
    next: nextOf(rows, args.fix === true),
    data: { checks: rows, text: textOf(rows, false), verboseText: textOf(rows, true) } satisfies DoctorData,
  };
};

async function looked(check: Check, context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const late = AbortSignal.timeout(lookMs);
  const stop = AbortSignal.any([signal, late]);
  try {
    return await raceAbort(check.look(context, stop), stop);
  } catch (error) {
    if (signal.aborted) throw error;
    if (late.aborted)
      return [
        {
          title: check.id,
          state: "fail",
          what: `no answer within ${lookMs / 1000} s`,
          next: "Run it again: orch doctor",
        },
      ];
    if (isAbort(error)) throw error;
    const next = isOrchError(error) ? error.hint : "Report it with this line";
    return [{ title: check.id, state: "fail", what: error instanceof Error ? error.message : String(error), next }];
  }
}

async function mended(
  context: AnywhereContext,
  id: string,
  row: CheckRow,
  fix: boolean,
  signal: AbortSignal,
): Promise<DoctorRow> {
  const { mend, ...line } = row;
  if (mend === undefined) return { id, ...line };
  const wanted = fix && (mend.how === "safe" || (await saysYes(context, mend.what, row.what, signal)));
  if (!wanted) return { id, ...line, mend: { what: mend.what, done: false } };
  try {
    const { next: _done, ...rest } = line;
    return { id, ...rest, state: "ok", what: `mended: ${await mend.apply()}`, mend: { what: mend.what, done: true } };
  } catch (error) {
    if (!isOrchError(error)) throw error;
    return {
      id,
      ...line,
      what: `${row.what}; not mended: ${error.message}`,
      next: error.hint,
      mend: { what: mend.what, done: false },
    };
  }
}

/** Nobody there means no: what waits for a person stays as it is, and its line says how to do it. */
async function saysYes(
  { editor }: AnywhereContext,
  what: string,
  detail: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (!editor.interactive) return false;
  const choices = [
    { id: "yes", label: what },
    { id: "no", label: "Leave it" },
  ];
  const answer = await editor.ask(
    { kind: "confirm", weight: "question", title: `${what}?`, detail, choices, otherwise: "no" },
    signal,
  );
  return answer?.choice === "yes";
}

/** Failures first; only what can be typed. */
function nextOf(rows: readonly DoctorRow[], fixed: boolean): readonly string[] {
  const open = [...rows.filter(({ state }) => state === "fail"), ...rows.filter(({ state }) => state === "warn")];
  const typed = open.flatMap(({ next, mend }) => {
    if (!fixed && mend !== undefined) return ["orch doctor --fix"];
    return next !== undefined && /^(?:orch|git) \S/.test(next) ? [next] : [];
  });
  return [...new Set(typed)].slice(0, maxNext);
}

/** Columns: state, title, what; below it the list and the next keystroke. */
function textOf(rows: readonly DoctorRow[], verbose: boolean): readonly string[] {
  const width = Math.max(...rows.map(({ title }) => title.length));
  const indent = " ".repeat(width + 8);
  return rows.flatMap(({ title, state, what, next, list, details }) => [
    `${state.padEnd(4)}  ${title.padEnd(width)}  ${what}`,
    ...[...(list ?? []), ...(verbose ? (details ?? []) : [])].map((line) => `${indent}${line}`),
    ...(next === undefined ? [] : [`${indent}${next}`]),
  ]);
}
