import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { agentSteps } from "../support/agent-steps.ts";
import { type BusyRepo, busySlice, locksLeft, loose, makeBusyRepo } from "../support/busy-repo.ts";
import { eventually } from "../support/eventually.ts";
import { assertImplemented } from "../support/implemented.ts";
import { goodFiles, invoiceSpec, redReply } from "../support/invoice-replies.ts";
import {
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
} from "../support/kill-moment.ts";
import { orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seededRandom, seedOf } from "../support/seeded-random.ts";
import { treeOf } from "../support/tree-of.ts";

const branch = "Billing/Invoice";
const inSlice = (files: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(files).map(([name, text]) => [`${busySlice}/${name}`, text]));
const handler = `${busySlice}/Handler.py`;
const steps: readonly Step[] = [
  { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
  { match: { system: "reads specifications" }, reply: { text: "VALID" } },
  ...agentSteps("What was wrong with the last attempt", { [handler]: goodFiles["Handler.py"] }),
  ...agentSteps("Implement features/Billing/Invoice/spec", inSlice(JSON.parse(redReply).files)),
];

/** Where a kill does most harm: the change half brought in, the commit made and not told, the push on its way. */
const special: readonly Moment[] = [
  whenWriting(),
  whenSettled(),
  whenMoved(),
  whenWriting(4),
  whenPushed(branch),
  whenPushed(branch, 10),
];
const args = ["do", "--worker", "cheap"];

describe("faults: the runner of do with an agent is killed at any moment @slow", function () {
  this.timeout(1_200_000);
  const seed = seedOf("ORCH_KILL_SEED");
  const kills = countOf("ORCH_KILLS", 3);
  let server: ScriptedModelServer;
  let work: BusyRepo;
  let events = 0;
  let outside: readonly string[];

  before(async () => {
    server = await startScriptedModelServer({ steps });
    work = await makeBusyRepo(server.baseUrl, ({ repo }) => {
      const settings = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
      const workers = { cheap: { client: "pi", model: "direct/scripted" } };
      const providers = { direct: { baseUrl: server.baseUrl } };
      fs.writeFileSync(settings, JSON.stringify({ models: { providers }, workers }));
      return Promise.resolve();
    });
    outside = await loose(work.repo);
    const done = await orchJson(work.place, ...args);
    assert.equal(done.code, 0, JSON.stringify(done, undefined, 1));
    await isDone();
    await nothingLeft();
    events = eventsOf(done.data.run).length;
    console.log(`      ${kills} kills over ${events} events, ORCH_KILL_SEED=${seed}`);
  });

  after(async () => {
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  for (const [n] of Array.from({ length: kills }).entries()) {
    it(`kill ${n + 1}`, async () => {
      const moment = spread(seededRandom(seed), kills, events, special)[n] ?? atStart(0);
      await work.reset();
      const killed = await killRunner(work.repo, work.place, args, moment);
      try {
        await afterKill(killed, n % 4 === 3);
      } catch (error) {
        if (error instanceof Error)
          error.message = `seed ${seed}, kill ${n + 1}: ${moment.name}, run ${killed.run}\n${error.message}`;
        throw error;
      }
    });
  }

  async function afterKill({ killed, run, dir }: Killed, cancels: boolean): Promise<void> {
    const { repo, place, start } = work;
    assert.deepEqual(await loose(repo), outside, "nothing outside the slice was touched");
    if (readText(path.join(dir, "events.jsonl")) === "") return assert.deepEqual(await tree(), start);
    if (!killed) return await isDone();
    if (cancels) {
      const cancelled = await orchJson(place, "cancel", run);
      assert.equal(cancelled.code, 0, JSON.stringify(cancelled));
      const committed = (await repo.git("rev-parse", "HEAD")) !== (await repo.git("rev-parse", "main"));
      if (!committed) assert.deepEqual(await tree(), start);
    } else {
      const resumed = await orchJson(place, "resume", run);
      assert.equal(resumed.code, 0, JSON.stringify(resumed, undefined, 1));
      await isDone();
      const told = eventsOf(run).filter((line) => line.includes('"type":"attempt.started"'));
      const numbers = told.map((line) => /"attempt":(\d+)/.exec(line)?.[1]);
      assert.deepEqual(numbers, [...new Set(numbers)], "no attempt twice");
    }
    await nothingLeft();
  }

  const tree = async (): Promise<readonly string[]> =>
    (await treeOf(work.repo)).filter((line) => !line.startsWith(".orch"));

  async function isDone(): Promise<void> {
    const { repo } = work;
    await assertImplemented(work, outside);
    const mine = (lines: readonly string[]): readonly string[] =>
      lines.filter((line) => /Überlegung|run\.sh|logo|debug|latest|drafts|spec\.md/.test(line) && !line.includes("\n"));
    assert.deepEqual(mine(await treeOf(repo)), mine(work.start), "what the person has in the slice is as it was");
  }

  async function nothingLeft(): Promise<void> {
    const { repo, place } = work;
    await eventually("nothing runs", () => processesIn(repo.base).length === 0, 60_000);
    assert.deepEqual(locksLeft(repo), []);
    assert.equal(await repo.git("for-each-ref", "refs/orch/base", "refs/orch/kept", "refs/orch/wt"), "");
    const rows = await orchJson(place, "clean", "--dry-run");
    assert.doesNotMatch(JSON.stringify(rows.data), /of Invoice/, "no worktree is left");
  }

  function eventsOf(run: string): readonly string[] {
    const text = readText(path.join(work.repo.root, ".orch", "runs", run, "events.jsonl"));
    return text.split("\n").filter((line) => line !== "");
  }
});
