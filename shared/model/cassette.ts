import * as z from "zod";

/** Replies kept for the demo model. `label` is shown on every line that comes from it. */
export const Cassette = z.strictObject({
  v: z.literal(1),
  label: z.union([z.literal("scripted"), z.string().regex(/^recorded \d{4}-\d{2}-\d{2} \S+$/)]),
  steps: z
    .array(
      z.strictObject({
        role: z.string(),
        /** Attempt number for `implement`, round for `spec-qa`, else 1. */
        step: z.number().int().min(1),
        /** Texts that must all occur in the prompt. */
        match: z.array(z.string()).min(1),
        reply: z.string().min(1),
        usage: z.strictObject({ input: z.number(), output: z.number() }).optional(),
      }),
    )
    .min(1),
});
export type Cassette = z.infer<typeof Cassette>;
