// What `npm run bench -- --compare FILE` says: the ratios of two runs side by side.
import { deepEqual } from "node:assert/strict";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { sourceRoot } from "./support/source-root.ts";

interface Compare {
  readonly ratiosOf: (document: unknown) => Map<string, number>;
  readonly compared: (before: Map<string, number>, now: Map<string, number>) => string[];
}

describe("bench, compared with an earlier run", () => {
  const load = async (): Promise<Compare> =>
    (await import(pathToFileURL(path.join(sourceRoot, ".ci/bench.mjs")).href)) as Compare;

  const engine = (ratio: number) => ({ name: "engine", ratios: [{ what: "wall", reference: "raw calls", ratio }] });
  const qa = {
    goals: [
      { what: "warm / cold", unit: "x", measured: 0.05 },
      { what: "peak memory", unit: "MiB", measured: 140 },
    ],
  };

  it("reads the file of one bench and of a whole run", async () => {
    const { ratiosOf } = await load();
    deepEqual([...ratiosOf(engine(2))], [["engine: wall / raw calls", 2]]);
    deepEqual(
      [...ratiosOf({ benches: { engine: engine(2), qa } })],
      [
        ["engine: wall / raw calls", 2],
        ["qa: warm / cold", 0.05],
      ],
    );
  });

  it("says what got slower, what got faster, what is new and what is gone", async () => {
    const { compared } = await load();
    const before = new Map([
      ["a", 1],
      ["b", 1],
      ["c", 1],
      ["gone", 1],
    ]);
    const now = new Map([
      ["a", 1.05],
      ["b", 1.5],
      ["c", 0.5],
      ["new", 2],
    ]);
    deepEqual(
      compared(before, now).map((line) => line.replace(/ +/g, " ")),
      [
        "Ratio before now change",
        "a 1.00 1.05 +5 %",
        "b 1.00 1.50 +50 % slower",
        "c 1.00 0.50 -50 % faster",
        "gone 1.00 - -",
        "new - 2.00 -",
      ],
    );
  });
});
