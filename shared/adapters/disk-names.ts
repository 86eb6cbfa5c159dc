import { randomBytes } from "node:crypto";
import { open, rename } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { maxNameBytes } from "../model/names.ts";
import { hasErrno } from "./git-walk.ts";

/** Windows refuses to rename a file that a reader has open, or over one; it lets go soon. */
export async function renamed(from: Buffer | string, to: Buffer | string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await rename(from, to);
    } catch (error) {
      if (process.platform !== "win32" || tries >= 20 || !hasErrno(error, "EPERM", "EACCES", "EBUSY")) throw error;
      await delay(10 * (tries + 1));
    }
  }
}

/** The names in a folder are on the disk when it returns. */
export async function syncFolder(folder: Buffer | string): Promise<void> {
  if (process.platform === "win32") return; // a folder cannot be opened there
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => undefined); // some file systems refuse it; the names stand all the same
  await handle?.close();
}

const tornTail = ".123456789abc.tmp";
const tornWrite = /^(\..+)\.[0-9a-f]{12}\.tmp$/;

/** Names the temporary file of an atomic write to `name`, beside it: not longer than a disk allows, whatever `name` is. */
export function tornName(name: string): string {
  return `${tornStart(name)}.${randomBytes(6).toString("hex")}.tmp`;
}

/** Whether a file is named as the temporary file of an atomic write is; with `of`, of one to that name. */
export function isTornName(fileName: string, of?: string): boolean {
  const start = tornWrite.exec(fileName)?.[1];
  return start !== undefined && (of === undefined || start === tornStart(of));
}

function tornStart(name: string): string {
  const letters = Array.from(`.${name}`);
  while (Buffer.byteLength(letters.join("")) + tornTail.length > maxNameBytes) letters.pop();
  return letters.join("");
}
