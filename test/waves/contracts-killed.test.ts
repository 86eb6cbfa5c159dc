import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { parseEvent, type RunEvent } from "../../shared/model/event.ts";
import { agentSteps } from "../support/agent-steps.ts";
import {
  byLine,
  type ContractRepo,
  makeContractRepo,
  net,
  steps as completionSteps,
  trimmed,
} from "../support/contract-repo.ts";
import { eventually } from "../support/eventually.ts";
import { atEvent, killRunner, type Moment, readText, type Strike } from "../support/kill-moment.ts";
import { orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seededRandom, seedOf } from "../support/seeded-random.ts";

const dotless = trimmed.replace('"-")', '"-").replace(".", "")');
/** T1 has an agent, a process of its own; the others are completions. */
const steps = [...agentSteps("Task: Trim slugs", { "src/slug.py": trimmed }), ...completionSteps];
const ids = ["T1", "T2", "T3", "T5"] as const;

describe("e2e: the runner or a worker of a wave is killed at any moment @slow", function () {
  this.timeout(3_600_000);
  const seed = seedOf("ORCH_KILL_SEED");
  const kills = countOf("ORCH_KILLS", 2);
  let server: ScriptedModelServer;
  let events = 0;

  before(async () => {
    server = await startScriptedModelServer({ steps });
    await using work = await repo();
    const done = await orchJson(work.place, "run", "--title", "Whole", ...work.paths(...ids));
    assert.equal(done.code, 0, JSON.stringify(done));
    events = eventsOf(work, done.data.run).length;
    console.log(`      ${kills} kills over ${events} events, ORCH_KILL_SEED=${seed}`);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  async function repo(): Promise<ContractRepo> {
    const work = await makeContractRepo(server.baseUrl, { agent: { client: "pi", model: "direct/scripted" } });
    await work.trust();
    await work.put("T1", { worker: "agent" });
    return work;
  }

  for (const [n] of Array.from({ length: kills }).entries()) {
    it(`kill ${n + 1}`, async () => {
      await using work = await repo();
      const random = seededRandom(seed + n);
      const toWorker = n % 3 === 2;
      const moment = toWorker
        ? whenWorking(work, random.int(0, 1500))
        : atEvent(1 + random.int(0, events - 2), random.int(0, 400));
      const strike: Strike | undefined = toWorker ? killWorker(work) : undefined;
      const args = ["run", "--title", "Killed", ...work.paths(...ids)];
      const killed = await killRunner(work.repo, work.place, args, moment, strike);
      const what = `seed ${seed}, kill ${n + 1}, ${toWorker ? "a worker" : "the runner"}: ${moment.name}, run ${killed.run}`;
      try {
        await goesOn(work, killed.run, killed.killed);
      } catch (error) {
        if (error instanceof Error) error.message = `${what}\n${error.message}`;
        throw error;
      }
    });
  }

  /** An agent was started and did not end yet. */
  function whenWorking(work: ContractRepo, laterMs: number): Moment {
    return { name: `${laterMs} ms after an agent began`, come: () => agents(work).length > 0, laterMs };
  }

  function killWorker(work: ContractRepo): Strike {
    return () => {
      for (const pid of agents(work)) {
        try {
          process.kill(pid, "SIGKILL");
        } catch {
          // It was quicker.
        }
      }
    };
  }

  function agents(work: ContractRepo): readonly number[] {
    const run = fs.readdirSync(path.join(work.repo.root, ".orch", "runs")).find((name) => name.startsWith("r-"));
    const told = run === undefined ? [] : eventsOf(work, run);
    const ended = new Set(told.flatMap((event) => (event.type === "process.ended" ? [event.pid] : [])));
    return told.flatMap((event) =>
      event.type === "process.started" && event.what === "agent" && !ended.has(event.pid) ? [event.pid] : [],
    );
  }

  async function goesOn(work: ContractRepo, run: string, killed: boolean): Promise<void> {
    const { place } = work;
    const begun = killed && eventsOf(work, run).length > 0;
    const status = begun ? await orchJson(place, "status", run) : undefined;
    const open = status !== undefined && /interrupted|parked/.test(status.summary);
    if (open) {
      const resumed = await orchJson(place, "resume", run);
      assert.equal(resumed.code, 0, JSON.stringify(resumed));
    }
    if (eventsOf(work, run).length === 0) return;
    const told = eventsOf(work, run);
    for (const id of ids) {
      const ends = told.filter((event) => event.type === "contract.finished" && event.contract === id);
      const last = ends.at(-1);
      assert.equal(last?.type === "contract.finished" ? last.state : "", "awaiting-review", `${id} of ${run}`);
      const accepted = told.filter((event) => event.type === "review.opened" && event.contract === id);
      assert.equal(accepted.length, 1, `${id} is held once`);
      const numbers = told.flatMap((event) =>
        event.type === "attempt.started" && event.contract === id ? [event.attempt] : [],
      );
      assert.deepEqual(numbers, [...new Set(numbers)], `${id}: no attempt twice`);
    }
    assert.deepEqual(
      told.map(({ seq }) => seq),
      told.map((_, at) => at + 1),
    );
    await nothingRuns(work);
    await isMergeable(work);
  }

  async function nothingRuns(work: ContractRepo): Promise<void> {
    let left = processesIn(work.repo.base);
    const look = (): boolean => (left = processesIn(work.repo.base)).length === 0;
    await eventually("nothing runs any more", look, 60_000).catch((error: unknown) => {
      throw new Error(JSON.stringify(left), { cause: error });
    });
  }

  /** What came out of it is whole: accepted and merged it gives the tree that the contracts ask for. */
  async function isMergeable(work: ContractRepo): Promise<void> {
    for (const id of ids) assert.equal((await orchJson(work.place, "review", id, "--accept")).code, 0, id);
    const merged = await orchJson(work.place, "merge", ...ids);
    assert.equal(merged.code, 0, JSON.stringify(merged));
    assert.deepEqual(
      [await work.repo.read("src/slug.py"), await work.repo.read("src/price.py"), await work.repo.read("src/table.py")],
      [dotless, net, byLine],
    );
  }

  function eventsOf(work: ContractRepo, run: string): readonly RunEvent[] {
    const text = readText(path.join(work.repo.root, ".orch", "runs", run, "events.jsonl"));
    return text.split("\n").flatMap((line) => {
      const parsed = parseEvent(line);
      return parsed.kind === "event" ? [parsed.event] : [];
    });
  }
});
