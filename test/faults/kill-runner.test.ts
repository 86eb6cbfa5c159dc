import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type BusyRepo, busySlice, locksLeft, loose, makeBusyRepo } from "../support/busy-repo.ts";
import { eventually } from "../support/eventually.ts";
import { assertCommitted, assertImplemented } from "../support/implemented.ts";
import { goodFiles, invoiceSpec, mendReply, redReply } from "../support/invoice-replies.ts";
import {
  atEvent,
  atStart,
  type Killed,
  killRunner,
  type Moment,
  readText,
  spread,
  whenMoved,
  whenPushed,
  whenSettled,
  whenWriting,
  whileRunning,
} from "../support/kill-moment.ts";
import { orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seededRandom, seedOf } from "../support/seeded-random.ts";
import { treeOf } from "../support/tree-of.ts";

const branch = "Billing/Invoice";
const thanks = (goodFiles["Handler.py"] ?? "").replace("Totals of an invoice.", "Totals, with thanks.");
const thanked = JSON.stringify({ files: { ...goodFiles, "Handler.py": thanks } });
const steps: readonly Step[] = [
  { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
  { match: { system: "reads specifications" }, reply: { text: "VALID" } },
  { match: { user: "say thanks" }, reply: { text: thanked } },
  { match: { user: "last attempt" }, reply: { text: mendReply } },
  { match: { system: "backend engineer" }, reply: { text: redReply } },
];

/** Where a kill does most harm: a file half written, the commit made and not told, the push on its way. */
const special: readonly Moment[] = [
  whenSettled(),
  whenWriting(),
  whileRunning(/pytest/, 30),
  whileRunning(/ commit /),
  whenMoved(),
  whenMoved(15),
  whileRunning(/ push /),
  whenPushed(branch),
  whenWriting(4),
  whileRunning(/ update-index /),
  whileRunning(/pytest/, 200),
  whenPushed(branch, 10),
  whenSettled(20),
];

/** Paths of the slice that `do` writes; everything else there is the person's. */
const written = Object.keys(goodFiles).map((name) => `${busySlice}/${name}`);
const kept = (lines: readonly string[]): readonly string[] =>
  lines.filter(
    (line) =>
      line !== ".benchmarks/" &&
      !/\.[0-9a-f]{12}\.tmp /.test(line) &&
      !line.includes("\n") &&
      !line.startsWith("ref: ") &&
      !written.some((at) => line.startsWith(`${at} `)),
  );

describe("faults: the runner of do is killed at any moment @slow", function () {
  this.timeout(1_200_000);
  const seed = seedOf("ORCH_KILL_SEED");
  const kills = countOf("ORCH_KILLS", 9);
  let server: ScriptedModelServer;
  let work: BusyRepo;
  let events = 0;
  let outside: readonly string[];

  before(async () => {
    server = await startScriptedModelServer({ steps });
    work = await makeBusyRepo(server.baseUrl);
    outside = await loose(work.repo);
    const done = await orchJson(work.place, "do");
    assert.equal(done.code, 0, JSON.stringify(done));
    events = readText(path.join(work.repo.root, ".orch", "runs", done.data.run, "events.jsonl")).split("\n").length - 1;
    assert.deepEqual(await loose(work.repo), outside);
    console.log(`      ${kills} kills over ${events} events, ORCH_KILL_SEED=${seed}`);
  });

  after(async () => {
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  for (const [n, wanted] of Array.from({ length: kills }).entries()) {
    it(`kill ${n + 1}`, async () => {
      const moment = momentAt(n);
      await work.reset();
      const killed = await killRunner(work.repo, work.place, ["do"], moment);
      const what = `seed ${seed}, kill ${n + 1}: ${moment.name}, run ${killed.run}`;
      try {
        await afterKill(killed, n);
      } catch (error) {
        if (error instanceof Error) error.message = `${what}\n${error.message}`;
        throw error;
      }
      assert.equal(wanted, undefined);
    });
  }

  function momentAt(n: number): Moment {
    const moment = spread(seededRandom(seed), kills, events, special)[n];
    return moment ?? atStart(0);
  }

  async function afterKill({ killed, run, dir, end }: Killed, n: number): Promise<void> {
    const { repo } = work;
    const began = readText(path.join(dir, "events.jsonl")) !== "";
    // The person's other files: before anybody mends anything.
    assert.deepEqual(kept(await treeOf(repo)), kept(work.start));
    if (!began) {
      assert.ok(!fs.existsSync(dir), "a run that never began leaves no folder");
      assert.deepEqual(await treeOf(repo), work.start);
    } else if (killed) {
      assert.equal(end.code, 4, `${end.stdout}\n${end.stderr}`);
      assert.match(`${end.stdout}${end.stderr}`, new RegExp(`orch resume ${run}`));
      await isTruthful(run, "interrupted");
      const cancels = n % 4 === 3;
      if (cancels) await cancels_(run);
      else await resumes(run);
    }
    await nothingLeft();
    if (n % 3 === 0) await nextWorks();
  }

  async function isTruthful(run: string, standing: string): Promise<void> {
    const status = await orchJson(work.place, "status", run);
    assert.equal(status.code, 0, JSON.stringify(status));
    assert.equal(status.summary, `${run} ${standing}`);
  }

  async function resumes(run: string): Promise<void> {
    const { repo, place } = work;
    const committed = (await repo.git("rev-parse", "HEAD")) !== (await repo.git("rev-parse", "main"));
    const calls = server.calls.length;
    const resumed = await orchJson(place, "resume", run);
    assert.equal(resumed.code, 0, JSON.stringify(resumed));
    if (committed) assert.equal(server.calls.length, calls, "what is committed is not asked for again");
    await isDone(run);
  }

  async function isDone(run: string): Promise<void> {
    await assertImplemented(work, outside);
    await isTruthful(run, "ok");
  }

  async function cancels_(run: string): Promise<void> {
    const { repo, place } = work;
    const cancelled = await orchJson(place, "cancel", run);
    assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
    if ((await repo.git("rev-parse", "HEAD")) !== (await repo.git("rev-parse", "main")))
      return await assertCommitted(work, outside);
    assert.deepEqual(await treeOf(repo), work.start);
  }

  async function nothingLeft(): Promise<void> {
    const { repo } = work;
    await eventually("nothing runs", () => processesIn(repo.base).length === 0, 60_000).catch(() => {
      assert.deepEqual(processesIn(repo.base), []);
    });
    assert.deepEqual(locksLeft(repo), []);
    assert.equal(await repo.git("for-each-ref", "refs/orch/base"), "");
    assert.doesNotMatch(await repo.git("fsck", "--full", "--strict", "--no-dangling"), /./);
  }

  async function nextWorks(): Promise<void> {
    const { repo, place } = work;
    const next = await orchJson(place, "do", "say thanks");
    assert.equal(next.code, 0, JSON.stringify(next));
    assert.match((await repo.read(`${busySlice}/Handler.py`)) ?? "", /with thanks/);
    assert.deepEqual(await loose(repo), outside);
  }
});

void atEvent;
