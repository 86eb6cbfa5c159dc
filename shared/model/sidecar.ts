import * as z from "zod";

/** A payload too big or too private for the log: a file in the run folder, named by path, size and hash. */
export const Sidecar = z.object({ path: z.string(), bytes: z.number().int(), sha256: z.string() });
export type Sidecar = z.infer<typeof Sidecar>;
