import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { busyCommands, busySteps } from "../support/busy-commands.ts";
import { type BusyRepo, locksLeft, makeBusyRepo } from "../support/busy-repo.ts";
import { eventually } from "../support/eventually.ts";
import {
  atEvent,
  killRunner,
  type Moment,
  readText,
  whenMoved,
  whenWriting,
  whileRunning,
} from "../support/kill-moment.ts";
import { orchJson, type RunningCli, startCli } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seededRandom, seedOf } from "../support/seeded-random.ts";
import { treeOf } from "../support/tree-of.ts";

const moments: Readonly<Record<keyof typeof busyCommands, readonly Moment[]>> = {
  new: [whileRunning(/update-ref/), whileRunning(/ switch /)],
  do: [whenWriting(), whileRunning(/pytest/, 50), whileRunning(/ commit /), whenMoved(), whileRunning(/ push /)],
  merge: [whileRunning(/pytest/, 20), whileRunning(/ push /), whileRunning(/ switch /)],
  undo: [whileRunning(/ fetch /), whileRunning(/ switch /), whileRunning(/ push /)],
};

/** Once, or again as soon as the first was heard: the way a person does who is in a hurry. */
function presses(times: 1 | 2): (runner: number, cli: RunningCli) => void {
  return (_, cli) => {
    cli.kill("SIGINT");
    if (times === 2)
      void cli.seen(/once more ends the run/).then(
        () => cli.kill("SIGINT"),
        () => undefined,
      );
  };
}

describe("faults: Ctrl-C at any moment @slow", function () {
  this.timeout(1_200_000);
  const seed = seedOf("ORCH_KILL_SEED");
  const each = countOf("ORCH_INTERRUPTS_EACH", 3);
  let server: ScriptedModelServer;

  before(async () => {
    server = await startScriptedModelServer({ steps: busySteps });
    console.log(`      ${each} of each, ORCH_KILL_SEED=${seed}`);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  for (const [name, one] of Object.entries(busyCommands)) {
    describe(name, () => {
      let work: BusyRepo;
      let events = 0;

      before(async () => {
        work = await makeBusyRepo(server.baseUrl, one.prepare);
        const done = await orchJson(work.place, ...one.args);
        assert.equal(done.code, 0, JSON.stringify(done));
        const runs = work.repo.path(".orch", "runs");
        const [run = ""] = fs.readdirSync(runs).filter((file) => file.startsWith("r-"));
        events = readText(path.join(runs, run, "events.jsonl")).split("\n").length - 1;
      });
      after(async () => {
        await work?.[Symbol.asyncDispose]();
      });

      for (let n = 0; n < each; n += 1) {
        it(`Ctrl-C ${n + 1}`, async () => {
          await work.reset();
          const random = seededRandom(seed + n);
          const own = moments[name as keyof typeof busyCommands];
          const special = own[(seed + n) % own.length];
          const moment =
            n % 2 === 0 && special !== undefined
              ? special
              : atEvent(random.int(0, Math.max(1, events - 2)), random.int(0, 150));
          const times = n % 3 === 2 ? 2 : 1;
          const { run, end } = await killRunner(work.repo, work.place, one.args, moment, presses(times));
          const what = `seed ${seed}: ${moment.name}, ${times} times, run ${run}: ${end.code}\n${end.stdout}\n${end.stderr}`;
          try {
            await afterwards(run, end.code, `${end.stdout}${end.stderr}`);
          } catch (error) {
            if (error instanceof Error) error.message = `${what}\n${error.message}`;
            throw error;
          }
        });
      }

      for (const folder of name === "do" ? ["", "request.json", "runner.json"] : []) {
        it(`before the run began (${folder || "its folder is made"}): nothing goes on behind the person's back`, async () => {
          await work.reset();
          const cli = startCli(work.place, ...one.args);
          const runs = work.repo.path(".orch", "runs");
          let run = "";
          await eventually("the run's folder", () => {
            run = (fs.existsSync(runs) ? fs.readdirSync(runs) : []).find((file) => file.startsWith("r-")) ?? "";
            return run !== "" && fs.existsSync(path.join(runs, run, folder));
          });
          cli.kill("SIGINT");
          const end = await cli.end;
          await afterwards(run, end.code, `${end.stdout}${end.stderr}`);
        });
      }

      async function afterwards(run: string, code: number | undefined, said: string): Promise<void> {
        const { repo, place, start } = work;
        await eventually("nothing runs", () => processesIn(repo.base).length === 0, 60_000);
        assert.deepEqual(locksLeft(repo), []);
        if (code === 0) return await one.isDone(work);
        assert.equal(code, 130, said);
        const standing = (await orchJson(place, "status", run)).summary.replace(`${run} `, "");
        assert.ok(["parked", "cancelled"].includes(standing), standing);
        if (standing === "cancelled") return assert.deepEqual(await treeOf(repo), start);
        assert.match(said, new RegExp(`orch resume ${run}`));
        assert.deepEqual(await treeOf(repo), start);
        const resumed = await orchJson(place, "resume", run);
        assert.equal(resumed.code, 0, JSON.stringify(resumed));
        await one.isDone(work);
      }
    });
  }
});
