import { createHash } from "node:crypto";
import * as z from "zod";
import type { AbsPath, RepoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";

/**
 * What an in-place workspace must know to be put back after a crash, kept in the run folder. It is saved before each
 * step that changes the tree (`intent`), so that after kill -9 every file is at a content this file names, or a
 * person's.
 *
 * open -> rolling-back -> rolled-back; open -> accepted (about to be committed) -> settled, or back like open. All but
 * `rolled-back` are resumed: what is accepted or settled is to be finished, not made again.
 */
export const FileMark = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("absent") }),
  z.strictObject({ kind: z.literal("file"), sha256: z.string(), mode: z.number().int() }),
  z.strictObject({ kind: z.literal("symlink"), target: z.string() }),
]);
export type FileMark = z.infer<typeof FileMark>;

const Marks = z.record(z.string(), FileMark);

export const WorkspaceState = z.strictObject({
  v: z.literal(1),
  phase: z.enum(["open", "accepted", "rolling-back", "rolled-back", "settled"]),
  /** What the contract is about: all that the way back needs lies in this file. */
  title: z.string(),
  slice: z.string(),
  registry: z.string(),
  head: z.strictObject({ branch: z.string(), commit: z.string() }),
  /** Tree of the raw bytes before the first attempt, kept from garbage collection by the ref `pin`. */
  base: z.string(),
  pin: z.string(),
  before: Marks,
  /** Folders that were there before. */
  folders: z.array(z.string()),
  /** Byte-code caches that were there before; they are nobody's work, but not ours to remove. */
  caches: z.array(z.string()),
  /** What Orch last saw or wrote; a path that is not named was absent. */
  seen: Marks,
  /** Writes under way: each path is at `seen` or at this. */
  intent: Marks,
  trash: z.string().optional(),
  /** The tree that was judged good, and the commit it was to be committed onto. */
  accepted: z.strictObject({ tree: z.string(), onto: z.string() }).optional(),
});
export type WorkspaceState = z.infer<typeof WorkspaceState>;

export const absent: FileMark = { kind: "absent" };

export function sameMark(a: FileMark, b: FileMark): boolean {
  switch (a.kind) {
    case "absent":
      return b.kind === "absent";
    case "file":
      return b.kind === "file" && a.sha256 === b.sha256;
    case "symlink":
      return b.kind === "symlink" && a.target === b.target;
  }
}

export function markAt(marks: Readonly<Record<string, FileMark>>, path: RepoPath): FileMark {
  return (Object.hasOwn(marks, path) ? marks[path] : undefined) ?? absent;
}

/** `undefined` for a folder or a device: nothing a workspace could write or put back. */
export async function readMark(files: Files, at: AbsPath): Promise<FileMark | undefined> {
  const stat = await files.stat(at);
  switch (stat?.kind) {
    case undefined:
      return absent;
    case "symlink": {
      const target = await files.readLink(at);
      return target === undefined ? absent : { kind: "symlink", target };
    }
    case "file": {
      const bytes = await files.read(at);
      return bytes === undefined ? absent : { kind: "file", sha256: sha256(bytes), mode: stat.mode };
    }
    case "directory":
    case "other":
      return undefined;
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The state as it was saved, or undefined when there is none. A damaged file is refused: guessing could lose work. */
export async function loadState(files: Files, at: AbsPath): Promise<WorkspaceState | undefined> {
  const text = await files.readText(at);
  if (text === undefined) return undefined;
  const parsed = WorkspaceState.safeParse(parseJson(text));
  if (parsed.success) return parsed.data;
  throw new OrchError("file.invalid", `${at}: ${parsed.error.issues[0]?.message ?? "not a workspace state"}`, {
    data: { path: at },
  });
}

export async function saveState(files: Files, at: AbsPath, state: WorkspaceState): Promise<void> {
  await files.write(at, `${JSON.stringify(state)}\n`, { mode: 0o600 });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
