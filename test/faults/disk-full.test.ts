import assert from "node:assert/strict";
import fs from "node:fs";
import { busyCommands, busySteps } from "../support/busy-commands.ts";
import { type BusyRepo, busySlice, locksLeft, makeBusyRepo } from "../support/busy-repo.ts";
import { goodFiles } from "../support/invoice-replies.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { noSmallDisk, SmallDisk } from "../support/small-disk.ts";
import { treeOf } from "../support/tree-of.ts";

const kilobyte = 1024;
/** Free when the command starts; what it needs lies between the second and the last. */
const sizes = (process.env["ORCH_DISK_KB"] ?? "0,24,96,192,340").split(",").map((text) => Number(text) * kilobyte);

describe("faults: the disk is full @slow @root", function () {
  this.timeout(600_000);
  const why = noSmallDisk();
  let disk: SmallDisk;
  let server: ScriptedModelServer;
  const temp = process.env["TMPDIR"];

  before(async function () {
    if (why !== undefined) {
      console.log(`      left out: ${why}`);
      this.skip();
    }
    disk = new SmallDisk(24);
    server = await startScriptedModelServer({ steps: busySteps });
    process.env["TMPDIR"] = disk.path; // where the repositories of this test are made
  });
  after(async () => {
    if (temp === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = temp;
    await server?.[Symbol.asyncDispose]();
    disk?.[Symbol.dispose]();
  });

  for (const [name, one] of Object.entries(busyCommands)) {
    describe(name, () => {
      let work: BusyRepo;
      before(async () => {
        work = await makeBusyRepo(server.baseUrl, one.prepare);
      });
      after(async () => {
        disk.free();
        await work?.[Symbol.asyncDispose]();
      });

      for (const size of sizes) {
        it(`${size / kilobyte} KB are left`, async () => {
          disk.free();
          await work.reset();
          disk.fill(size);
          const full = await orchJson(work.place, ...one.args);
          if (full.code !== 0) await refused(full);
          disk.free();
          if (full.code !== 0) await goesOn();
          await one.isDone(work);
          assert.deepEqual(locksLeft(work.repo), []);
          assert.doesNotMatch(await work.repo.git("fsck", "--full", "--no-dangling"), /./);
        });
      }

      async function refused(full: CliDocument): Promise<void> {
        const said = JSON.stringify(full);
        assert.match(`${full.error?.code} ${full.summary}`, /env\.disk-full|disk is full|no space/i, said);
        assert.match(full.error?.hint ?? "", /Free some space/, said);
        if (name === "do" && (await work.repo.git("rev-parse", "HEAD")) !== (await work.repo.git("rev-parse", "main")))
          return await one.isDone(work); // the commit stands, only the words about it found no room
        // An attempt that could not be taken back stays for the run to go on with; everything else is as it was.
        const roles = name === "do" ? Object.keys(goodFiles) : [];
        const others = (lines: readonly string[]): readonly string[] =>
          lines.filter((line) => !roles.some((role) => line.startsWith(`${busySlice}/${role} `)));
        assert.deepEqual(others(await treeOf(work.repo)), others(work.start), said);
      }

      /** By the run where there is one, else by the command itself. */
      async function goesOn(): Promise<void> {
        const runs = work.repo.path(".orch", "runs");
        const [run] = (fs.existsSync(runs) ? fs.readdirSync(runs) : []).filter((file) => file.startsWith("r-"));
        const open = run === undefined ? undefined : (await orchJson(work.place, "status", run)).summary;
        const resumes = open?.endsWith(" parked") === true || open?.endsWith(" interrupted") === true;
        const done = await orchJson(work.place, ...(resumes ? ["resume"] : one.args));
        assert.equal(done.code, 0, `${open}: ${JSON.stringify(done)}`);
      }
    });
  }
});
