import { createHash } from "node:crypto";
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { throwIfAborted } from "../base/abort.ts";
import type { ContentIds } from "../ports/content-ids.ts";

const yieldEvery = 64;
/** Larger files are not judged, so what they hold does not matter. */
const maxBytes = 8 * 1024 * 1024;

/** Reads and hashes synchronously, in small groups: for many small files promises would cost more than the work. */
export function createContentIds(): ContentIds {
  return {
    async of(paths, signal) {
      const ids: (string | undefined)[] = [];
      let buffer = Buffer.allocUnsafe(256 * 1024);
      for (const [index, path] of paths.entries()) {
        if (index % yieldEvery === yieldEvery - 1) await yieldToLoop();
        throwIfAborted(signal);
        let descriptor: number | undefined;
        try {
          descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
          const stat = fstatSync(descriptor);
          if (!stat.isFile() || stat.size > maxBytes) {
            ids.push(stat.isFile() ? `large:${stat.size}` : undefined);
            continue;
          }
          if (stat.size + 1 > buffer.length) buffer = Buffer.allocUnsafe(stat.size + 1);
          let length = 0;
          for (let got = -1; got !== 0 && length < buffer.length; length += got)
            got = readSync(descriptor, buffer, length, buffer.length - length, null);
          ids.push(createHash("sha1").update(buffer.subarray(0, length)).digest("base64url"));
        } catch {
          ids.push(undefined);
        } finally {
          if (descriptor !== undefined) closeSync(descriptor);
        }
      }
      return ids;
    },
  };
}
