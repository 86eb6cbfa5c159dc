import type { StatusEntry } from "../ports/git.ts";
import { fromGit, nulFields } from "./git-names.ts";

/** Submodules are not looked into: their git would read their own configuration. */
export const statusArgs = [
  "status",
  "--porcelain=v2",
  "-z",
  "--untracked-files=all",
  "--ignore-submodules=dirty",
  "--no-ahead-behind",
  "--find-renames",
] as const;

/** `git status --porcelain=v2 -z`: NUL ends each record, so names hold anything; a rename's old name is a record more. */
export function parseStatus(bytes: Uint8Array): readonly StatusEntry[] {
  const fields = nulFields(bytes);
  const entries: StatusEntry[] = [];
  for (let at = 0; at < fields.length; at += 1) {
    const line = fields[at] ?? "";
    const index = line.charAt(2);
    const worktree = line.charAt(3);
    switch (line.charAt(0)) {
      case "1":
        entries.push({ path: fromGit(after(line, 8)), index, worktree });
        break;
      case "2":
        at += 1;
        entries.push({ path: fromGit(after(line, 9)), oldPath: fromGit(fields[at] ?? ""), index, worktree });
        break;
      case "u":
        entries.push({ path: fromGit(after(line, 10)), index, worktree });
        break;
      case "?":
      case "!":
        entries.push({
          path: fromGit(line.slice(2)),
          index: line.charAt(0),
          worktree: line.charAt(0),
          ...(line.endsWith("/") ? { folder: true } : {}),
        });
        break;
      default:
        break; // headers
    }
  }
  return entries;
}

/** What follows the first `fields` fields. */
function after(line: string, fields: number): string {
  let at = 0;
  for (let n = 0; n < fields; n += 1) at = line.indexOf(" ", at) + 1;
  return line.slice(at);
}
