import { createSlots } from "../../adapters/slots.ts";
import { thisProcess } from "../../adapters/this-process.ts";
import { maxWorkers } from "../../model/run.ts";
import type { AnywhereContext } from "../anywhere.ts";
import { type CheckRow, ok, refusedRow } from "./check.ts";

const asYou = "workers and checks run as you, with a home and variables of their own";

/** What holds on this machine and what does not, said plainly: each of them was tried or looked at just now. */
export async function protectionRows(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  return [
    ok("protections", "trust by content, git without the repository's programs, secrets taken out of prompts and logs"),
    await sandboxRow(context, signal),
    processRow(context),
    await slotsRow(context),
    ok(
      "seal",
      "git's settings, hooks and attributes are compared around every attempt of a worker: what is surely its own is put back, the rest is left for you to decide about, and no hook runs before",
    ),
  ];
}

async function sandboxRow({ sandbox, settings }: AnywhereContext, signal: AbortSignal): Promise<CheckRow> {
  const wanted = settings.config.sandbox;
  if (wanted === "off") return ok("sandbox", `off in the settings: ${asYou}`);
  const state = await sandbox.state(signal);
  if (state.kind === "on") return ok("sandbox", `${state.what} (sandbox is "${wanted}")`);
  return {
    title: "sandbox",
    state: wanted === "required" ? "fail" : "warn",
    what:
      wanted === "required"
        ? `sandbox is "required", and there is none: ${state.why}`
        : `none, so ${asYou}: ${state.why}`,
    next: state.hint,
  };
}

/** The sweep is tried on this very process, without ending anything. */
function processRow({ process }: AnywhereContext): CheckRow {
  const { pid, platform } = thisProcess();
  const start = process.startTimeOf(pid);
  if (start !== undefined && process.isAlive(pid, start)) {
    return ok(
      "process trees",
      platform === "win32"
        ? "programs are ended with what they started, as far as Windows keeps the tree"
        : "programs are ended with what they started; leftovers are found by their mark and folder",
    );
  }
  return {
    title: "process trees",
    state: "fail",
    what: "this system does not tell which processes run, so leftovers cannot be found",
    next: platform === "linux" ? "Mount /proc" : "Install ps",
  };
}

async function slotsRow({ locks, process, files, clock, machine }: AnywhereContext): Promise<CheckRow> {
  try {
    const slots = createSlots({ locks, sweep: process, files, clock, stateDir: machine.stateDir, count: maxWorkers });
    const states = await slots.list();
    const taken = states.flatMap((state) => (state.kind === "taken" ? [state] : []));
    const names = taken.map(({ number, tenant }) =>
      tenant === undefined ? `${number}` : `${number}: ${tenant.worker} on ${tenant.contract}, run ${tenant.run}`,
    );
    return ok("worker slots", `at most ${slots.count} workers are alive on this machine, ${taken.length} now`, names);
  } catch (error) {
    return refusedRow("worker slots", "fail", error);
  }
}
