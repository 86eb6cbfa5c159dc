import { OrchError } from "../model/error.ts";
import type { GitCall } from "./git-call.ts";
import { nulBytes, nulFields } from "./git-names.ts";

/**
 * Stops a verb that would write filtered files without their filter. A commit would publish what the filter keeps out, so
 * any filter counts; a checkout only where the configuration says that the contents are useless without it.
 */
export async function refuseDeadFilters(
  git: GitCall,
  paths: readonly Uint8Array[],
  verb: "commit" | "checkout",
): Promise<void> {
  const { deadFilters, unapproved } = await git.defused();
  const counts = [...deadFilters].filter(([, required]) => verb === "commit" || required).map(([name]) => name);
  if (counts.length === 0 || paths.length === 0) return;
  const stdin = Buffer.concat(paths.flatMap((path) => [path, nul]));
  const fields = nulFields(await git.bytes(["check-attr", "-z", "--stdin", "filter"], { stdin }));
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const name = fields[at + 2] ?? "";
    if (!counts.includes(name)) continue;
    const keys = [...new Set(unapproved.map(({ key }) => key).filter((key) => key.startsWith(`filter.${name}.`)))];
    throw new OrchError("git.unsafe-config", `${fields[at]} needs the filter ${name}, which nobody approved`, {
      data: { keys },
    });
  }
}

/** Names that differ between two commits; `undefined` stands for nothing. */
export async function changedNames(git: GitCall, from: string, to: string): Promise<readonly Uint8Array[]> {
  return nulBytes(await git.bytes(["diff-tree", "-r", "-z", "--name-only", "--no-renames", from, to]));
}

const nul = Buffer.from("\0");
