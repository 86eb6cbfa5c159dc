import { inRoot } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { OrchError } from "../model/error.ts";
import type { RepoContext } from "./context.ts";

/** Why stored files could not be removed: somebody saved one meanwhile, or what stands there is no file to begin with. */
export async function notRemoved(
  { files, root }: Pick<RepoContext, "files" | "root">,
  kept: readonly string[],
  done: "deleted" | "discarded",
): Promise<OrchError> {
  const nothing = `so nothing was ${done}`;
  const strange: string[] = [];
  for (const path of kept) if ((await files.stat(inRoot(root, path)))?.kind === "other") strange.push(path);
  if (strange.length > 0)
    return new OrchError(
      "path.refused",
      `a pipe, a socket or a device cannot be stored, ${nothing}: ${nameSome(strange)}`,
      {
        data: { paths: strange, unstorable: true },
      },
    );
  return new OrchError("tree.changed", `edited while it was stored, ${nothing}: ${nameSome(kept)}`, {
    data: { paths: kept },
  });
}
