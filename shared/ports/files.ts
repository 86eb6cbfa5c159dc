import type { AbsPath } from "../base/paths.ts";

export interface FileStat {
  readonly kind: "file" | "directory" | "symlink" | "other";
  readonly sizeBytes: number;
  /** Permission bits. */
  readonly mode: number;
  readonly mtimeMs: number;
}

/**
 * Files of the machine. `undefined` means "is not there"; every other trouble is an OrchError (`env.disk-full`,
 * `path.refused`) or a bug. Writes are temp + fsync + rename, keep the file's mode, and resolve a symlink at the target.
 */
export interface Files {
  read(path: AbsPath): Promise<Uint8Array | undefined>;
  /** UTF-8, BOM kept; undefined when the file is absent. */
  readText(path: AbsPath): Promise<string | undefined>;
  /** Does not follow a symlink at the end. */
  stat(path: AbsPath): Promise<FileStat | undefined>;
  /** Names, sorted by code unit; undefined when it is not a folder. */
  list(path: AbsPath): Promise<readonly { readonly name: string; readonly kind: FileStat["kind"] }[] | undefined>;
  realPath(path: AbsPath): Promise<AbsPath | undefined>;
  write(path: AbsPath, data: string | Uint8Array, options?: { readonly mode?: number }): Promise<void>;
  /** Fails with `false` when it exists: made aside and linked, so the first writer stands. */
  createOnce(path: AbsPath, data: string | Uint8Array): Promise<boolean>;
  makeDir(path: AbsPath, options?: { readonly mode?: number }): Promise<void>;
  remove(path: AbsPath): Promise<void>;
  /** Removes the folder only when it is empty; true when it went. */
  removeEmptyDir(path: AbsPath): Promise<boolean>;
  rename(from: AbsPath, to: AbsPath): Promise<void>;
  symlink(target: string, at: AbsPath): Promise<void>;
  /** A link to a folder, a junction on Windows where plain links need a right that few have; `false` when something is there. */
  linkFolder(folder: AbsPath, at: AbsPath): Promise<boolean>;
  readLink(path: AbsPath): Promise<string | undefined>;
  chmod(path: AbsPath, mode: number): Promise<void>;
}
