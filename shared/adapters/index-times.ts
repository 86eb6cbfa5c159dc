import { lstatSync } from "node:fs";
import { chmod, readFile, stat } from "node:fs/promises";
import type { AbsPath } from "../base/paths.ts";
import { inRootBytes } from "./git-walk.ts";

interface Young {
  readonly path: Uint8Array;
  readonly executable: boolean;
}

/** Of an entry before the object id, and the flags behind it. */
const statBytes = 40;
const flagBytes = 2;

/**
 * Files that were written in the second in which their index was: git compares whole seconds, so it does not see that
 * the rights of such a file were changed in the rest of it. (Contents are read again in that case; rights are not.)
 * `undefined` for an index of a kind that Orch does not write (version 4).
 */
export async function youngFiles(index: string, format: "sha1" | "sha256"): Promise<readonly Young[] | undefined> {
  const [bytes, { mtimeMs }] = await Promise.all([readFile(index), stat(index)]);
  const second = Math.floor(mtimeMs / 1000);
  const version = bytes.readUInt32BE(4);
  if (bytes.toString("latin1", 0, 4) !== "DIRC" || version > 3) return undefined;
  const flagsAt = statBytes + (format === "sha1" ? 20 : 32);
  const young: Young[] = [];
  let at = 12;
  for (let left = bytes.readUInt32BE(8); left > 0; left -= 1) {
    const extended = version === 3 && (bytes.readUInt16BE(at + flagsAt) & 0x4000) !== 0 ? 2 : 0;
    const start = at + flagsAt + flagBytes + extended;
    const end = bytes.indexOf(0, start);
    const mode = bytes.readUInt32BE(at + 24);
    if (bytes.readUInt32BE(at) >= second && mode >> 12 === 0o10)
      young.push({ path: bytes.subarray(start, end), executable: (mode & 0o100) !== 0 });
    at += (end - at + 8) & ~7;
  }
  return young;
}

/** Gives young files the rights that a checkout gives them. */
export async function setRights(root: AbsPath, young: readonly Young[]): Promise<void> {
  const umask = process.umask();
  for (const { path, executable } of young) {
    const at = inRootBytes(root, path);
    // Thousands of them, a few microseconds each: as promises they would take a hundred times as long.
    const found = lstatSync(at, { throwIfNoEntry: false });
    const usual = (executable ? 0o777 : 0o666) & ~umask;
    if (found?.isFile() === true && (found.mode & 0o7777) !== usual) await chmod(at, usual);
  }
}
