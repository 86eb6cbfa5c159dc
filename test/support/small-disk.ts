import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { TempDir } from "./temp-dir.ts";

/** Why there can be none here; undefined where there can. Only root may mount, and root must be able to. */
export function noSmallDisk(): string | undefined {
  if (process.platform !== "linux") return `no tmpfs on ${process.platform}`;
  return process.getuid?.() === 0 ? undefined : "only root can make a file system of its own";
}

/** A file system of a few megabytes, so that a full disk is a full disk. */
export class SmallDisk implements Disposable {
  readonly #dir = new TempDir();
  readonly path = this.#dir.at("disk");
  readonly #filler = path.join(this.path, "filler");

  constructor(megabytes: number) {
    fs.mkdirSync(this.path);
    execFileSync("/bin/mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.path]);
  }

  /** Leaves `bytes` for whoever writes next. */
  fill(bytes: number): void {
    const { bavail, bsize } = fs.statfsSync(this.path);
    const size = bavail * bsize - bytes;
    if (size > 0) fs.writeFileSync(this.#filler, Buffer.alloc(size));
  }

  free(): void {
    fs.rmSync(this.#filler, { force: true });
  }

  [Symbol.dispose](): void {
    execFileSync("/bin/umount", ["-l", this.path]); // lazy: a program may be a moment from its end
    this.#dir[Symbol.dispose]();
  }
}
