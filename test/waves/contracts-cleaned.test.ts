import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type ContractRepo, makeContractRepo, steps, trimmed } from "../support/contract-repo.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

describe("e2e: contracts whose runs were cleaned @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;
  let work: ContractRepo;

  before(async () => {
    server = await startScriptedModelServer({ steps });
  });
  beforeEach(async () => {
    work = await makeContractRepo(server.baseUrl);
    await work.trust();
  });
  afterEach(async () => await work?.[Symbol.asyncDispose]());
  after(async () => await server?.[Symbol.asyncDispose]());

  const orch = (...args: readonly string[]): Promise<CliDocument> => orchJson(work.place, ...args);
  const good = async (...args: readonly string[]): Promise<CliDocument> => {
    const done = await orch(...args);
    assert.equal(done.code, 0, JSON.stringify(done));
    return done;
  };
  /** Everything that one `clean` stored. */
  const restoreAll = async ({ data }: CliDocument): Promise<void> => {
    for (const id of data.stored as readonly string[]) await good("restore", id);
  };
  const nameOfKept = (): Promise<string> => work.repo.git("for-each-ref", "--format=%(refname)", "refs/orch/kept");

  it("an accepted result comes back with its run, and is merged; so is one that nobody has reviewed yet", async () => {
    await good("run", "T1");
    const kept = await nameOfKept();
    await restoreAll(await good("clean", "--all", "--yes"));
    assert.equal(await nameOfKept(), kept);
    await good("review", "T1", "--accept");
    const cleaned = await good("clean", "--all", "--yes");
    assert.equal(await nameOfKept(), "");
    // What git has no name for goes at its next collection: the entry holds all of it.
    await work.repo.git("reflog", "expire", "--expire=now", "--all");
    await work.repo.git("gc", "--quiet", "--prune=now");
    await restoreAll(cleaned);
    await good("merge", "T1");
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
  });

  it("where the kept result is gone it is said, with what works: nothing is accepted or merged in a circle", async () => {
    await good("run", "T1");
    await work.repo.git("update-ref", "-d", await nameOfKept());
    const refused = await orch("review", "T1", "--accept");
    assert.deepEqual([refused.code, refused.error?.code], [5, "contract.kept-gone"], JSON.stringify(refused));
    assert.match(refused.error?.message ?? "", /^what run r-\S+ kept of T1 is gone$/);
    const [apply = ""] = refused.next;
    assert.match(apply, /^orch apply r-\S+\/T1\/attempt-1$/);
    await good(...apply.split(" ").slice(1));
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
  });

  it("an accepted result that is gone cannot be merged, and the way on is not to accept it again", async () => {
    await good("run", "T1");
    const kept = await nameOfKept();
    await good("review", "T1", "--accept");
    await work.repo.git("update-ref", "-d", kept);
    for (const words of [
      ["merge", "T1"],
      ["review", "T1", "--accept"],
    ]) {
      const refused = await orch(...words);
      assert.deepEqual([refused.code, refused.error?.code], [5, "contract.kept-gone"], words.join(" "));
      assert.match(refused.next[0] ?? "", /^orch apply /);
    }
  });

  it("a plain clean forgets no review and no merge of work that stays, until a final has seen it", async () => {
    const settings = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
    fs.writeFileSync(settings, JSON.stringify({ ...JSON.parse(fs.readFileSync(settings, "utf8")), keep_runs: 1 }));
    /** Other runs become the newest ones first. */
    const cleanLater = async (): Promise<CliDocument> => {
      await good("restore");
      return await good("clean", "--yes");
    };
    await good("run", "T1");
    await good("review", "T1", "--accept");
    const reviewed = await cleanLater();
    assert.ok(
      (reviewed.data.text as string[]).some((line) => /^stays: run r-\S+ says what became of T1$/.test(line)),
      JSON.stringify(reviewed.data.text),
    );
    assert.equal((await orch("status")).data.contracts[0].review.verb, "accept");
    await good("merge", "T1");
    await cleanLater();
    assert.equal((await orch("status")).data.contracts[0].merged, true);
    assert.equal((await orch("report")).data.done.length, 1);
    const final = await good("final");
    assert.deepEqual([final.data.contracts, final.data.checks], [["T1"], [{ name: "all tests", ok: true }]]);
    await cleanLater();
    assert.deepEqual((await orch("status")).data.contracts, [], "nothing needs it any more");
    assert.equal((await orch("final")).error?.code, "review.nothing");
  });

  it("the question and the dry run name what would be missed, and the entries whose they are", async () => {
    await good("run", "--title", "Both", "T1", "T2");
    await good("review", "T1", "--accept");
    const told = await good("clean", "--all", "--dry-run");
    const missed = /^Would remove 2 worktrees \(0 changed files\) and 2 runs, and with them (.*); nothing was changed$/;
    assert.match(told.summary, missed);
    const open = ["T1 (accepted, not merged)", "T2 (awaits a review)"];
    assert.deepEqual([missed.exec(told.summary)?.[1], told.data.open], [open.join(", "), open]);
    assert.deepEqual(told.next, ["orch clean --all"]);
    const asked = await orch("clean", "--all");
    assert.match(
      asked.error?.message ?? "",
      /and 3 runs, and with them T1 \(accepted, not merged\), T2 \(awaits a review\); all of it can/,
    );
    await good("clean", "--all", "--yes");
    const entries = (await good("restore")).data.text as readonly string[];
    const [work = ""] = entries.filter((line) =>
      /  run r-\S+, run T1, T2  \(\d+ files, the result of T1, the result of T2\)$/.test(line),
    );
    assert.ok(
      entries.some((line) => /  run r-\S+, review T1  \(\d+ files\)$/.test(line)),
      entries.join("\n"),
    );
    for (const words of [
      ["merge", "T1"],
      ["review", "T1"],
      ["merge", "T1", "T2"],
    ]) {
      const refused = await orch(...words);
      assert.deepEqual([refused.code, refused.error?.code], [5, "contract.no-result"], words.join(" "));
      assert.equal(refused.error?.message, "the run of T1 was removed");
      assert.deepEqual(refused.next, [`orch restore ${work.split(" ")[0]}`, "orch run .orch/contracts/T1.json"]);
    }
    const never = await orch("merge", "T3");
    assert.deepEqual([never.code, never.error?.message], [5, "there is no run of T3"]);
    assert.deepEqual(never.next[0], "orch run .orch/contracts/T3.json");
    assert.equal((await orch("merge", "T9")).error?.code, "target.unknown");
    assert.equal((await orch("merge", "T1", "T9")).error?.code, "usage.invalid");
  });

  it("a run that is back is found by its contract again: what a review prints next can be typed", async () => {
    await good("run", "T1");
    const first = (await orch("status")).data.contracts[0].run as string;
    await good("run", "T1");
    const second = (await orch("status")).data.contracts[0].run as string;
    const link = work.repo.path(".orch/runs/T1");
    const cleaned = await good("clean", "--all", "--yes");
    assert.ok(!fs.existsSync(link));
    const runs = (await good("restore")).data.entries as readonly { readonly id: string; readonly what: string }[];
    const entryOf = (run: string): string => runs.find(({ what }) => what.includes(run))?.id ?? "";
    await good("restore", entryOf(second));
    assert.equal(fs.readlinkSync(link), `${second}/T1`);
    // The older one is no newer work.
    await good("restore", entryOf(first));
    assert.equal(fs.readlinkSync(link), `${second}/T1`);
    assert.ok((cleaned.data.stored as string[]).includes(entryOf(first)));
    fs.rmSync(link);
    await work.repo.write("items.md", "1. src/slug.py:2: no word about what it does. Done: one line says it\n");
    const revised = await good("review", "T1", "--revise", "items.md");
    const [next = ""] = revised.next;
    assert.equal(next, "orch dispatch .orch/contracts/T1.json --feedback .orch/runs/T1/feedback.md");
    await good(...next.split(" ").slice(1));
    const absent = await orch("dispatch", "T1", "--feedback", "nope.md");
    assert.deepEqual([absent.code, absent.error?.message], [2, "there is no file nope.md"]);
    await work.repo.write("blank.md", " \n");
    assert.equal((await orch("dispatch", "T1", "--feedback", "blank.md")).error?.message, "blank.md holds no feedback");
  });
});
