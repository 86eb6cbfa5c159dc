import { createHash } from "node:crypto";
import * as z from "zod";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { readJson } from "../model/json-text.ts";
import type { Files } from "../ports/files.ts";

/** A file of the hook folders: shown by its name, compared by its bytes and mode. */
export interface HookNow {
  readonly name: string;
  readonly value: string;
  readonly at?: AbsPath;
}

export interface HookWatchDeps {
  readonly files: Files;
  /** In the user's state folder: nothing of it lies in the repository. */
  readonly stateDir: AbsPath;
  /** Real path of the git common dir. */
  readonly repository: string;
  readonly hooks: () => Promise<readonly HookNow[]>;
}

/**
 * What the hooks were before workers that could write there began: written down before each attempt, so that also a
 * runner that was killed, or another Orch in the meantime, knows a hook that came since. A record goes when its attempt
 * changed no hook, or when a person trusted the hooks as they are.
 */
export interface HookWatch {
  begin(id: string): Promise<void>;
  end(id: string): Promise<void>;
  /** Hooks that are not what a record says they were; those that went are none. */
  changed(): Promise<readonly HookNow[]>;
  /** Forgets each record that these account for in full. */
  decided(seen: readonly Pick<HookNow, "name" | "value">[]): Promise<void>;
}

const Record = z.record(z.string(), z.string());
type Record = z.infer<typeof Record>;

export function createHookWatch({ files, stateDir, repository, hooks }: HookWatchDeps): HookWatch {
  const folder = inRoot(stateDir, "hooks", short(repository));
  const fileOf = (id: string): AbsPath => inRoot(folder, `${short(id)}.json`);

  async function records(): Promise<{ readonly at: AbsPath; readonly was: Record }[]> {
    const names = (await files.list(folder)) ?? [];
    const all = await Promise.all(
      names
        .filter(({ name, kind }) => kind === "file" && name.endsWith(".json"))
        .map(async ({ name }) => {
          const at = inRoot(folder, name);
          const was = await readRecord(at);
          return was === undefined ? [] : [{ at, was }];
        }),
    );
    return all.flat();
  }

  /** One that cannot be read knows no hook: then every hook waits for a person. */
  async function readRecord(at: AbsPath): Promise<Record | undefined> {
    const text = await files.readText(at);
    if (text === undefined) return undefined;
    const read = readJson(text, Record);
    return read.kind === "ok" ? read.value : {};
  }

  const since = (was: Record, now: readonly HookNow[]): HookNow[] =>
    now.filter(({ name, value }) => was[name] !== value);

  return {
    async begin(id) {
      const now = await hooks();
      const older = await readRecord(fileOf(id));
      // Of an attempt that was cut off or whose change waits for a person: what it began with is what counts.
      if (older !== undefined && since(older, now).length > 0) return;
      await files.makeDir(folder, { mode: 0o700 });
      const was = Object.fromEntries(now.map(({ name, value }) => [name, value]));
      await files.write(fileOf(id), `${JSON.stringify(was)}\n`, { mode: 0o600 });
    },
    async end(id) {
      const was = await readRecord(fileOf(id));
      if (was === undefined || since(was, await hooks()).length > 0) return;
      await files.remove(fileOf(id));
    },
    async changed() {
      const known = await records();
      if (known.length === 0) return [];
      const now = await hooks();
      return now.filter((one) => known.some(({ was }) => was[one.name] !== one.value));
    },
    async decided(seen) {
      const now = await hooks();
      for (const { at, was } of await records()) {
        const left = since(was, now).filter(
          ({ name, value }) => !seen.some((one) => one.name === name && one.value === value),
        );
        if (left.length === 0) await files.remove(at);
      }
    },
  };
}

function short(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
