import { spawn } from "node:child_process";
import fs from "node:fs";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createLocks } from "../../shared/adapters/lock.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createSlots } from "../../shared/adapters/slots.ts";
import { absPath } from "../../shared/base/paths.ts";

/**
 * A runner's part in a process of its own: takes a place, starts a worker that does not want to end, tells both, and
 * either holds until it is killed (`hold`) or works in turns (`turns N`), telling each coming and going in `log`.
 */
const [state = "", log = "", what = "", times = "1"] = process.argv.slice(2);
const sweep = createProcess();
const slots = createSlots({
  locks: createLocks(sweep),
  sweep,
  files: createFiles(),
  clock: createClock(),
  stateDir: absPath(state),
  count: 3,
});
const signal = new AbortController().signal;
const tenant = { run: `r-${process.pid}`, contract: "A1", worker: "pi" };
const tell = (line: string): void => fs.appendFileSync(log, `${line}\n`);

if (what === "hold") {
  const slot = await slots.take(tenant, signal);
  const marker = `m-${process.pid}`;
  const code = 'process.on("SIGTERM", () => {}); process.send("up"); setInterval(() => {}, 1000);';
  const env = { ...process.env, ORCH_ATTEMPT: marker };
  const worker = spawn(process.execPath, ["-e", code], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    env,
  });
  await new Promise((resolve) => worker.once("message", resolve));
  worker.disconnect();
  const pid = worker.pid ?? 0;
  await slot.occupy({ pid, startTime: sweep.startTimeOf(pid) ?? "", marker });
  tell(`${slot.number} ${process.pid} ${pid}`);
  // Named for ever: a lock that nobody can reach any more is closed by the garbage collector.
  setInterval(() => slot.number, 1000);
} else {
  for (let turn = 0; turn < Number(times); turn += 1) {
    using _slot = await slots.take(tenant, signal);
    tell(`in ${process.pid}`);
    // The first to come wait for each other, so that three are inside at once on any machine.
    do await new Promise(setImmediate);
    while (fs.readFileSync(log, "utf8").split("in ").length < 4);
    tell(`out ${process.pid}`);
  }
}
