import { randomUUID } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { isDiskFull } from "../base/disk-full.ts";
import { OrchError } from "../model/error.ts";
import { ControlFile, ReplyFile } from "../model/run-files.ts";

/**
 * Says something to a run by dropping a file into its folder: written aside, then linked, so that nobody ever reads a
 * half. Only the runner acts on it. Works while no runner lives: the next one reads it.
 */
export function dropReply(dir: string, reply: ReplyFile): boolean {
  const parsed = ReplyFile.safeParse(reply);
  if (!parsed.success) throw new OrchError("reply.unknown", `${reply.id} is no id of a question`);
  return drop(path.join(dir, "replies"), `${parsed.data.id}.json`, parsed.data);
}

/** Returns the id under which the runner will answer with `control.accepted` or `control.refused`. */
export function dropControl(dir: string, control: ControlFile): string {
  const id = randomUUID();
  drop(path.join(dir, "control"), `${id}.json`, ControlFile.parse(control));
  return id;
}

/** Takes back what no runner has read. */
export function withdrawControl(dir: string, id: string): void {
  fs.rmSync(path.join(dir, "control", `${id}.json`), { force: true });
}

/** Takes a completion request of a run for this window; false when another window has it. */
export function dropClaim(dir: string, id: string, host: string): boolean {
  return drop(path.join(dir, "replies"), `${ReplyFile.shape.id.parse(id)}.claim`, { v: 1, host, pid: process.pid });
}

/** Says that the window still works on it, at `at`. False when the runner took the claim away: it no longer waits. */
export function keepClaim(dir: string, id: string, at: number): boolean {
  const now = new Date(at);
  try {
    fs.utimesSync(path.join(dir, "replies", `${ReplyFile.shape.id.parse(id)}.claim`), now, now);
    return true;
  } catch {
    return false;
  }
}

/** False when a file of that name stands already: the first stands. */
function drop(folder: string, name: string, value: unknown): boolean {
  const aside = path.join(folder, `.${randomUUID()}.tmp`);
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(aside, `${JSON.stringify(value)}\n`, { mode: 0o600, flag: "wx", flush: true });
    fs.linkSync(aside, path.join(folder, name));
    return true;
  } catch (error) {
    const code = typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
    if (code === "EEXIST") return false;
    if (isDiskFull(error))
      throw new OrchError("env.disk-full", `The disk is full: ${folder} could not be written`, { cause: error });
    if (code === "EACCES" || code === "EPERM" || code === "EROFS" || code === "ENOTDIR")
      throw new OrchError("path.refused", `${folder} cannot be written`, { cause: error });
    throw error;
  } finally {
    removeAside(aside);
  }
}

function removeAside(aside: string): void {
  try {
    fs.rmSync(aside, { force: true });
  } catch {
    // Its folder is none: there was nothing to remove, and the first error says why.
  }
}
