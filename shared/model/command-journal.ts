import * as z from "zod";

/**
 * Small files in the run folder of commands that are no attempts: what a command is about to do, written before it does
 * it, so that whoever takes the run over from a killed runner can end it or put it back.
 */
export const NewJournal = z.strictObject({
  v: z.literal(1),
  /** Checked out before. */
  from: z.string(),
  branch: z.strictObject({ kind: z.enum(["stay", "make", "enter"]), name: z.string(), commit: z.string() }),
  target: z.strictObject({ domain: z.string(), name: z.string() }),
  dir: z.string(),
  /** Folders that were not there, outermost first. */
  folders: z.array(z.string()),
  files: z.array(z.strictObject({ path: z.string(), text: z.string() })),
  registry: z.string(),
  /** The registry's bytes before, base64; null for no file. */
  registryBefore: z.string().nullable(),
});
export type NewJournal = z.infer<typeof NewJournal>;

export const UndoJournal = z.strictObject({
  v: z.literal(1),
  /** The entry that holds everything: from here on it is removed. */
  trash: z.string(),
});
export type UndoJournal = z.infer<typeof UndoJournal>;

export const MergeJournal = z.strictObject({
  v: z.literal(1),
  branch: z.string(),
  /** The branch before its staged work was committed. */
  before: z.string(),
  /** Subject of that commit. */
  message: z.string(),
  /** Set once the merge was judged good and is about to be pushed. */
  landing: z
    .strictObject({
      feature: z.string(),
      into: z.string(),
      /** What the default branch becomes, and what the feature branch was then. */
      commit: z.string(),
      tip: z.string(),
      remote: z.string().optional(),
      push: z.boolean(),
    })
    .optional(),
});
export type MergeJournal = z.infer<typeof MergeJournal>;
