import { randomUUID } from "node:crypto";
import fs from "node:fs";
import * as z from "zod";
import { throwIfAborted } from "../base/abort.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import type { Clock } from "../ports/clock.ts";
import type { Files } from "../ports/files.ts";
import type { HeldLock, Locks } from "../ports/lock.ts";
import type { ProcessSweep } from "../ports/process.ts";
import type { PreparedSlot, Slot, SlotProcess, Slots, SlotState, SlotTenant } from "../ports/slots.ts";

export interface SlotsDeps {
  readonly locks: Locks;
  readonly sweep: Pick<ProcessSweep, "endIfSame" | "endLeftovers" | "isAlive" | "withMarker">;
  readonly files: Files;
  readonly clock: Clock;
  /** The user's own, so that all repositories, windows and processes of a person count together. */
  readonly stateDir: AbsPath;
  readonly count: number;
}

const pollMs = 100;
/** Somebody's look at a place takes moments; giving one back may have to wait for it. */
const releaseTries = 50;

const Tenant = z.object({ run: z.string(), contract: z.string(), worker: z.string() });
const Record = z.discriminatedUnion("kind", [
  z.object({
    v: z.literal(1),
    kind: z.literal("worker"),
    tenant: Tenant,
    processes: z.array(z.object({ pid: z.number(), startTime: z.string(), marker: z.string() })),
  }),
  z.object({ v: z.literal(1), kind: z.literal("prepared"), tenant: Tenant, token: z.string(), until: z.number() }),
]);
type Record = z.infer<typeof Record>;

/**
 * `<state>/slots/slot-N.db` is the lock, `slot-N.json` beside it says who lives there: written under the lock only. A
 * record without a holder is a dead runner's (whatever it names is ended before the place is given out) or that of a
 * prepared place, which counts as taken until its time is over.
 */
export function createSlots(deps: SlotsDeps): Slots {
  const numbers = Array.from({ length: deps.count }, (_, index) => index + 1);
  const lockAt = (number: number): AbsPath => inRoot(deps.stateDir, `slots/slot-${number}.db`);
  const recordAt = (number: number): AbsPath => inRoot(deps.stateDir, `slots/slot-${number}.json`);

  const readRecord = async (number: number): Promise<Record | undefined> => {
    const text = await deps.files.readText(recordAt(number));
    try {
      return text === undefined ? undefined : Record.parse(JSON.parse(text));
    } catch {
      return undefined; // of another version, or a person's edit: it names nobody we could end
    }
  };
  const writeRecord = (number: number, record: Record): Promise<void> =>
    deps.files.write(recordAt(number), `${JSON.stringify(record)}\n`, { mode: 0o600 });

  const isPrepared = (record: Record | undefined): record is Extract<Record, { kind: "prepared" }> =>
    record?.kind === "prepared" && record.until > deps.clock.now();

  /** The place's lock when nobody lives there and nothing of a dead runner could stay alive. */
  const enter = async (number: number, tenant: SlotTenant): Promise<HeldLock | undefined> => {
    // `try` waits for a moment where another holds it; a look does not.
    if (!deps.locks.isFree(lockAt(number)) || isPrepared(await readRecord(number))) return undefined;
    const taken = deps.locks.try(lockAt(number), { run: tenant.run, host: "orch", what: `worker ${tenant.worker}` });
    if (taken.kind === "busy") return undefined;
    let kept = false;
    try {
      const record = await readRecord(number);
      if (isPrepared(record)) return undefined;
      if (record?.kind === "worker" && !(await endDead(deps.sweep, record.processes))) return undefined;
      kept = true;
      return taken.lock;
    } finally {
      if (!kept) taken.lock[Symbol.dispose]();
    }
  };

  const list = async (): Promise<SlotState[]> => {
    const states: SlotState[] = [];
    for (const number of numbers) {
      const free = deps.locks.isFree(lockAt(number));
      const record = await readRecord(number);
      if (isPrepared(record)) states.push({ number, kind: "taken", tenant: record.tenant, until: record.until });
      else if (!free)
        states.push({ number, kind: "taken", ...(record?.kind === "worker" ? { tenant: record.tenant } : {}) });
      else states.push({ number, kind: "free" });
    }
    return states;
  };

  return {
    count: deps.count,
    list,
    async take(tenant, signal, onWait) {
      for (let told = false; ;) {
        for (const number of numbers) {
          throwIfAborted(signal);
          const lock = await enter(number, tenant);
          if (lock === undefined) continue;
          try {
            await writeRecord(number, { v: 1, kind: "worker", tenant, processes: [] });
          } catch (error) {
            lock[Symbol.dispose]();
            throw error;
          }
          return occupied(number, tenant, lock);
        }
        if (!told) onWait?.(await list());
        told = true;
        await deps.clock.sleep(pollMs, signal);
      }
    },
    async prepare(tenant, until): Promise<PreparedSlot | undefined> {
      for (const number of numbers) {
        const lock = await enter(number, tenant);
        if (lock === undefined) continue;
        using _held = lock;
        const token = randomUUID();
        await writeRecord(number, { v: 1, kind: "prepared", tenant, token, until });
        return { number, token, until };
      }
      return undefined;
    },
    async release(token) {
      const holds = (record: Record | undefined): boolean => record?.kind === "prepared" && record.token === token;
      for (const number of numbers) {
        for (let tries = 0; tries < releaseTries && holds(await readRecord(number)); tries += 1) {
          const taken = deps.locks.try(lockAt(number), { host: "orch", what: "release" });
          if (taken.kind === "busy") continue;
          using _held = taken.lock;
          if (holds(await readRecord(number))) await deps.files.remove(recordAt(number));
        }
      }
    },
  };

  function occupied(number: number, tenant: SlotTenant, lock: HeldLock): Slot {
    const processes: SlotProcess[] = [];
    let writing = Promise.resolve();
    let pending = 0;
    let over = false;
    const leave = (): void => {
      fs.rmSync(recordAt(number), { force: true });
      lock[Symbol.dispose]();
    };
    return {
      number,
      occupy(process) {
        processes.push(process);
        pending += 1;
        const written = writing.then(() =>
          over ? undefined : writeRecord(number, { v: 1, kind: "worker", tenant, processes: [...processes] }),
        );
        writing = written
          .catch(() => undefined)
          .then(() => {
            pending -= 1;
            if (over && pending === 0) leave();
          });
        return written;
      },
      [Symbol.dispose]() {
        if (over) return;
        over = true;
        // A record that is just being written would come after the lock was given back, into another's place.
        if (pending === 0) leave();
      },
    };
  }
}

/** False when something of the dead one could not be ended: then its place is not free. */
async function endDead(sweep: SlotsDeps["sweep"], processes: readonly SlotProcess[]): Promise<boolean> {
  for (const { pid, startTime, marker } of processes) {
    await sweep.endIfSame(pid, startTime);
    await sweep.endLeftovers({ marker });
  }
  return processes.every(
    ({ pid, startTime, marker }) => !sweep.isAlive(pid, startTime) && sweep.withMarker(marker).length === 0,
  );
}
