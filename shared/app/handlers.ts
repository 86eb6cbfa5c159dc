import type { CommandName } from "./commands.ts";
import type { FullContext } from "./compose.ts";
import type { AnywhereHandler } from "./anywhere.ts";
import type { Handler } from "./context.ts";

/** Those that say what is there, also outside a repository and where something is broken. */
export const anywhereHandlers = {
  doctor: async () => (await import("./handlers/doctor.ts")).doctor,
  model: async () => (await import("./handlers/model.ts")).model,
  config: async () => (await import("./handlers/config.ts")).config,
  completion: async () => (await import("./handlers/completion.ts")).completion,
} as const satisfies Partial<Record<CommandName, () => Promise<AnywhereHandler>>>;
type AnywhereName = keyof typeof anywhereHandlers;

export function isAnywhere(name: CommandName): name is AnywhereName {
  return Object.hasOwn(anywhereHandlers, name);
}

/** What puts back the half-done work of a killed runner, for commands that leave some: see `EndRun`. */
export const enders: Partial<Readonly<Record<CommandName, () => Promise<(context: FullContext) => Promise<void>>>>> = {
  new: async () => (await import("./new-undo.ts")).endNew,
  do: async () => (await import("./do-end.ts")).endDo,
  merge: async () => (await import("./merge-journal.ts")).endMerge,
  undo: async () => (await import("./handlers/undo.ts")).endUndo,
};

/** One use case each, loaded when its command runs. `demo` is a host of its own: see cli; `init` has no repository yet. */
export const handlers: Readonly<
  Record<Exclude<CommandName, "demo" | "init" | AnywhereName>, () => Promise<Handler<FullContext>>>
> = {
  new: async () => (await import("./handlers/new.ts")).newFeature,
  do: async () => (await import("./handlers/do.ts")).doFeature,
  modify: async () => (await import("./handlers/modify.ts")).modify,
  move: async () => (await import("./handlers/move.ts")).move,
  delete: async () => (await import("./handlers/delete.ts")).deleteFeature,
  merge: async () => (await import("./handlers/merge.ts")).merge,
  undo: async () => (await import("./handlers/undo.ts")).undo,
  restore: async () => (await import("./handlers/restore.ts")).restoreLinked,
  clean: async () => (await import("./handlers/clean.ts")).clean,
  apply: async () => (await import("./handlers/apply.ts")).apply,
  run: async () => (await import("./handlers/run.ts")).run,
  dispatch: async () => (await import("./handlers/dispatch.ts")).dispatch,
  prepare: async () => (await import("./handlers/prepare.ts")).prepare,
  guard: async () => (await import("./handlers/guard.ts")).guard,
  review: async () => (await import("./handlers/review.ts")).review,
  final: async () => (await import("./handlers/final.ts")).final,
  check: async () => (await import("./handlers/check.ts")).check,
  route: async () => (await import("./handlers/route.ts")).route,
  scan: async () => (await import("./handlers/scan.ts")).scan,
  qa: async () => (await import("./handlers/qa.ts")).qa,
  status: async () => (await import("./handlers/status.ts")).status,
  runs: async () => (await import("./handlers/runs.ts")).runs,
  log: async () => (await import("./handlers/log.ts")).log,
  report: async () => (await import("./handlers/report.ts")).report,
  wait: async () => (await import("./handlers/wait.ts")).wait,
  reply: async () => (await import("./handlers/reply.ts")).reply,
  resume: async () => (await import("./handlers/resume.ts")).resume,
  cancel: async () => (await import("./handlers/cancel.ts")).cancel,
  trust: async () => (await import("./handlers/trust.ts")).trust,
};
