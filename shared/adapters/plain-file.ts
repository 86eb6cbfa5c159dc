import { constants } from "node:fs";
import fs from "node:fs/promises";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";

/**
 * Bytes of a plain file, links followed. A repository may hold a link to a device or a pipe, which never ends or never
 * begins: it is opened without waiting, and refused by what was opened (`path.refused`), not by what stood there before.
 */
export async function readPlainFile(at: AbsPath): Promise<Buffer> {
  // Windows has no such flag, and no pipes in folders.
  const flags = constants.O_RDONLY | (process.platform === "win32" ? 0 : constants.O_NONBLOCK);
  const file = await fs.open(at, flags);
  try {
    const stat = await file.stat();
    // A folder is left to the reading, which has a word of its own for it.
    if (!stat.isFile() && !stat.isDirectory()) throw notPlain(at);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

export function notPlain(at: string): OrchError {
  return new OrchError("path.refused", `${at} is a device or a pipe, and a file is needed`, { data: { path: at } });
}
