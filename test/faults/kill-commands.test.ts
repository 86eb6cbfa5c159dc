import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type BusyRepo, busySlice, locksLeft, makeBusyRepo } from "../support/busy-repo.ts";
import { eventually } from "../support/eventually.ts";
import type { FeatureRepo } from "../support/feature-repo.ts";
import { goodReply, invoiceSpec } from "../support/invoice-replies.ts";
import {
  atEvent,
  atStart,
  type Killed,
  killRunner,
  type Moment,
  readText,
  whenMoved,
  whileRunning,
} from "../support/kill-moment.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { countOf, seededRandom, seedOf } from "../support/seeded-random.ts";
import { treeOf } from "../support/tree-of.ts";

const branch = "Billing/Invoice";
const steps: readonly Step[] = [
  { match: { system: "You write spec.md" }, reply: { text: invoiceSpec } },
  { match: { system: "reads specifications" }, reply: { text: "VALID" } },
  { match: { system: "backend engineer" }, reply: { text: goodReply } },
];

interface Case {
  readonly args: readonly string[];
  /** Brings the repository to where the command starts. */
  prepare(work: FeatureRepo): Promise<void>;
  readonly special: readonly Moment[];
  /** After the run went on to its end; `end` is the tree an unkilled run leaves. */
  isDone(work: BusyRepo, end: readonly string[]): Promise<void>;
  /** After the run was cancelled, or never began. */
  isBack(work: BusyRepo): Promise<void>;
}

const slice = (work: FeatureRepo, name: string): string => work.repo.path(busySlice, name);

/** The feature is committed and pushed, and work of every kind lies in the slice. */
async function implemented(work: FeatureRepo): Promise<void> {
  const done = await orchJson(work.place, "do");
  assert.equal(done.code, 0, JSON.stringify(done));
  fs.rmSync(work.repo.path(".orch", "runs"), { recursive: true });
}

const remoteRefs = (work: FeatureRepo): Promise<string> =>
  work.repo.gitIn(work.repo.remote ?? "", "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads");

