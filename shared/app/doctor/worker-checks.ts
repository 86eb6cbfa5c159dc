import { count } from "../../base/lines.ts";
import type { AnywhereContext } from "../anywhere.ts";
import type { WorkerRow } from "../worker-row.ts";
import { workerRows } from "../workers.ts";
import { type CheckRow, ok } from "./check.ts";

/**
 * The table of workers: which of them can be used here, what they can do and what they tell of their cost. One that is
 * missing is no fault, for a ladder goes on without it; that none is there stops contracts, and features do not need one.
 */
export async function workerTableRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { settings } = context;
  const rows = await workerRows({ ...context, config: settings.config });
  const usable = rows.filter(({ state }) => state === "usable");
  const others = rows.filter(({ state }) => state !== "usable");
  const broken = others.filter(({ state }) => state === "invalid" || state === "too old");
  const absent = others.filter((row) => !broken.includes(row));
  const missing = absent.filter(({ state }) => state === "missing");
  const list = [
    ...usable.map(usableText),
    ...broken.map(otherText),
    ...byReason(absent.filter((row) => !missing.includes(row))),
    ...(missing.length === 0
      ? []
      : [`not here: ${idsOf(missing)}. What each can do and how it comes here: orch doctor --verbose`]),
  ];
  const details = absent.map(absentText);
  const what =
    usable.length === 0
      ? `none of ${count(rows.length, "worker")} can be used, which only contracts need`
      : `${usable.length} of ${count(rows.length, "worker")} can be used`;
  const row = { ...ok("workers", what, list), workers: rows, ...(details.length === 0 ? {} : { details }) };
  const [first] = broken;
  if (first === undefined) return [row];
  return [{ ...row, state: "warn", ...(first.hint === undefined ? {} : { next: first.hint }) }];
}

function usableText(row: WorkerRow): string {
  const { id, client, model, version, measured } = row;
  const who = model === undefined ? client : `${client}, ${model}`;
  const told = [...abilities(row), ...(measured === undefined ? [] : [measured])].join("; ");
  return `${id}: ${who}${version === undefined ? "" : ` ${version}`}; ${told}`;
}

function abilities({ tier, capability, cost }: WorkerRow): readonly string[] {
  return capability === "" ? [] : [capability, `cost ${cost}`, tier];
}

function idsOf(rows: readonly WorkerRow[]): string {
  return rows.map(({ id }) => id).join(", ");
}

/** Those that wait for the same are one line: `rx-acp, rx-acp-max: needs live supervision (not in this version)`. */
function byReason(rows: readonly WorkerRow[]): readonly string[] {
  return [...Map.groupBy(rows, ({ why, state }) => why ?? state)].map(([why, same]) => `${idsOf(same)}: ${why}`);
}

function absentText(row: WorkerRow): string {
  const able = row.state === "missing" ? abilities(row) : [];
  return able.length === 0 ? otherText(row) : `${otherText(row)}. What it can do: ${able.join("; ")}`;
}

function otherText({ id, state, why, hint }: WorkerRow): string {
  const next = state === "missing" && hint !== undefined ? `. ${hint}` : "";
  return `${id}: ${why ?? state}${next}`;
}
