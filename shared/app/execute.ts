import type { MachinePlaces } from "../adapters/machine.ts";
import type { Redactor } from "../adapters/redact.ts";
import { type AbsPath, absPath } from "../base/paths.ts";
import { readCommandArgs } from "../model/command-args.ts";
import { OrchError } from "../model/error.ts";
import type { RunHost } from "../ports/run-host.ts";
import type { EndRun, ExecuteRun, RunJob } from "../ports/run-job.ts";
import { restoreAgents } from "./agents-link.ts";
import { commands, isCommandName } from "./commands.ts";
import { composeRepository } from "./compose.ts";
import { enders, handlers, isAnywhere } from "./handlers.ts";
import { withRunTarget } from "./run-target.ts";

export interface ExecuteDeps {
  readonly places: MachinePlaces;
  readonly env: Readonly<Record<string, string>>;
  readonly nodePath: string;
  readonly host: RunHost;
  /** What the run's log is written through. */
  readonly redactor: Redactor;
}

/** Carries out a run's request with everything wired: what the runner calls. */
export function createExecute(deps: ExecuteDeps): ExecuteRun {
  return async (job, signal) => {
    const { request } = job;
    const name = request.command;
    if (!isCommandName(name) || name === "demo" || isAnywhere(name) || commands[name].kind !== "run") {
      throw new OrchError("usage.unknown-command", `there is no run "${name}"`);
    }
    const args = readCommandArgs(request.args);
    const wiring = {
      ...deps,
      cwd: folderOf(job),
      editor: job.editor,
      signal,
      run: { folder: { run: job.run, dir: job.dir }, sink: job.log, history: job.resumed ? job.log.history() : [] },
    };
    if (name === "init") {
      const { composeInit } = await import("./compose-init.ts");
      return await (await import("./handlers/init.ts")).init(composeInit(wiring), args, signal);
    }
    await using composed = await composeRepository(wiring);
    if (!args.dryRun) await restoreAgents(composed.context);
    const handler = await handlers[name]();
    const settled = await withRunTarget(composed.context, name, args, job.resumed);
    return await handler(composed.context, settled, signal);
  };
}

/** For a run that is ended and does not go on: see `EndRun`. */
export function createEnd(deps: ExecuteDeps): EndRun {
  return async (job) => {
    const name = job.request.command;
    const ender = isCommandName(name) ? enders[name] : undefined;
    if (ender === undefined) return;
    await using composed = await composeRepository({
      ...deps,
      cwd: folderOf(job),
      editor: job.editor,
      signal: new AbortController().signal,
      run: { folder: { run: job.run, dir: job.dir }, sink: job.log, history: job.log.history() },
    });
    const end = await ender();
    await end(composed.context);
  };
}

function folderOf({ request }: RunJob): AbsPath {
  return absPath(request.cwd);
}