const cases: Readonly<Record<string, Case>> = {
  new: {
    args: ["new", "Billing/Invoice", "Totals of an invoice"],
    async prepare({ repo }) {
      await repo.git("reset", "-q", "--hard");
      await repo.git("clean", "-qfdx", "-e", ".venv");
      await repo.git("switch", "-q", "main");
      await repo.git("branch", "-qD", branch);
      fs.mkdirSync(repo.path("empty folder"));
    },
    special: [
      whileRunning(/update-ref/),
      whileRunning(/ switch /),
      { name: "spec.md is there", come: ({ repo }) => fs.existsSync(repo.path(busySlice, "spec.md")), laterMs: 0 },
      { name: "a file is there", come: ({ repo }) => fs.existsSync(repo.path(busySlice, "Handler.py")), laterMs: 0 },
      { name: "the registry is there", come: ({ repo }) => fs.existsSync(repo.path(".features.json")), laterMs: 0 },
    ],
    async isDone({ repo }, end) {
      assert.deepEqual(await treeOf(repo), end);
    },
    async isBack({ repo, start }) {
      assert.deepEqual(await treeOf(repo), start);
    },
  },
  undo: {
    args: ["undo", "--yes"],
    async prepare(work) {
      await implemented(work);
      const { repo } = work;
      await repo.write(`${busySlice}/Schema.py`, "# staged\r\n");
      await repo.git("add", `${busySlice}/Schema.py`);
      await repo.write(`${busySlice}/Schema.py`, "# staged, then edited\r\n", 0o600);
      await repo.write(`${busySlice}/Handler.py`, "# mine\n");
      await repo.write(`${busySlice}/loose 日.bin`, new Uint8Array([0, 13, 10, 255]));
      await repo.git("rm", "-q", "--cached", `${busySlice}/Controller.py`);
    },
    special: [
      { name: "the trash has it", come: ({ repo }) => fs.existsSync(repo.path(".git/refs/orch/trash")), laterMs: 0 },
      { name: "files go", come: ({ repo }) => !fs.existsSync(repo.path(busySlice, "debug.log")), laterMs: 0 },
      whileRunning(/ restore /),
      whileRunning(/ switch /),
      {
        name: "the branch is gone",
        come: ({ repo }) => !fs.existsSync(repo.path(".git/refs/heads", branch)),
        laterMs: 0,
      },
      whileRunning(/ push /),
      whileRunning(/ push /, 25),
    ],
    async isDone(work) {
      const { repo } = work;
      assert.equal(await repo.git("symbolic-ref", "--short", "HEAD"), "main");
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
      assert.doesNotMatch(await remoteRefs(work), /Invoice/);
      assert.ok(!fs.existsSync(slice(work, "")));
      await this.isBack(work);
    },
    async isBack(work) {
      const { repo, place } = work;
      const listed = await orchJson(place, "restore");
      const id = listed.data.entries.find(({ by }: { by: string }) => by === "undo")?.id;
      if (id !== undefined) {
        const restored = await orchJson(place, "restore", id);
        assert.equal(restored.code, 0, JSON.stringify(restored));
      }
      assert.deepEqual(await treeOf(repo), work.start);
    },
  },
  merge: {
    args: ["merge"],
    async prepare(work) {
      await implemented(work);
      await work.repo.write(`${busySlice}/Schema.py`, `${await work.repo.read(`${busySlice}/Schema.py`)}# staged\n`);
      await work.repo.git("add", `${busySlice}/Schema.py`);
    },
    special: [
      whileRunning(/ commit /),
      whenMoved(),
      whileRunning(/pytest/, 20),
      whileRunning(/ push /),
      { name: "main is on the remote", come: remoteMainMoved, laterMs: 0 },
      whileRunning(/ switch /),
      {
        name: "the branch is gone",
        come: ({ repo }) => !fs.existsSync(repo.path(".git/refs/heads", branch)),
        laterMs: 0,
      },
    ],
    async isDone(work) {
      const { repo } = work;
      assert.equal(await repo.git("symbolic-ref", "--short", "HEAD"), "main");
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
      assert.equal(await repo.git("log", "--first-parent", "--format=%s", "main~1..main"), `Merge branch '${branch}'`);
      assert.equal(await repo.git("log", "--format=%s", "--grep=feat: Invoice"), "feat: Invoice\nfeat: Invoice");
      assert.equal(await remoteRefs(work), `refs/heads/main ${await repo.git("rev-parse", "main")}`);
      assert.deepEqual(othersOf(await treeOf(repo)), othersOf(work.start));
      assert.deepEqual(await looseIn(work), looseAt.get(work));
    },
    async isBack(work) {
      const { repo } = work;
      // Staged work that merge had committed may be a commit now: nothing of it is lost.
      if ((await repo.git("log", "--format=%s", "origin/Billing/Invoice..HEAD")) === "feat: Invoice") {
        await repo.git("reset", "-q", "--soft", "HEAD~1");
      }
      assert.deepEqual(await treeOf(repo), work.start);
    },
  },
};

function remoteMainMoved({ repo }: Parameters<Moment["come"]>[0]): boolean {
  const there = readText(path.join(repo.remote ?? "", "refs/heads/main"));
  return there !== "" && there !== readText(repo.path(".git/refs/heads/main"));
}

/** Files outside the slice. */
const othersOf = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => !line.includes("\n") && !line.startsWith("ref: ") && !line.startsWith("features"));
const looseAt = new WeakMap<object, string>();
const looseIn = ({ repo }: FeatureRepo): Promise<string> =>
  repo.git("status", "--porcelain", "--untracked-files=all", "--", ".", `:(exclude)${busySlice}`, ":(exclude).orch");

