import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import * as z from "zod";
import { isDiskFull } from "../base/disk-full.ts";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { HeldLock, LockHolder, Locks } from "../ports/lock.ts";
import type { ProcessSweep } from "../ports/process.ts";

/** A look at a lock (`isFree`) holds it for a moment; an honest try waits that out. */
const busyMs = 300;
const busyCode = 5;
const fullCode = 13;
const notDatabaseCode = 26;

const Holder = z.object({
  run: z.string().optional(),
  pid: z.number(),
  startTime: z.string(),
  host: z.string(),
  what: z.string(),
});

/**
 * `BEGIN EXCLUSIVE` on a file of its own: an OS lock, gone with the process, never stolen from one that sleeps. The
 * holder stands beside it in `<lock>.holder`. Trap, measured: closing any other descriptor of a lock file in this
 * process frees it, so nothing but SQLite (which knows) ever opens one here: no hashing, no copying, no trash.
 */
export function createLocks(times: Pick<ProcessSweep, "startTimeOf">): Locks {
  const Database = sqlite();
  return {
    try(at, holder) {
      makeFolder(at);
      const database = open(Database, at, busyMs);
      if (database === "busy" || !begin(database, at, "BEGIN EXCLUSIVE")) {
        const known = readHolder(at);
        return { kind: "busy", ...(known === undefined ? {} : { holder: known }) };
      }
      const dead = readHolder(at);
      const mine: LockHolder = { ...holder, pid: process.pid, startTime: times.startTimeOf(process.pid) ?? "" };
      writeHolder(at, mine);
      return { kind: "held", lock: held(database, at), ...(dead === undefined ? {} : { dead }) };
    },
    isFree(at) {
      if (!fs.existsSync(at)) return true;
      const database = open(Database, at, 0);
      if (database === "busy") return false;
      // A shared lock is enough to meet an exclusive one, and two who look do not meet each other.
      const free = begin(database, at, "BEGIN; SELECT count(*) FROM sqlite_schema");
      if (free) database.close();
      return free;
    },
  };
}

function held(database: DatabaseSync, at: AbsPath): HeldLock {
  let mine = true;
  return {
    path: at,
    [Symbol.dispose]() {
      if (!mine) return;
      mine = false;
      fs.rmSync(holderOf(at), { force: true });
      database.close();
    },
  };
}

type DatabaseClass = typeof DatabaseSync;

/** Not a static import: a Node without it must be able to say so. */
function sqlite(): DatabaseClass {
  try {
    return (createRequire(import.meta.url)("node:sqlite") as { readonly DatabaseSync: DatabaseClass }).DatabaseSync;
  } catch (error) {
    throw new OrchError(
      "env.no-sqlite",
      `This Node (${process.versions.node}) has no node:sqlite, which holds the locks`,
      { cause: error },
    );
  }
}

function open(Database: DatabaseClass, at: AbsPath, timeoutMs: number): DatabaseSync | "busy" {
  try {
    return new Database(at, { timeout: timeoutMs });
  } catch (error) {
    if (codeOf(error) === busyCode) return "busy";
    throw refusal(at, error);
  }
}

/** False, with the database closed, when another holds the lock. */
function begin(database: DatabaseSync, at: AbsPath, statement: string): boolean {
  try {
    database.exec(statement);
    return true;
  } catch (error) {
    database.close();
    if (codeOf(error) === busyCode) return false;
    throw refusal(at, error);
  }
}

function refusal(at: AbsPath, error: unknown): OrchError {
  const why = error instanceof Error ? error.message : String(error);
  if (codeOf(error) === fullCode || isDiskFull(error)) {
    return new OrchError("env.disk-full", `The disk is full: ${at} could not be locked`, { cause: error });
  }
  if (codeOf(error) === notDatabaseCode) {
    return new OrchError("file.invalid", `${at} is no lock file of Orch: ${why}. Remove it when no run is alive`, {
      data: { path: at },
      cause: error,
    });
  }
  return new OrchError("path.refused", `${at} cannot be locked: ${why}`, { data: { path: at }, cause: error });
}

function codeOf(error: unknown): number | undefined {
  if (typeof error !== "object" || error === null || !("errcode" in error) || typeof error.errcode !== "number")
    return undefined;
  return error.errcode & 0xff; // the upper bytes tell kinds of the same trouble apart
}

function makeFolder(at: AbsPath): void {
  try {
    fs.mkdirSync(path.dirname(at), { recursive: true, mode: 0o700 });
  } catch (error) {
    throw refusal(at, error);
  }
}

const holderOf = (at: AbsPath): string => `${at}.holder`;

function writeHolder(at: AbsPath, holder: LockHolder): void {
  const temp = `${holderOf(at)}.${process.pid}`;
  try {
    fs.writeFileSync(temp, `${JSON.stringify(holder)}\n`, { mode: 0o600 });
    fs.renameSync(temp, holderOf(at));
  } catch {
    fs.rmSync(temp, { force: true }); // for people only; the lock holds without it, also on a full disk
  }
}

function readHolder(at: AbsPath): LockHolder | undefined {
  try {
    const found = Holder.parse(JSON.parse(fs.readFileSync(holderOf(at), "utf8")));
    return {
      pid: found.pid,
      startTime: found.startTime,
      host: found.host,
      what: found.what,
      ...(found.run === undefined ? {} : { run: found.run }),
    };
  } catch {
    return undefined;
  }
}

/** Name of this machine, for holders and `runner.json`. */
export function machineName(): string {
  return os.hostname();
}
