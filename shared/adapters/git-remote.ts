import { type ConfigEntry, valueOf } from "./git-config.ts";

export interface RemoteFacts {
  readonly names: readonly string[];
  /** The branch it is asked for, and what the default branch is called here. */
  readonly branch: string | undefined;
  readonly main: string | undefined;
  readonly config: readonly ConfigEntry[];
}

/**
 * The remote Orch fetches from and pushes to: `origin`, else what the person told git: the remote the branch follows,
 * the one main follows, `checkout.defaultRemote`, `remote.pushDefault`; else the only one. A name git has no remote for
 * (an address, `.` for this repository) is no answer.
 */
export function chooseRemote({ names, branch, main, config }: RemoteFacts): string | undefined {
  if (names.includes("origin")) return "origin";
  const told = [
    ...[branch, main].map((name) => (name === undefined ? undefined : valueOf(config, `branch.${name}.remote`))),
    valueOf(config, "checkout.defaultremote"),
    valueOf(config, "remote.pushdefault"),
  ];
  const found = told.find((name) => name !== undefined && names.includes(name));
  return found ?? (names.length === 1 ? names[0] : undefined);
}
