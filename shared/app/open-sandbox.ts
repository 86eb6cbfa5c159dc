import type { MachinePlaces } from "../adapters/machine.ts";
import { createSandbox } from "../adapters/sandbox-runtime.ts";
import { thisProcess } from "../adapters/this-process.ts";
import { sandboxMarker } from "../model/run.ts";
import type { Process } from "../ports/process.ts";
import type { Sandbox } from "../ports/sandbox.ts";

export interface SandboxParts {
  readonly process: Process;
  readonly places: Pick<MachinePlaces, "installRoot" | "stateDir">;
  readonly env: Readonly<Record<string, string>>;
  /** The run that it is for, where there is one. */
  readonly run?: string;
}

/** Looks at nothing before it is asked. */
export function openSandbox({ process, places, env, run }: SandboxParts): Sandbox {
  const { installRoot, stateDir } = places;
  const marker = run === undefined ? {} : { marker: sandboxMarker(run) };
  return createSandbox({ process, platform: thisProcess().platform, env, installRoot, stateDir, ...marker });
}
