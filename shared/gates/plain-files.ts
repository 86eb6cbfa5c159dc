import { below } from "../base/paths.ts";
import type { ChangedFile } from "../model/change.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/**
 * What is carried from a worktree into a checkout file by file: links, and names that are a folder on one side and a file
 * on the other, cannot be, so the worker hears of them while it can still mend them.
 */
export function createPlainFilesGate(): Gate {
  return {
    id: "plain-files",
    phase: "change",
    run: ({ change }) => Promise.resolve(ran([...links(change.files), ...swaps(change.files)])),
  };
}

function links(files: readonly ChangedFile[]): Finding[] {
  return files
    .filter(({ oldMode, newMode }) => newMode === "120000" || (oldMode === "120000" && newMode !== "000000"))
    .map(({ path, oldMode, newMode }) =>
      unlike(path, newMode === "120000" ? "is a link" : "was a link", oldMode, newMode),
    );
}

function swaps(files: readonly ChangedFile[]): Finding[] {
  const gone = files.flatMap((file) => (file.newMode === "000000" ? file.path : (renamedFrom(file) ?? [])));
  const there = files.filter(({ newMode }) => newMode !== "000000");
  return there.flatMap(({ path, oldMode, newMode }) => {
    if (gone.some((was) => below(was, path) !== undefined))
      return unlike(path, "was a folder and became a file", oldMode, newMode);
    if (gone.some((was) => below(path, was) !== undefined))
      return unlike(path, "lies in a folder that was a file", oldMode, newMode);
    return [];
  });
}

const renamedFrom = ({ status, oldPath }: ChangedFile): string | undefined =>
  status === "renamed" ? oldPath : undefined;

function unlike(path: string, how: string, oldMode: string, newMode: string): Finding {
  return finding("file_type_change", "FAIL", `${path} ${how}: it cannot be brought into the checkout`, {
    path,
    evidence: `${oldMode} -> ${newMode}`,
    remedy: "Use plain files, and names that are new",
  });
}
