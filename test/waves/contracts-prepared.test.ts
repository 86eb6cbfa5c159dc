import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type ContractRepo, makeContractRepo, trimmed } from "../support/contract-repo.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";

describe("e2e: places that are prepared for a worker of somebody else @slow", function () {
  this.timeout(600_000);
  let work: ContractRepo;

  beforeEach(async () => {
    // No model is asked: the worker is somebody else's.
    work = await makeContractRepo("http://127.0.0.1:9", { absent: { client: "codex", command: "/nowhere/codex" } });
    await work.trust();
  });
  afterEach(async () => await work?.[Symbol.asyncDispose]());

  const orch = (...args: readonly string[]): Promise<CliDocument> => orchJson(work.place, ...args);

  it("a worktree that is gone is not judged: refused, and nothing of it changes", async () => {
    const prepared = await orch("prepare", "T1");
    assert.equal(prepared.code, 0, JSON.stringify(prepared));
    assert.deepEqual((await orch("merge", "T1")).next, ["orch guard .orch/contracts/T1.json"]);
    fs.rmSync(prepared.data.folder, { recursive: true });
    const before = (await orch("status")).data.contracts;
    const refused = await orch("guard", "T1");
    assert.deepEqual([refused.code, refused.error?.code], [5, "contract.not-prepared"], JSON.stringify(refused));
    assert.match(refused.error?.message ?? "", /the worktree that was prepared for T1 is gone/);
    assert.deepEqual(refused.next, ["orch prepare .orch/contracts/T1.json"]);
    assert.deepEqual((await orch("status")).data.contracts, before);
    assert.deepEqual((await orch("report")).data.rejected, []);
  });

  it("a reply that is empty is refused, and what was expected is said; so is a folder in a file's place", async () => {
    assert.equal((await orch("prepare", "T1")).code, 0);
    const empty = await orchJson({ ...work.place, stdin: "" }, "guard", "T1", "--reply", "-");
    assert.deepEqual([empty.code, empty.error?.code], [2, "contract.no-reply"], JSON.stringify(empty));
    assert.match(
      empty.error?.message ?? "",
      /^standard input holds nothing: expected is the worker's final JSON, \{"status"/,
    );
    assert.deepEqual(empty.next, ["orch guard .orch/contracts/T1.json"]);
    for (const words of [
      ["guard", "T1", "--reply", "src"],
      ["dispatch", "T1", "--feedback", "src"],
      ["check", "src"],
      ["run", "src"],
    ]) {
      const folder = await orch(...words);
      assert.deepEqual([folder.code, folder.error?.code], [2, "path.refused"], words.join(" "));
      assert.match(folder.error?.message ?? "", /\/src is a folder, and a file is needed$/);
      assert.equal(folder.error?.hint, "Name a file in it");
    }
    const inFile = await orch("-C", "src/slug.py", "status");
    assert.deepEqual([inFile.code, inFile.error?.code], [5, "git.not-a-repository"]);
    assert.equal((await orch("status")).data.contracts[0].command, "prepare");
  });

  it("last words without JSON on standard input are words, not a file's name: judged, and the lack is a finding", async () => {
    assert.equal((await orch("prepare", "T1")).code, 0);
    for (const stdin of ["I am done, all green.", "src/slug.py\n"]) {
      const red = await orchJson({ ...work.place, stdin }, "guard", "T1", "--reply", "-");
      assert.deepEqual([red.code, red.error], [1, null], JSON.stringify(red));
      assert.match(red.data.text[0], /the reply holds no final JSON/);
      assert.doesNotMatch((await orch("log", red.data.run)).data.text.join("\n"), /estimate for/, "nobody is asked");
      assert.deepEqual((await orch("prepare", "T1")).code, 0);
    }
  });

  /** Places of the machine that are held for somebody's worker. */
  const held = (): number => {
    const slots = path.join(work.repo.env["XDG_STATE_HOME"] ?? "", "orch", "slots");
    const records = fs.readdirSync(slots).filter((name) => name.endsWith(".json"));
    return records.filter((name) => fs.readFileSync(path.join(slots, name), "utf8").includes('"prepared"')).length;
  };
  const done = '{"status": "done", "summary": "trims", "files_changed": ["src/slug.py"]}';

  it("a look that fails leaves worktree and place; mended there it passes, and the review gives it back", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    fs.writeFileSync(path.join(folder, "stray.txt"), "x");
    const red = await orch("guard", "T1");
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.equal(red.next[0], "orch guard .orch/contracts/T1.json");
    assert.equal(fs.readFileSync(path.join(folder, "stray.txt"), "utf8"), "x");
    assert.equal(held(), 1);
    fs.rmSync(path.join(folder, "stray.txt"));
    const green = await orch("guard", "T1");
    assert.equal(green.code, 0, JSON.stringify(green));
    assert.equal(held(), 0);
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.equal((await orch("guard", "T1")).error?.code, "contract.not-prepared");
    assert.equal((await orch("merge", "T1")).code, 0);
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
    assert.deepEqual((await orch("restore")).data.entries, []);
  });

  it("last words give the place back; prepare takes one again, in the same worktree, with the findings", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    fs.writeFileSync(path.join(folder, "stray.txt"), "x");
    const red = await orch("guard", "T1", "--reply", done);
    assert.equal(red.code, 1, JSON.stringify(red));
    assert.equal(red.next[0], "orch prepare .orch/contracts/T1.json");
    assert.equal(held(), 0);
    const again = await orch("prepare", "T1");
    assert.equal(again.data.folder, folder);
    assert.equal(held(), 1);
    assert.equal(fs.readFileSync(path.join(folder, "src", "slug.py"), "utf8"), trimmed);
    assert.match(fs.readFileSync(again.data.agent_prompt, "utf8"), /stray\.txt is outside the allowed files/);
    fs.rmSync(path.join(folder, "stray.txt"));
    const green = await orch("guard", "T1", "--reply", done);
    assert.equal(green.code, 0, JSON.stringify(green));
    assert.equal(held(), 0);
    assert.equal((await orch("review", "T1", "--take-over")).code, 0);
    assert.equal((await orch("restore")).data.entries.length, 1);
  });

  it("prepare after a look takes the place that the worktree has, and no second one", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    fs.writeFileSync(path.join(folder, "stray.txt"), "x");
    assert.equal((await orch("guard", "T1")).code, 1);
    assert.equal(held(), 1);
    const again = await orch("prepare", "T1");
    assert.equal(again.data.folder, folder, JSON.stringify(again));
    assert.equal(held(), 1);
    fs.rmSync(path.join(folder, "stray.txt"));
    assert.equal((await orch("guard", "T1", "--reply", done)).code, 0);
    assert.equal(held(), 0);
  });

  it("prepared again before anybody judged it, it goes on in the same place: guard judges all that lies there", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    for (let times = 0; times < 3; times += 1) {
      const again = await orch("prepare", "T1");
      assert.equal(again.data.folder, folder, JSON.stringify(again));
      assert.ok(again.summary.startsWith(`T1 was prepared already: it goes on in ${folder}, as that is now, for 60`));
      assert.equal(held(), 1);
    }
    assert.equal(fs.readFileSync(path.join(folder, "src", "slug.py"), "utf8"), trimmed);
    fs.writeFileSync(path.join(folder, "stray.txt"), "x");
    assert.equal((await orch("guard", "T1", "--reply", done)).code, 1);
    assert.match((await orch("prepare", "T1")).summary, /, with what was judged last, for 60 minutes/);
    const kept = await orch("prepare", "T1");
    assert.match(fs.readFileSync(kept.data.agent_prompt, "utf8"), /stray\.txt is outside the allowed files/);
    fs.rmSync(path.join(folder, "stray.txt"));
    assert.equal((await orch("guard", "T1", "--reply", done)).code, 0);
    assert.equal(held(), 0);
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.equal((await orch("merge", "T1")).code, 0);
    assert.equal(await work.repo.read("src/slug.py"), trimmed);
  });

  it("a prepared place that a lead takes over or clean removes is begun anew", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    const taken = await orch("review", "T1", "--take-over");
    assert.equal(taken.code, 0, JSON.stringify(taken));
    assert.equal((await orch("restore")).data.entries.length, 1);
    const anew = await orch("prepare", "T1");
    assert.match(anew.summary, /^T1 is prepared in /);
    assert.notEqual(fs.readFileSync(path.join(anew.data.folder, "src", "slug.py"), "utf8"), trimmed);
    assert.equal(held(), 1);
  });

  it("clean gives the place of the machine back and leaves the worktree, which --all removes", async () => {
    const { folder } = (await orch("prepare", "T1")).data;
    const told = await orch("clean", "--dry-run");
    assert.equal(told.summary, "Would give back 1 place of a prepared worker; nothing was changed");
    assert.deepEqual(told.data.places, [{ contract: "T1", place: 1 }]);
    assert.match(told.data.text.join("\n"), /of T1 is prepared for a worker: orch guard T1, or orch clean --all/);
    assert.equal(held(), 1);
    const back = await orch("clean", "--yes");
    assert.equal(back.summary, "Gave back 1 place of a prepared worker");
    assert.equal(held(), 0);
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    assert.match((await orch("clean", "--dry-run")).summary, /^Nothing to remove/);
    assert.equal((await orch("guard", "T1")).code, 0, "what lies there is judged all the same");
    assert.equal((await orch("prepare", "T1")).code, 0);
    const all = await orch("clean", "--all", "--yes");
    assert.match(all.summary, /^Removed 2 worktrees .*; gave back 1 place of a prepared worker; stored for restore/);
    assert.equal(held(), 0);
    assert.ok(!fs.existsSync(folder));
  });

  it("a merged contract waits for nobody: not in its older runs, not in its worktrees", async () => {
    await work.put("T1", { worker: "absent" });
    assert.equal((await orch("run", "--title", "Early", "T1")).code, 4);
    const [early] = (await orch("status")).data.runs;
    const unnamed = await orch("cancel");
    assert.deepEqual([unnamed.code, unnamed.error?.code], [2, "run.unknown"]);
    assert.equal(unnamed.error?.message, `No run is alive. These wait: ${early.run} (parked, Early)`);
    assert.deepEqual(unnamed.next, [`orch cancel ${early.run}`, `orch resume ${early.run}`]);
    const { folder } = (await orch("prepare", "T1")).data;
    fs.writeFileSync(path.join(folder, "src", "slug.py"), trimmed);
    assert.equal((await orch("guard", "T1", "--reply", done)).code, 0);
    assert.equal((await orch("review", "T1", "--accept")).code, 0);
    assert.equal((await orch("merge", "T1")).code, 0);
    const status = await orch("status");
    assert.equal(status.summary, "nothing runs");
    assert.deepEqual(status.next, ["orch runs"]);
    assert.ok(
      status.data.text.includes(
        `${early.run}  parked, and its work went on without it: orch cancel ${early.run} ends it`,
      ),
    );
    assert.equal((await orch("resume")).error?.message, "No run is interrupted or parked");
    const named = await orch("resume", early.run);
    assert.deepEqual(
      [named.code, named.error?.code, named.error?.message, named.next],
      [5, "run.left-behind", `T1 went on without run ${early.run}`, [`orch cancel ${early.run}`]],
    );
    assert.deepEqual((await orch("status", early.run)).next, [`orch cancel ${early.run}`]);
    const rows = (await orch("doctor", "--verbose")).data.checks.filter(
      ({ title }: { title: string }) => title === "runs",
    );
    assert.deepEqual(
      rows.map(({ what, next }: { what: string; next?: string }) => [what, next]),
      [[`${early.run} (run) is parked, and its work went on without it`, `orch cancel ${early.run}`]],
    );
    assert.deepEqual((await orch("cancel")).next, [`orch cancel ${early.run}`]);
    assert.doesNotMatch((await orch("clean", "--dry-run")).data.text.join("\n"), /T1 (?:awaits|is prepared|belongs)/);
  });
});
