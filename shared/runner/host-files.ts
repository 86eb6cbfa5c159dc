import { randomBytes } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { datedId, idLetters } from "../base/dated-id.ts";

// What a host without a file system API of its own reads: never git, never anything that runs.

/** The nearest folder upwards that holds `.git`, which is a file in linked worktrees. Git itself is not asked. */
export function repositoryRoot(folder: string): string | undefined {
  for (let at = folder; ; at = path.dirname(at)) {
    if (fs.existsSync(path.join(at, ".git"))) return at;
    if (path.dirname(at) === at) return undefined;
  }
}

/** The real path, or the path itself where nothing is there. */
export function realPath(at: string): string {
  try {
    return fs.realpathSync(at);
  } catch {
    return at;
  }
}

/** undefined when it is not there, is no file, or is larger than `maxBytes`. */
export async function readSmallText(at: string, maxBytes = 8 * 1024 * 1024): Promise<string | undefined> {
  try {
    const found = await fs.promises.stat(at);
    return found.isFile() && found.size <= maxBytes ? await fs.promises.readFile(at, "utf8") : undefined;
  } catch {
    return undefined;
  }
}

/** Names in the nearest registry upwards and in those its apps have of their own; empty when nothing says any. */
export async function knownFeatures(folder: string, root: string): Promise<readonly string[]> {
  for (let at = realPath(folder); ; at = path.dirname(at)) {
    const main = await readRegistry(path.join(at, ".features.json"));
    if (main !== undefined) {
      const own = Object.values(part(main, "apps")).flatMap((app) => {
        const config: unknown = typeof app === "object" && app !== null ? Reflect.get(app, "config") : undefined;
        const inside = typeof config === "string" && config.endsWith(".features.json") && !config.includes("..");
        return inside ? [path.join(at, config)] : [];
      });
      const files = [main, ...(await Promise.all(own.map(readRegistry)))];
      return files.flatMap((file) => Object.keys(part(file, "known_features")));
    }
    if (at === root || path.dirname(at) === at) return [];
  }
}

async function readRegistry(at: string): Promise<unknown> {
  const text = await readSmallText(at);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return {};
  }
}

function part(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const found: unknown = typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  return typeof found === "object" && found !== null && !Array.isArray(found) ? { ...found } : {};
}

/** The id of a run that starts at `at` (base/dated-id.ts). `startRun` asks again when it is taken. */
export function runIdAt(at: number): string {
  const end = [...randomBytes(2)].map((byte) => idLetters[byte % idLetters.length]).join("");
  return datedId("r", at, end);
}
