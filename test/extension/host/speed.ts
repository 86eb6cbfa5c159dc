// Measured in the extension host for npm run bench; nothing here fails for being slow.
import fs from "node:fs";
import path from "node:path";
import { beginDo, endDo, scriptedRun } from "./scripted-run.ts";
import { activated, folder, host, until } from "./window.ts";

const samples = 40;

async function delays(append: (n: number) => void, seen: (n: number) => boolean): Promise<number[]> {
  const found: number[] = [];
  for (let n = 1; n <= samples; n += 1) {
    const began = performance.now();
    append(n);
    while (!seen(n)) await new Promise((resolve) => setImmediate(resolve));
    found.push(performance.now() - began);
  }
  return found;
}

describe("speed in the extension host", () => {
  it("is measured", async () => {
    const { activationMs, activationCpuMs } = await activated();
    const { status } = await host();
    // The reference: a watched file alone, in the same process and at the same time.
    const file = path.join(folder(), "watched.txt");
    fs.writeFileSync(file, "");
    let size = 0;
    const watcher = fs.watch(file, () => (size = fs.statSync(file).size));
    const watched = await delays(
      () => fs.appendFileSync(file, "x"),
      (n) => size === n,
    );
    watcher.close();
    fs.rmSync(file);

    const { log, run, leave } = await scriptedRun(folder());
    beginDo(log, "Quick");
    await until("the run", () => status().text.includes("Quick running"));
    const shown = await delays(
      (n) => log.append({ type: "gate.started", contract: "Quick", attempt: 1, gate: `gate-${n}` }),
      (n) => status().text.includes(`gate-${n})`),
    );
    endDo(log, true, "Quick");
    leave();
    await until("the end", () => status().text.includes("passed"));
    fs.rmSync(path.join(folder(), ".orch/runs", run), { recursive: true });
    const at = process.env["ORCH_BENCH_RESULTS"];
    if (at !== undefined) fs.writeFileSync(at, JSON.stringify({ activationMs, activationCpuMs, watched, shown }));
  });
});
