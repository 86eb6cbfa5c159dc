import * as z from "zod";

/** `manifest.json` in a trash commit: everything a plain git tree cannot hold. */
export const TrashEntry = z.strictObject({
  /** base64 of the path's bytes, relative to the root. */
  path: z.string(),
  kind: z.enum(["file", "symlink", "directory"]),
  /** Permission bits, octal text, e.g. `0755`. */
  mode: z.string(),
  /** Git blob of the raw bytes (no filters), for files; name in the tree is `blobs/<oid>`. */
  blob: z.string().optional(),
  sha256: z.string().optional(),
  bytes: z.number().int().optional(),
  /** base64 of the link's target. */
  link: z.string().optional(),
  mtimeMs: z.number().optional(),
});
export const IndexFlag = z.enum(["intent-to-add", "assume-unchanged", "skip-worktree"]);
export type IndexFlag = z.infer<typeof IndexFlag>;

export const TrashManifest = z.strictObject({
  v: z.literal(1),
  id: z.string(),
  /** What removed it: `undo`, `delete`, `do`, `clean`, `merge`, `move`. */
  by: z.string(),
  what: z.string(),
  at: z.number(),
  /** base64 of the files and folders that were named, relative to the root. */
  paths: z.array(z.string()).default([]),
  /** Branch and HEAD at that time. */
  head: z.strictObject({ branch: z.string().optional(), commit: z.string().optional() }),
  /** Branches that went: name -> commit, kept reachable as parents of the trash commit. */
  branches: z.record(z.string(), z.string()).default({}),
  /** `branch.<name>.*` configuration that went with them. */
  branchConfig: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /** Raw index lines: `mode oid stage\tpath` with the path as base64. */
  index: z
    .array(
      z.strictObject({
        mode: z.string(),
        oid: z.string(),
        stage: z.number().int(),
        path: z.string(),
        flag: IndexFlag.optional(),
      }),
    )
    .default([]),
  /** Results of contracts that went with their run, `<run>/<contract>` -> tree: each is in the entry's own tree, too. */
  kept: z.record(z.string(), z.string()).default({}),
  /** The registry entry that went: file, feature, domain. */
  registry: z.strictObject({ file: z.string(), feature: z.string(), domain: z.string() }).optional(),
  entries: z.array(TrashEntry),
});
export type TrashManifest = z.infer<typeof TrashManifest>;
export type TrashEntry = z.infer<typeof TrashEntry>;
