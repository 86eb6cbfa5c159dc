import { createHash } from "node:crypto";
import { type AbsPath, absPath, type RepoPath, repoPath } from "../../shared/base/paths.ts";
import type { Change, ChangedFile } from "../../shared/model/change.ts";
import type { Accepted, Workspace, Workspaces, WriteResult } from "../../shared/ports/workspace.ts";

/** A workspace of texts in memory: enough for the engine, the gates and the completion worker. */
export class MemoryWorkspace implements Workspace, Workspaces {
  readonly kind = "in-place" as const;
  readonly root: AbsPath = absPath("/repo");
  readonly base = "base0000";
  readonly before: ReadonlyMap<string, string>;
  readonly files: Map<string, string>;
  /** Paths a person edited meanwhile: never written, never rolled back. */
  readonly edited = new Set<string>();
  /** Of an earlier life of the run. */
  declare accepted?: Accepted;
  opened = 0;
  rolledBack = 0;
  disposed = 0;

  constructor(before: Readonly<Record<string, string>> = {}) {
    this.before = new Map(Object.entries(before));
    this.files = new Map(this.before);
  }

  open(): Promise<Workspace> {
    this.opened += 1;
    return Promise.resolve(this);
  }

  read(path: RepoPath): Promise<Uint8Array | undefined> {
    return Promise.resolve(bytes(this.files.get(path)));
  }

  readBase(path: RepoPath): Promise<Uint8Array | undefined> {
    return Promise.resolve(bytes(this.before.get(path)));
  }

  write(files: readonly { readonly path: RepoPath; readonly data: Uint8Array | undefined }[]): Promise<WriteResult> {
    const paths = files.map(({ path }) => path).filter((path) => this.edited.has(path));
    if (paths.length > 0) return Promise.resolve({ kind: "person-edited", paths });
    for (const { path, data } of files) {
      if (data === undefined) this.files.delete(path);
      else this.files.set(path, new TextDecoder("utf-8", { ignoreBOM: true }).decode(data));
    }
    return Promise.resolve({ kind: "written" });
  }

  collect(): Promise<Change> {
    return Promise.resolve(changeOf(this.base, this.before, this.files));
  }

  rollback(): ReturnType<Workspace["rollback"]> {
    const paths = [...this.edited].flatMap((path) => repoPath(path) ?? []);
    if (paths.length > 0) return Promise.resolve({ kind: "person-edited", paths });
    this.rolledBack += 1;
    this.files.clear();
    for (const [path, text] of this.before) this.files.set(path, text);
    return Promise.resolve({ kind: "rolled-back", trash: `trash-${this.rolledBack}` });
  }

  [Symbol.asyncDispose](): Promise<void> {
    this.disposed += 1;
    return Promise.resolve();
  }
}

function bytes(text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : new TextEncoder().encode(text);
}

/** A change between two sets of texts, whole files as one hunk: coarse, but right in every field. */
export function changeOf(
  base: string,
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): Change {
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const files = paths
    .filter((path) => before.get(path) !== after.get(path))
    .map((path) => changedFile(path, before.get(path), after.get(path)));
  const patch = new TextEncoder().encode(
    files.map((file) => `${file.status} ${file.path}\n${after.get(file.path) ?? ""}`).join(""),
  );
  const hash = createHash("sha256").update(patch).digest("hex");
  return { base, tree: files.length === 0 ? base : hash.slice(0, 8), files, diffHash: hash, patch };
}

function changedFile(path: string, old: string | undefined, now: string | undefined): ChangedFile {
  const removed = linesOf(old);
  const added = linesOf(now);
  let head = 0;
  while (head < removed.length && head < added.length && removed[head] === added[head]) head += 1;
  let tail = 0;
  while (tail < removed.length - head && tail < added.length - head && removed.at(-1 - tail) === added.at(-1 - tail))
    tail += 1;
  const out = removed.slice(head, removed.length - tail);
  const into = added.slice(head, added.length - tail);
  return {
    status: old === undefined ? "added" : now === undefined ? "deleted" : "modified",
    path,
    oldMode: old === undefined ? "000000" : "100644",
    newMode: now === undefined ? "000000" : "100644",
    added: into.length,
    removed: out.length,
    binary: false,
    // As git counts: an empty side names the line before.
    hunks: [
      {
        oldStart: out.length === 0 ? head : head + 1,
        newStart: into.length === 0 ? head : head + 1,
        removed: out,
        added: into,
      },
    ],
  };
}

function linesOf(text: string | undefined): string[] {
  if (text === undefined || text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
