import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { dirName, inRoot } from "../../base/paths.ts";
import { updateRegistry } from "../../features/registry.ts";
import type { CommandResult } from "../../model/command-result.ts";
import type { Confirmed } from "../../model/confirmed.ts";
import { UndoJournal } from "../../model/command-journal.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import { readJson } from "../../model/json-text.ts";
import { targetText } from "../../model/target.ts";
import type { TrashItem } from "../../ports/trash.ts";
import { commandAgain } from "../again.ts";
import { confirm } from "../confirm.ts";
import type { CommandArgs, Handler, RepoContext } from "../context.ts";
import { type FeatureSubject, featureSubject } from "../feature-branch.ts";
import { canFastForward, fetchRemotes, readMainLine } from "../main-line.ts";
import { createJournal } from "../journal.ts";
import { askNearMiss } from "../near-miss.ts";
import { notRemoved } from "../not-removed.ts";
import { requireBranch, requireNoOperation, requireNotElsewhere } from "../preconditions.ts";
import { deleteRemoteBranch } from "../remote-branch.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { bringBack } from "./restore.ts";
import { planUndo, samePlan, undoQuestion, type UndoPlan } from "../undo-plan.ts";

/**
 * Discards the feature branch. Everything that goes is stored for `restore` before the first thing is removed; what was
 * not stored, because somebody saved it meanwhile, is kept. The question is asked without the lock, and the answer only
 * counts for the plan it was given for.
 */
export const undo: Handler = async (context, given, signal) => {
  const push = given.push && context.config.features.push;
  await startOver(context, "undo", signal);
  await requireBranch(context.git);
  const look = (one: CommandArgs): Promise<FeatureSubject> => featureSubject(context, one, "undo");
  const { args } = await askNearMiss(context.editor, given, signal, look);
  if (args.dryRun) return foretold(await plan(context, args, { push, offline: undefined }), args);
  const { offline, asked } = await withRepositoryLock(context, "undo", signal, async () => {
    const { branch } = await featureSubject(context, args, "undo");
    const why = await fetchRemotes(context.git, branch.name, signal);
    return { offline: why, asked: await plan(context, args, { push, offline: why }) };
  });
  const { title, detail } = undoQuestion(asked);
  const confirmed = await confirm(context.editor, args.yes, { title, detail, yes: "Discard it" }, signal);
  if (confirmed === undefined) {
    return { ok: false, code: 130, summary: "Nothing was changed", next: ["orch do", "orch merge"] };
  }
  return await withRepositoryLock(context, "undo", signal, async () => {
    const now = await plan(context, args, { push, offline });
    if (!samePlan(asked, now)) {
      throw new OrchError("tree.changed", "the branch or its files changed while you were asked", {
        data: { paths: now.names },
      });
    }
    throwIfAborted(signal);
    return await discard(context, now, confirmed);
  });
};

const journal = createJournal("undo.json", (text) => readJson(text, UndoJournal));

/** A killed runner's half: everything is in its entry, so all of it comes back before anything else is done. */
async function startOver(context: RepoContext, what: string, signal: AbortSignal): Promise<void> {
  const earlier = await journal.read(context);
  if (earlier === undefined) return;
  await withRepositoryLock(context, what, signal, async () => {
    await requireNoOperation(context.git);
    await bringBack(context, await context.trash.look(earlier.trash));
    await journal.remove(context);
  });
}

/** Ends an `undo` whose runner was killed and that is not to go on: nothing is discarded. */
export async function endUndo(context: RepoContext): Promise<void> {
  await startOver(context, "cancel", new AbortController().signal);
}

async function plan(
  context: RepoContext,
  args: CommandArgs,
  options: { readonly push: boolean; readonly offline: string | undefined },
): Promise<UndoPlan> {
  const { git } = context;
  const subject = await featureSubject(context, args, "undo");
  await requireNotElsewhere(git, subject.branch.name);
  if (subject.here) await requireNotElsewhere(git, subject.defaultBranch);
  return await planUndo(context, subject, await readMainLine(git), options);
}

/** Runs to its end once it began: everything is in the trash by then, and half a discarded branch helps nobody. */
async function discard(context: RepoContext, going: UndoPlan, confirmed: Confirmed): Promise<CommandResult> {
  const { git } = context;
  const { subject } = going;
  const { feature, branch } = subject;
  const item = await context.trash.store({
    by: "undo",
    what: targetText(feature.target),
    paths: going.paths,
    branches: [branch.name],
    registry: { file: feature.registry, feature: feature.target.name, domain: feature.target.domain },
  });
  context.sink.append({
    type: "trash.stored",
    id: item.id,
    what: targetText(feature.target),
    entries: item.files,
    bytes: item.bytes,
  });
  await journal.write(context, { v: 1, trash: item.id });
  try {
    await clearFiles(context, going, item.id, confirmed);
    await toMain(context, going);
    await git.delete(branch.name, branch.commit);
  } catch (error) {
    if (!isOrchError(error)) throw error;
    throw new OrchError(error.code, `${error.message}. What was removed is stored: orch restore ${item.id}`, {
      data: error.data,
      cause: error,
    });
  }
  return done(going, item, await deleteRemote(context, going));
}