describe("faults: the runner of new, undo and merge is killed at any moment @slow", function () {
  this.timeout(1_200_000);
  const seed = seedOf("ORCH_KILL_SEED");
  const kills = countOf("ORCH_KILLS_EACH", 4);
  let server: ScriptedModelServer;

  before(async () => {
    server = await startScriptedModelServer({ steps });
    console.log(`      ${kills} kills of each, ORCH_KILL_SEED=${seed}`);
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  for (const [name, one] of Object.entries(cases)) {
    describe(name, () => {
      let work: BusyRepo;
      let events = 0;
      let end: readonly string[];

      before(async () => {
        work = await makeBusyRepo(server.baseUrl, one.prepare);
        looseAt.set(work, await looseIn(work));
        const done = await orchJson(work.place, ...one.args);
        assert.equal(done.code, 0, JSON.stringify(done));
        const runs = work.repo.path(".orch", "runs");
        const [run = ""] = fs.readdirSync(runs).filter((file) => file.startsWith("r-"));
        events = readText(path.join(runs, run, "events.jsonl")).split("\n").length - 1;
        end = await treeOf(work.repo);
      });
      after(async () => {
        await work?.[Symbol.asyncDispose]();
      });

      for (let n = 0; n < kills; n += 1) {
        it(`kill ${n + 1}`, async () => {
          await work.reset();
          const moment = momentOf(one, n, events);
          const killed = await killRunner(work.repo, work.place, one.args, moment);
          try {
            await afterKill(one, killed, n);
          } catch (error) {
            if (error instanceof Error) {
              error.message = `seed ${seed}, kill ${n + 1}: ${moment.name}, run ${killed.run}\n${error.message}`;
            }
            throw error;
          }
        });
      }

      async function afterKill(wanted: Case, { killed, run, dir, end: said }: Killed, n: number): Promise<void> {
        const { place } = work;
        if (readText(path.join(dir, "events.jsonl")) === "") await wanted.isBack(work);
        else if (!killed) await wanted.isDone(work, end);
        else {
          assert.equal(said.code, 4, `${said.stdout}\n${said.stderr}`);
          assert.equal((await orchJson(place, "status", run)).summary, `${run} interrupted`);
          const ends: CliDocument = await orchJson(place, n % 3 === 2 ? "cancel" : "resume", run);
          assert.equal(ends.code, 0, JSON.stringify(ends));
          await (n % 3 === 2 ? isEither(wanted) : wanted.isDone(work, end));
        }
        await eventually("nothing runs", () => processesIn(work.repo.base).length === 0, 60_000);
        assert.deepEqual(locksLeft(work.repo), []);
        assert.doesNotMatch(await work.repo.git("fsck", "--full", "--strict", "--no-dangling"), /./);
      }

      /** A cancelled run stays where it was, or had reached its end but for the last words. */
      async function isEither(wanted: Case): Promise<void> {
        // The registry is what `new` writes last: made whole, the feature stands.
        if (name === "new" && fs.existsSync(work.repo.path(".features.json"))) return await wanted.isDone(work, end);
        const begun = name === "merge" && (await work.repo.git("rev-parse", "main")) !== mainAtStart(work);
        if (!begun) return await wanted.isBack(work);
        // What began to land is ended by the same command.
        const again = await orchJson(work.place, ...wanted.args, branch);
        assert.ok(again.ok || again.error?.code === "branch.not-feature", JSON.stringify(again));
        await wanted.isDone(work, end);
      }
    });
  }

  function momentOf(one: Case, n: number, events: number): Moment {
    const random = seededRandom(seed + n);
    const chosen = one.special[(seed + Math.floor(n / 2)) % one.special.length];
    if (n % 2 === 0 && chosen !== undefined) return chosen;
    return n % 8 === 1
      ? atStart(random.int(0, 400))
      : atEvent(random.int(1, Math.max(1, events - 2)), random.int(0, 120));
  }
});

function mainAtStart({ start }: BusyRepo): string {
  return /refs\/heads\/main (\S+)/.exec(start.join("\n"))?.[1] ?? "";
}
