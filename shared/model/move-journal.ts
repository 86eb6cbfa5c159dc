import * as z from "zod";

/** Bytes of a file before and after a step, base64; null for no file. */
const FileStep = z.strictObject({ path: z.string(), before: z.string().nullable(), after: z.string() });

/**
 * `move.json` in the run folder of a `move`: what undoes it. Written before the first change, so that a run whose runner
 * died can be rolled back by the next one.
 */
export const MoveJournal = z.strictObject({
  v: z.literal(1),
  message: z.string(),
  /** Folders of the slice. */
  from: z.string(),
  to: z.string(),
  /** `domain/Feature` of before and after, and the registry of before. */
  target: z.string(),
  newTarget: z.string(),
  registry: z.string(),
  /** Commit of the branch that the move is committed on. */
  base: z.string(),
  branch: z.strictObject({
    kind: z.enum(["stay", "make", "enter"]),
    /** Checked out before. */
    before: z.string(),
    /** The feature's branch by its old name. */
    own: z.string(),
    /** What was recorded of it; empty when nothing was. */
    record: z.string(),
    /** By its new name, which may be the old one. */
    final: z.string(),
  }),
  /** Permission bits of the folder above the slice, which goes when it is left empty. */
  parentMode: z.number().int().optional(),
  /** Folders that were made for the new place, outermost first. */
  made: z.array(z.string()),
  files: z.array(FileStep),
});
export type MoveJournal = z.infer<typeof MoveJournal>;