async function clearFiles(context: RepoContext, going: UndoPlan, id: string, confirmed: Confirmed): Promise<void> {
  const { git, files, root } = context;
  const { subject, registry } = going;
  const { feature, head } = subject;
  if (going.paths.length > 0) {
    const { kept } = await context.trash.removeStored(id);
    if (kept.length > 0) {
      const back = await context.trash.restore(id);
      // The copies beside newer files are in the trash all the same.
      for (const { wroteTo } of back.beside) await files.remove(inRoot(root, wroteTo));
      throw await notRemoved(context, kept, "discarded");
    }
    await git.discard(going.paths, head.commit, confirmed);
  }
  if (registry.kind === "edit") await updateRegistry(files, root, feature.registry, () => registry.text);
}

async function toMain(context: RepoContext, going: UndoPlan): Promise<void> {
  const { git } = context;
  const { subject, line, goal } = going;
  const { feature, head } = subject;
  const there = line.local !== undefined;
  if (head.branch === line.branch) {
    if (canFastForward(line)) await forwardIfClean(context, line.branch, goal);
  } else if (!there) {
    await git.updateRef(`refs/heads/${line.branch}`, goal, undefined);
  } else if (canFastForward(line)) {
    await git.fastForward(line.branch, goal);
  }
  if (subject.here) await git.switch(line.branch);
  // Git knows no empty folders: those that held only this slice go with it.
  for (let dir = dirName(feature.dir), level = 0; dir !== "." && level < 2; dir = dirName(dir), level += 1) {
    if (going.paths.length === 0 || !(await context.files.removeEmptyDir(inRoot(context.root, dir)))) break;
  }
}

/** A fast-forward is a courtesy here: a dirty file in its way leaves main where it is. */
async function forwardIfClean(context: RepoContext, branch: string, goal: string): Promise<void> {
  try {
    await context.git.fastForward(branch, goal);
  } catch (error) {
    if (!isOrchError(error, "tree.dirty")) throw error;
  }
}

type RemoteEnd = { readonly state: "deleted" | "none" | "kept"; readonly note?: string };

async function deleteRemote(context: RepoContext, going: UndoPlan): Promise<RemoteEnd> {
  const { remote, subject } = going;
  const name = `${"remote" in remote ? remote.remote : ""}/${subject.branch.name}`;
  switch (remote.kind) {
    case "none":
      return { state: "none" };
    case "unchosen":
      return { state: "kept", note: `No remote was looked at: ${remote.why}` };
    case "kept":
      return { state: "kept", note: `${name} was kept: ${remote.why}` };
    case "newer":
      return {
        state: "kept",
        note: `${name} was kept, commits that are not here: ${remote.commits}`,
      };
    case "delete": {
      const at = { remote: remote.remote, branch: subject.branch.name, expected: remote.expected };
      const kept = await deleteRemoteBranch(context.git, at);
      return kept === undefined ? { state: "deleted" } : { state: "kept", note: `${name} was kept, ${kept}` };
    }
  }
}

function done(going: UndoPlan, item: TrashItem, remote: RemoteEnd): CommandResult {
  const { subject, line } = going;
  const target = targetText(subject.feature.target);
  const where =
    going.remote.kind === "delete" && remote.state === "deleted" ? `here and on ${going.remote.remote}` : "here";
  const loose = going.names.length;
  const what = `${count(going.commits, "commit")}, ${count(loose, "uncommitted file")}, the branch ${where}`;
  const diverged = line.relation === "diverged" ? [`${line.branch} has commits of its own and was left as it is`] : [];
  const notes = [...(remote.note === undefined ? [] : [remote.note]), ...diverged];
  const summary = [`Discarded ${target}: ${what}`, ...notes, `Bring it back with: orch restore ${item.id}`].join(". ");
  return {
    ok: true,
    code: 0,
    summary,
    next: [
      going.onMain ? `orch modify ${target} "what changes"` : `orch new ${target} "what it does"`,
      "orch scan",
      `orch restore ${item.id}`,
    ],
    data: {
      feature: target,
      branch: subject.branch.name,
      commits: going.commits,
      files: going.files,
      trash: item.id,
      remoteBranch: remote.state,
      main: line.branch,
      notes,
    },
  };
}

function foretold(going: UndoPlan, args: CommandArgs): CommandResult {
  const { subject, line } = going;
  const target = targetText(subject.feature.target);
  const { title } = undoQuestion(going);
  const steps = [
    ...(line.remote === undefined ? [] : [`fetch ${line.remote}`]),
    "store it for restore",
    ...(going.names.length === 0 ? [] : [`remove ${count(going.names.length, "uncommitted file")}`]),
    ...(canFastForward(line) ? [`fast-forward ${line.branch}`] : []),
    ...(subject.here ? [`switch to ${line.branch}`] : []),
    `delete ${subject.branch.name} here${going.remote.kind === "delete" ? ` and on ${line.remote}` : ""}`,
  ];
  const summary = `${title.replace(/^Discard/, "Would discard").replace(/\?$/, "")}. It would ${steps.join(", then ")}; nothing was changed`;
  return {
    ok: true,
    code: 0,
    summary,
    next: [commandAgain("undo", subject.here ? [] : [target], args)],
    data: {
      dryRun: true,
      feature: target,
      branch: subject.branch.name,
      commits: going.commits,
      files: going.files,
      names: going.names,
      remoteBranch: going.remote.kind,
      steps,
    },
  };
}
