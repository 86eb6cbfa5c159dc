import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

/** What a file holds, read in pieces. `oid` is the id git gives the same bytes, so the two can be held against each other. */
export interface Digest {
  readonly sha256: string;
  readonly oid: string;
  readonly bytes: number;
}

const chunkBytes = 1024 * 1024;

/** `undefined` when the file changed while it was read. Rejects with the system's error when it cannot be read. */
export async function digestFile(at: Buffer | string, format: "sha1" | "sha256"): Promise<Digest | undefined> {
  const file = await open(at, "r");
  try {
    const { size } = await file.stat();
    const plain = createHash("sha256");
    const git = createHash(format).update(`blob ${size}\0`);
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, size + 1));
    let bytes = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) break;
      const piece = buffer.subarray(0, bytesRead);
      plain.update(piece);
      git.update(piece);
      bytes += bytesRead;
    }
    return bytes === size ? { sha256: plain.digest("hex"), oid: git.digest("hex"), bytes } : undefined;
  } finally {
    await file.close();
  }
}

export const toBase64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
export const fromBase64 = (text: string): Buffer => Buffer.from(text, "base64");

/** Bytes of a path as a key: one character a byte. */
export const byteKey = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
