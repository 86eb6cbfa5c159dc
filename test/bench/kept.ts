import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { sourceRoot } from "../support/source-root.ts";

/** A measurement beside a named reference of the same run: on another machine, or a busy one, only this can be compared. */
export interface Ratio {
  readonly what: string;
  readonly reference: string;
  readonly ratio: number;
  /** At most this; nothing fails for it, it is printed beside what was measured. */
  readonly goal?: number;
}

export interface Goal {
  readonly what: string;
  readonly measured: number;
  readonly goal: number;
  readonly unit: string;
}

/** Writes artifacts/bench/<name>.json, which a later run can be compared with, and prints it. */
export function keepBench(
  name: string,
  found: {
    readonly ratios: readonly Ratio[];
    readonly goals?: readonly Goal[];
    /** Everything that was measured, for reading. */
    readonly measured: Readonly<Record<string, unknown>>;
  },
): void {
  const machine = {
    cpus: os.cpus().length,
    model: os.cpus()[0]?.model ?? "",
    node: process.version,
    load: os.loadavg()[0] ?? 0,
  };
  const folder = path.join(sourceRoot, "artifacts/bench");
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${name}.json`), `${JSON.stringify({ name, machine, ...found }, null, 2)}\n`);
  const lines = [
    `${name}, load ${machine.load.toFixed(1)}`,
    ...found.ratios.map(
      ({ what, reference, ratio, goal }) =>
        `  ${what} / ${reference}: ${ratio.toFixed(2)} x${goal === undefined ? "" : `, goal ${goal}`}`,
    ),
    ...(found.goals ?? []).map(
      ({ what, measured, goal, unit }) => `  ${what}: ${measured.toFixed(1)} ${unit}, goal ${goal}`,
    ),
  ];
  process.stdout.write(`\n${lines.join("\n")}\n`);
}
