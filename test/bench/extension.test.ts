// How soon the status bar shows what happened, and what activation costs, in the real extension host.
import { ok } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { hasBrowser } from "../extension/harness/browser.ts";
import { runInHost } from "../extension/harness/host-run.ts";
import { ROOT } from "../extension/harness/server.ts";
import { makeTempRepo } from "../support/temp-repo.ts";
import { keepBench } from "./kept.ts";
import { median } from "./measured.ts";

interface Found {
  readonly activationMs: number;
  readonly activationCpuMs: number;
  readonly watched: readonly number[];
  readonly shown: readonly number[];
}

const late = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? Number.NaN;

describe("bench: the extension host", () => {
  it("event to status bar, activation", async function () {
    if (!hasBrowser()) this.skip();
    await using repo = await makeTempRepo({ files: { ".features.json": "{}\n" } });
    const file = path.join(repo.base, "speed.json");
    const artifacts = path.join(ROOT, "artifacts/bench/extension-host");
    const options = { env: { ...repo.env, ORCH_BENCH_RESULTS: file } };
    await runInHost({ files: ["speed"], folder: repo.root, options, timeoutMs: 300_000, artifacts });
    const found = JSON.parse(fs.readFileSync(file, "utf8")) as Found;
    ok(found.shown.length > 0);
    const ratio = median(found.shown) / median(found.watched);
    keepBench("extension", {
      ratios: [{ what: "event to status bar", reference: "a watched file in the same host", ratio }],
      goals: [
        { what: "event to status bar, 95 of 100", measured: late(found.shown), goal: 100, unit: "ms" },
        { what: "activation", measured: found.activationMs, goal: 20, unit: "ms" },
        { what: "activation, of the processor", measured: found.activationCpuMs, goal: 20, unit: "ms" },
      ],
      measured: { ...found },
    });
  });
});
