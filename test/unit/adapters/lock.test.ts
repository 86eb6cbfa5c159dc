import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import { createLocks } from "../../../shared/adapters/lock.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import type { LockTry } from "../../../shared/ports/lock.ts";
import { eventually } from "../../support/eventually.ts";
import { TempDir } from "../../support/temp-dir.ts";

const locks = createLocks({ startTimeOf: () => "start" });
const holder = { run: "r-1", host: "cli", what: "do" };

function held(result: LockTry): Disposable {
  if (result.kind !== "held") throw new assert.AssertionError({ message: `busy: ${JSON.stringify(result.holder)}` });
  return result.lock;
}

/** Another process that takes the lock and keeps it until it is killed. */
function contender(at: string): ChildProcess {
  const code = `
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(process.argv[1], { timeout: 5000 });
    db.exec("BEGIN EXCLUSIVE");
    require("node:fs").writeFileSync(process.argv[1] + ".up", "");
    setInterval(() => {}, 1000);`;
  return spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", code, at], { stdio: "inherit" });
}

describe("locks", function () {
  this.timeout(600_000);
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir()));
  afterEach(() => dir[Symbol.dispose]());

  it("one holds it; another in the same process learns who", () => {
    const at = dir.at("deep", "lock.db");
    const lock = held(locks.try(at, holder));
    assert.deepEqual(
      [locks.try(at, { host: "nvim", what: "undo" }), locks.isFree(at)],
      [{ kind: "busy", holder: { ...holder, pid: process.pid, startTime: "start" } }, false],
    );
    lock[Symbol.dispose]();
    lock[Symbol.dispose]();
    assert.equal(locks.isFree(at), true);
    held(locks.try(at, holder))[Symbol.dispose]();
    assert.deepEqual(fs.readdirSync(dir.at("deep")), ["lock.db"]);
  });

  it("a look at a held lock frees nothing", () => {
    const at = dir.at("lock.db");
    using _lock = held(locks.try(at, holder));
    for (let i = 0; i < 20; i += 1) assert.equal(locks.isFree(at), false);
    assert.equal(locks.try(at, holder).kind, "busy");
  });

  it("nobody's lock is free and looking makes no file", () => {
    assert.equal(locks.isFree(dir.at("lock.db")), true);
    assert.deepEqual(fs.readdirSync(dir.path), []);
  });

  it("another process holds it, asleep too, until it is killed", async () => {
    const at = dir.at("lock.db");
    const other = contender(at);
    try {
      await eventually("held elsewhere", () => fs.existsSync(`${at}.up`));
      assert.deepEqual([locks.isFree(at), locks.try(at, holder)], [false, { kind: "busy" }]);
      other.kill("SIGSTOP");
      assert.equal(locks.try(at, holder).kind, "busy");
    } finally {
      other.kill("SIGKILL");
    }
    const lock = await eventually("free after the kill", () => {
      const got = locks.try(at, holder);
      return got.kind === "held" ? got.lock : undefined;
    });
    lock[Symbol.dispose]();
  });

  it("an honest try waits out somebody's look", async () => {
    const at = dir.at("lock.db");
    held(locks.try(at, holder))[Symbol.dispose]();
    const code = `
      const { DatabaseSync } = require("node:sqlite");
      require("node:fs").writeFileSync(process.argv[1] + ".up", "");
      const until = Date.now() + 3000;
      while (Date.now() < until) { const db = new DatabaseSync(process.argv[1], { timeout: 0 }); try { db.exec("BEGIN; SELECT count(*) FROM sqlite_schema"); } catch {} db.close(); }`;
    const looker = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", "-e", code, at], {
      stdio: "inherit",
    });
    try {
      await eventually("looking", () => fs.existsSync(`${at}.up`));
      for (let i = 0; i < 200; i += 1) held(locks.try(at, holder))[Symbol.dispose]();
    } finally {
      looker.kill("SIGKILL");
    }
  });

  it("a file that is no lock is refused, not replaced", () => {
    const at = dir.at("lock.db");
    fs.writeFileSync(at, "this is a letter to my aunt, not a database".repeat(50));
    assert.throws(
      () => locks.try(at, holder),
      (error) => isOrchError(error, "file.invalid"),
    );
    assert.match(fs.readFileSync(at, "utf8"), /^this is a letter/);
  });

  it("a broken holder file costs only the name", () => {
    const at = dir.at("lock.db");
    using _lock = held(locks.try(at, holder));
    fs.writeFileSync(`${at}.holder`, "{");
    assert.deepEqual(locks.try(at, holder), { kind: "busy" });
  });
});
