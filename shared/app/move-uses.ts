import { inRoot, type RepoPath } from "../base/paths.ts";
import { oldNameLine, type Use, usesOf } from "../features/uses.ts";
import type { RepoContext } from "./context.ts";
import type { MovePlan } from "./plan-move.ts";

type Reading = Pick<RepoContext, "git" | "files" | "root">;

/** Larger files hold data, not imports. */
const maxFileBytes = 1_000_000;

/** Lines anywhere that name the slice by its old place. */
export async function usesElsewhere(context: Reading, plan: MovePlan): Promise<readonly Use[]> {
  const { dir, target } = plan.known.feature;
  const uses: Use[] = [];
  for (const path of await context.git.listFiles()) {
    const text = await textAt(context, path);
    if (text !== undefined) uses.push(...usesOf(path, text, { dir, target }));
  }
  return uses;
}

/** Files of the slice that say the old name in names and comments: only its author knows what they should be called. */
export async function stillNamed(context: Reading, plan: MovePlan): Promise<readonly Pick<Use, "path" | "line">[]> {
  const names = { from: plan.known.feature.target.name, to: plan.to.target.name };
  const found: Pick<Use, "path" | "line">[] = [];
  for (const path of await context.git.listFiles(plan.to.dir)) {
    const line = oldNameLine((await textAt(context, path)) ?? "", names);
    if (line !== undefined) found.push({ path, line });
  }
  return found;
}

async function textAt({ files, root }: Reading, path: RepoPath): Promise<string | undefined> {
  const at = inRoot(root, path);
  const stat = await files.stat(at);
  if (stat?.kind !== "file" || stat.sizeBytes > maxFileBytes) return undefined;
  const text = await files.readText(at);
  return text?.includes("\0") === true ? undefined : text;
}
