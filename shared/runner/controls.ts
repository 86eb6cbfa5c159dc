import { isAbort } from "../base/abort.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { ControlFile } from "../model/run-files.ts";
import type { Files } from "../ports/files.ts";
import type { RunLog } from "../ports/run-log.ts";
import { watchFolder } from "./tail.ts";

const floorMs = 1000;

export interface ControlsDeps {
  readonly run: string;
  readonly dir: AbsPath;
  readonly files: Files;
  readonly log: RunLog;
  /** When this runner began: an interrupt from before was for one that is gone. */
  readonly since: number;
  /** Contracts of this run so far: a control may name one when it is the only one. */
  readonly contracts: () => readonly string[];
  /** Called once for each accepted file; `by` says who asked. */
  readonly stop: (verb: "interrupt" | "cancel", by: string) => void;
}

/** Acts on what is in `control/` now: each file is answered by an event and then gone, so that it acts once. */
export async function takeControls(deps: ControlsDeps, when: "starting" | "running"): Promise<void> {
  const folder = inRoot(deps.dir, "control");
  for (const { name, kind } of (await deps.files.list(folder)) ?? []) {
    if (kind !== "file" || name.startsWith(".") || !name.endsWith(".json")) continue;
    const at = inRoot(folder, name);
    const text = await deps.files.readText(at);
    await deps.files.remove(at);
    if (text !== undefined) act(name.slice(0, -".json".length), text, when, deps);
  }
}

/** Watches `control/` until `signal` aborts. */
export async function watchControls(deps: ControlsDeps, signal: AbortSignal): Promise<void> {
  using changes = watchFolder(inRoot(deps.dir, "control"));
  try {
    for (;;) {
      await takeControls(deps, "running");
      await changes.next(floorMs, signal);
    }
  } catch (error) {
    if (!isAbort(error)) throw error;
  }
}

function act(id: string, text: string, when: "starting" | "running", deps: ControlsDeps): void {
  const refuse = (verb: string, why: string): void => deps.log.append({ type: "control.refused", id, verb, why });
  const control = parse(text);
  if (control === undefined) return refuse("unknown", "the file is no control file of this version");
  const { verb, target } = control;
  if (target !== deps.run && !(deps.contracts().length === 1 && deps.contracts()[0] === target)) {
    return refuse(verb, `${target} is not what this run works on`);
  }
  switch (verb) {
    case "interrupt":
      if (when === "starting" && control.at < deps.since) return refuse(verb, "nothing was running");
      break;
    case "cancel":
      break;
    case "steer":
    case "review":
      return refuse(verb, `a run of this kind takes no ${verb}`);
  }
  deps.log.append({ type: "control.accepted", id, verb, target });
  deps.stop(verb, control.host);
}

function parse(text: string): ControlFile | undefined {
  try {
    return ControlFile.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
