import fs from "node:fs/promises";
import path from "node:path";
import * as z from "zod";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { splitJsonl } from "../base/jsonl.ts";
import { OrchError } from "../model/error.ts";
import { parseEvent } from "../model/event.ts";
import { readJson } from "../model/json-text.ts";
import { ReplyFile, RunnerFile, RunRequest } from "../model/run-files.ts";
import { runIdPattern } from "../model/run-place.ts";
import type { Files } from "../ports/files.ts";
import type { Locks } from "../ports/lock.ts";
import type { RunFolder, RunStore } from "../ports/run-store.ts";

export interface RunStoreDeps {
  readonly files: Files;
  readonly locks: Locks;
  /** `runsDir` and `stateRunsDir` of model/run-place.ts. */
  readonly dirs: readonly AbsPath[];
}

export function createRunStore({ files, locks, dirs }: RunStoreDeps): RunStore {
  const list = async (): Promise<readonly RunFolder[]> => {
    const found = await Promise.all(dirs.map((dir) => foldersIn(dir, files)));
    return found.flat().toSorted((a, b) => (a.run < b.run ? 1 : a.run > b.run ? -1 : 0));
  };
  return {
    list,
    async find(run) {
      const all = await list();
      const exact = all.find((folder) => folder.run === run);
      if (exact !== undefined || run === "") return exact;
      const near = all.filter((folder) => folder.run.startsWith(run) || folder.run.endsWith(run));
      return near.length === 1 ? near[0] : undefined;
    },
    request: (dir) => readFile(inRoot(dir, "request.json"), RunRequest, files),
    async events(dir) {
      const text = await files.readText(inRoot(dir, "events.jsonl"));
      return text === undefined ? [] : splitJsonl(text).lines.map(parseEvent);
    },
    async runner(dir) {
      // For people and for cleaning up: a broken one is as good as none.
      return readFile(inRoot(dir, "runner.json"), RunnerFile, files).catch(() => undefined);
    },
    isAlive: (dir) => !locks.isFree(inRoot(dir, "lock.db")),
    async reply(dir, reply) {
      await files.makeDir(inRoot(dir, "replies"), { mode: 0o700 });
      return files.createOnce(replyPath(dir, reply.id), line(ReplyFile.parse(reply)));
    },
    readReply: async (dir, id) => readFile(replyPath(dir, id), ReplyFile, files),
    async control(dir, id, control) {
      await files.makeDir(inRoot(dir, "control"), { mode: 0o700 });
      await files.createOnce(inRoot(dir, "control", `${id}.json`), line(control));
    },
    link: (contract, folder) => linkNewest(contract, folder, files),
  };
}

async function foldersIn(dir: AbsPath, files: Files): Promise<RunFolder[]> {
  const entries = (await files.list(dir)) ?? [];
  return entries.flatMap(({ name, kind }) =>
    kind === "directory" && runIdPattern.test(name) ? [{ run: name, dir: inRoot(dir, name) }] : [],
  );
}

const line = (value: unknown): string => `${JSON.stringify(value)}\n`;

function replyPath(dir: AbsPath, id: string): AbsPath {
  const known = ReplyFile.shape.id.safeParse(id);
  if (!known.success) throw new OrchError("reply.unknown", `${id} is no id of a question`);
  return inRoot(dir, "replies", `${id}.json`);
}

/** All these files say which Orch's shape they have; another one is named before its fields are judged. */
const formatVersion = 1;
const Versioned = z.looseObject({ v: z.number() });

async function readFile<S extends z.ZodType>(at: AbsPath, schema: S, files: Files): Promise<z.output<S> | undefined> {
  const text = await files.readText(at);
  if (text === undefined) return undefined;
  const versioned = readJson(text, Versioned);
  if (versioned.kind === "ok" && versioned.value.v !== formatVersion) {
    throw invalid(at, 1, `written by another Orch (version ${versioned.value.v}, this one reads ${formatVersion})`);
  }
  const read = readJson(text, schema);
  if (read.kind === "ok") return read.value;
  throw invalid(at, read.fault.line, read.fault.message);
}

function invalid(at: AbsPath, line: number, why: string): OrchError {
  return new OrchError("file.invalid", `${at}:${line}: ${why}`, { data: { path: at, line } });
}

/** Made aside and renamed, so that a reader never finds none. A folder or file of a person at that name stays. */
async function linkNewest(contract: string, folder: RunFolder, files: Files): Promise<void> {
  const at = inRoot(path.dirname(folder.dir) as AbsPath, contract);
  const there = await files.stat(at);
  if (there !== undefined && there.kind !== "symlink") return;
  const aside = inRoot(path.dirname(folder.dir) as AbsPath, `.${contract}.${folder.run}`);
  await files.remove(aside);
  if (process.platform === "win32") {
    // Links need a right there that most people lack; a junction does not, but cannot be renamed over another.
    await files.remove(at);
    await fs.symlink(path.join(folder.dir, contract), at, "junction");
    return;
  }
  await files.symlink(`${folder.run}/${contract}`, aside);
  await files.rename(aside, at);
}
