import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { type AbsPath, inRoot, isInside } from "../../base/paths.ts";
import { tellingLine } from "../../base/telling-line.ts";
import { nameSome } from "../../features/branches.ts";
import { OrchError } from "../../model/error.ts";
import { contractIdPattern, runIdPattern } from "../../model/names.ts";
import { runsDir, stateRunsDir } from "../../model/run-place.ts";
import type { Handler, RepoContext } from "../context.ts";
import { requireNoOperation } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";

/**
 * Applies the kept change of an attempt to the working tree, unstaged: whole or not at all. A hunk that does not fit,
 * or a file that is already there, refuses; nothing of a person's edit is overwritten.
 */
export const apply: Handler = async (context, args, signal) => {
  const name = attemptOf(args.words[0]);
  const patch = await readPatch(context, name);
  if (args.dryRun) {
    const { paths } = await fitted(context, name, patch, true);
    const summary = `Would apply ${name} to ${count(paths.length, "file")}: ${nameSome(paths)}; nothing was changed`;
    return { ok: true, code: 0, summary, next: [`orch apply ${name}`], data: { dryRun: true, attempt: name, paths } };
  }
  return await withRepositoryLock(context, "apply", signal, async () => {
    await requireNoOperation(context.git);
    throwIfAborted(signal);
    const { paths } = await fitted(context, name, patch, false);
    const summary = `Applied ${name}, unstaged: ${nameSome(paths)}`;
    return { ok: true, code: 0, summary, next: ["git diff", "orch do", "orch status"], data: { attempt: name, paths } };
  });
};

/** `<run>/<ID>/attempt-N`, also with the folder in front or `/diff.patch` behind. */
function attemptOf(word: string | undefined): string {
  const text = (word ?? "")
    .replace(/^(\.\/)?\.orch\/runs\//, "")
    .replace(/\/diff\.patch$/, "")
    .replace(/\/+$/, "");
  const [run = "", id = "", attempt = "", ...more] = text.split("/");
  if (
    more.length === 0 &&
    runIdPattern.test(run) &&
    contractIdPattern.test(id) &&
    /^attempt-[1-9]\d{0,3}$/.test(attempt)
  ) {
    return text;
  }
  throw new OrchError(
    "usage.invalid",
    `${JSON.stringify(word ?? "")} is no attempt; it looks like <run>/<ID>/attempt-N`,
    {
      data: { command: "apply" },
    },
  );
}

async function readPatch(context: RepoContext, name: string): Promise<Uint8Array> {
  const { files, root, machine } = context;
  const [run = ""] = name.split("/");
  let known = false;
  for (const runs of [runsDir(root), stateRunsDir(machine.stateDir, root)]) {
    known ||= (await files.stat(inRoot(runs, run)))?.kind === "directory";
    const real = await files.realPath(inRoot(runs, name, "diff.patch"));
    if (real === undefined) continue;
    const home = (await files.realPath(runs)) ?? runs;
    if (!isInside(slashed(real), slashed(home)) || (await files.stat(real))?.kind !== "file") {
      throw new OrchError("path.refused", `${name} leads out of the runs' folder`, { data: { path: name } });
    }
    const patch = await files.read(real);
    if (patch !== undefined && patch.length > 0) return patch;
    throw new OrchError("apply.mismatch", `${name} changed nothing, so there is nothing to apply`);
  }
  const what = known ? `run ${run} kept no change of ${name}` : `there is no run ${run}`;
  throw new OrchError("run.unknown", what, { data: { run } });
}

const slashed = (path: AbsPath): string => path.replaceAll("\\", "/");

async function fitted(
  context: RepoContext,
  name: string,
  patch: Uint8Array,
  checkOnly: boolean,
): Promise<{ readonly paths: readonly string[] }> {
  const result = await context.git.applyPatch(patch, { checkOnly, by: "apply" });
  if (result.kind === "applied") return { paths: result.paths ?? [] };
  throw new OrchError("apply.mismatch", `${name} does not fit the files as they are: ${tellingLine(result.output)}`, {
    data: { attempt: name },
  });
}
