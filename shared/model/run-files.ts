import * as z from "zod";

/** The small files of a run folder. Anyone may drop control and reply files; only the runner acts on them. */
const hosts = ["vscode", "nvim", "cli", "dashboard"] as const;
export const HostName = z.enum(hosts);
export type HostName = z.infer<typeof HostName>;

export const ActiveBuffer = z.strictObject({
  path: z.string(),
  /** Only when it differs from the file on disk. */
  text: z.string().optional(),
  /** 1-based lines, inclusive. */
  selection: z.strictObject({ startLine: z.number().int().min(1), endLine: z.number().int().min(1) }).optional(),
  changed: z.boolean().default(false),
  /** Neovim's count of the buffer's changes when it was read: what comes of it fits while the count is the same. */
  changedtick: z.number().int().min(0).optional(),
});
export type ActiveBuffer = z.infer<typeof ActiveBuffer>;

/** `request.json`: what the runner is to do. Written once by the host, also read by a runner that resumes. */
export const RunRequest = z.strictObject({
  v: z.literal(1),
  command: z.string(),
  /** Validated against the command table by the runner. */
  args: z.record(z.string(), z.unknown()),
  /** Absolute: the folder the command was given in. */
  cwd: z.string(),
  activeBuffer: ActiveBuffer.optional(),
  host: HostName,
  at: z.number(),
});
export type RunRequest = z.infer<typeof RunRequest>;

/** `target.json`: the feature that a run took from the branch it began on. */
export const RunTarget = z.strictObject({ v: z.literal(1), feature: z.string() });
export type RunTarget = z.infer<typeof RunTarget>;

/** `control/<uuid>.json` */
export const ControlFile = z.strictObject({
  v: z.literal(1),
  verb: z.enum(["interrupt", "cancel", "steer", "review"]),
  /** A contract id, or the run's id for all of it. */
  target: z.string(),
  text: z.string().optional(),
  host: HostName,
  at: z.number(),
});
export type ControlFile = z.infer<typeof ControlFile>;

/** `replies/<id>.json`: made with link(), so the first reply stands. */
export const ReplyFile = z.strictObject({
  v: z.literal(1),
  id: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,99}$/i),
  choice: z.string().optional(),
  text: z.string().optional(),
  by: z.string(),
  host: HostName,
  at: z.number(),
});
export type ReplyFile = z.infer<typeof ReplyFile>;

/** `runner.json`: for people and for cleaning up; never the lock itself. */
export const RunnerFile = z.strictObject({
  v: z.literal(1),
  pid: z.number().int(),
  startTime: z.string(),
  host: HostName,
  machine: z.string(),
  version: z.string(),
  at: z.number(),
});
export type RunnerFile = z.infer<typeof RunnerFile>;
