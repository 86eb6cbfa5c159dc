import { isInside } from "../base/paths.ts";
import type { Confinement } from "../ports/sandbox.ts";

export interface SandboxMount {
  readonly path: string;
  readonly as: "empty" | "hidden" | "readable" | "writable";
}

/** A folder for temporary files that is the program's own for as long as it runs. */
export const privateTemp = "/tmp";

/**
 * Sockets of other programs lie in these folders (agents, containers, editors), and a read-only mount does not keep a
 * program from speaking to one.
 */
const socketFolders = ["/run", privateTemp, "/var/tmp"];

/** What lies at a path; links are followed before anything is asked of this. */
export type KindAt = (path: string) => "folder" | "file" | undefined;

/** `what` of the same path: a later row stands over an earlier one. */
const order = ["denyRead", "allowRead", "write", "denyWrite"] as const;

/**
 * The confinement as mounts over a machine that is read-only: outer paths before what lies in them, so that the nearest
 * word decides. A path that is not there needs none; a file that may not be read is one that is empty.
 */
export function mountsOf(
  within: Confinement,
  kindAt: KindAt,
  real: (path: string) => string | undefined,
): SandboxMount[] {
  const rows = order.flatMap((what, rank) =>
    [...(what === "denyRead" ? socketFolders : []), ...within[what]].flatMap((path) => {
      const at = real(path);
      return at === undefined ? [] : [{ at, what, rank }];
    }),
  );
  rows.sort((a, b) => depth(a.at) - depth(b.at) || (a.at < b.at ? -1 : a.at > b.at ? 1 : 0) || a.rank - b.rank);
  const mounts = new Map<string, SandboxMount>();
  for (const { at, what } of rows) {
    const kind = kindAt(at);
    if (kind === undefined) continue;
    // Set anew, so that the last word of a path also comes last.
    mounts.delete(at);
    if (what === "write") mounts.set(at, { path: at, as: "writable" });
    else if (what === "denyRead") mounts.set(at, { path: at, as: kind === "folder" ? "empty" : "hidden" });
    else if (needed(at, mounts)) mounts.set(at, { path: at, as: "readable" });
  }
  return [...mounts.values()];
}

/** Whether a readable path must be mounted: everything is readable already that no mount is over. */
function needed(at: string, mounts: ReadonlyMap<string, SandboxMount>): boolean {
  const over = [...mounts.values()].findLast(({ path }) => path !== at && isInside(at, path));
  return over !== undefined && over.as !== "readable";
}

const depth = (path: string): number => path.split("/").filter((part) => part !== "").length;
