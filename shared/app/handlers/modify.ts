import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { changedLines } from "../../base/line-diff.ts";
import { inRoot } from "../../base/paths.ts";
import { type Amendment, endsWithAmendment } from "../../features/amend.ts";
import { readRegistry } from "../../features/registry.ts";
import { knownDomain } from "../../features/resolve.ts";
import { scaffoldFiles } from "../../features/scaffold.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { commandAgain } from "../again.ts";
import type { CommandArgs, Handler } from "../context.ts";
import type { DoContext } from "../do-context.ts";
import { requireModelId } from "../model-id.ts";
import { type LookedAt, lookedAt, modifyWords, targetOfFile } from "../modify-target.ts";
import { askNearMiss } from "../near-miss.ts";
import { createFeature, makeBranch, register } from "../new-feature.ts";
import { type ModifyPlan, modifyTarget, planModify } from "../plan-modify.ts";
import { promptText } from "../prompt-text.ts";
import { type BackStep, putBack } from "../put-back.ts";
import { requireFreeIndex } from "../preconditions.ts";
import { withRepositoryLock } from "../repository-lock.ts";
import { amendSpec, type SpecAmendment } from "../spec-amend.ts";
import type { SpecContext } from "../spec-draft.ts";
import { nextOfSpec } from "../spec-next.ts";

export type ModifyContext = SpecContext & Pick<DoContext, "history">;

/**
 * `modify [domain/Feature] "prompt"`: spec.md amended by a model, the request appended as a numbered, dated amendment.
 * The files stay uncommitted, on the feature's own branch or, from main, on `modify/<Feature>`. Until the model answered
 * nothing of the checkout has changed; what the spec was is in git or in the trash.
 */
export const modify: Handler<ModifyContext> = async (context, given, signal) => {
  requireModelId(given.model);
  const looked = await lookedAt(context, given);
  const { target, rest } = modifyWords(given.words);
  const request = await promptText(context.files, context.cwd, {
    words: rest,
    ...(given.prompt === undefined ? {} : { prompt: given.prompt }),
  });
  if (request === "") {
    throw new OrchError(
      "usage.invalid",
      `modify needs words: what changes${target === undefined ? "" : ` in ${target}`}`,
      {
        data: { command: "modify" },
      },
    );
  }
  const place = target === undefined ? await targetOfFile(context, looked) : undefined;
  const here = place === undefined ? context : { ...context, cwd: place.cwd };
  const words = place?.words ?? [target ?? ""];
  const asked = { ...given, words, ...(place?.app === undefined || given.app !== undefined ? {} : { app: place.app }) };
  const look = (one: CommandArgs): Promise<ModifyPlan> => planModify(here, one, looked, signal);
  const { args, found } = await askNearMiss(context.editor, asked, signal, look);
  if (args.dryRun) {
    for (const text of found.mentions) context.editor.notify({ severity: "info", text });
    return foretold(found, { ...given, words: rest });
  }
  return await withRepositoryLock(context, "modify", signal, async () => {
    await requireFreeIndex(context.git);
    const plan = await look(args);
    for (const text of plan.mentions) context.editor.notify({ severity: "info", text });
    const amendment: Amendment = { date: new Date(context.clock.now()).toISOString().slice(0, 10), request };
    if (context.history.length > 0 && plan.spec !== undefined && endsWithAmendment(plan.spec, amendment)) {
      return doneBefore(plan);
    }
    const seen = place !== undefined || isInSlice(plan, looked) ? looked : undefined;
    const draft = await amendSpec(context, args, { plan, amendment, looked: seen }, signal);
    const now = await look(args);
    if (now.spec !== plan.spec) throw changedMeanwhile(plan);
    const written = await write(context, now, draft, signal);
    await context.editor.showDiff({
      title: `${now.known.feature.spec}: amendment ${draft.number}`,
      path: now.known.feature.spec,
      left: now.spec ?? "",
      right: draft.text,
    });
    if (draft.findings.length > 0) context.editor.showFindings(draft.findings);
    return done(now, draft, written);
  });
};

interface Written {
  readonly branch: string;
  /** Files that were made because the slice had none. */
  readonly made: readonly string[];
  /** Entry that holds the spec of before, where git does not. */
  readonly trash?: string;
}

async function write(
  context: ModifyContext,
  plan: ModifyPlan,
  draft: SpecAmendment,
  signal: AbortSignal,
): Promise<Written> {
  const { feature, head } = plan.known;
  const wanted = { feature, plan: plan.branch, from: head.branch };
  if (!plan.there) {
    const files = [
      { path: feature.spec, text: draft.text },
      ...scaffoldFiles(plan.pack, feature, { controller: false }),
    ];
    const { branch, written } = await createFeature(context, { ...wanted, files }, signal);
    return { branch, made: written };
  }
  const back: BackStep[] = [];
  try {
    throwIfAborted(signal);
    const branch = await makeBranch(context, wanted, back);
    const trash = await replaceSpec(context, plan, draft.text, back);
    const { file } = await readRegistry(context.files, context.root, feature.registry);
    if (knownDomain(file, feature.target.name) === undefined) await register(context, feature, back);
    return { branch, made: [], ...(trash === undefined ? {} : { trash }) };
  } catch (error) {
    await putBack(context.editor, back);
    throw error;
  }
}

/** A spec that no commit holds goes into the trash first. Returns its entry. */
async function replaceSpec(
  context: ModifyContext,
  plan: ModifyPlan,
  draft: string,
  back: BackStep[],
): Promise<string | undefined> {
  const { files, root, git } = context;
  const { feature } = plan.known;
  const place = inRoot(root, feature.spec);
  const bytes = await files.read(place);
  const now = bytes === undefined ? undefined : decode(bytes);
  // A branch that was entered just now was read from its commit: git may have given the file other line ends.
  const entered = plan.branch.kind === "enter" && now !== undefined && plain(now) === plain(plan.spec ?? "");
  if (now !== plan.spec && !entered) throw changedMeanwhile(plan);
  if (bytes === undefined) {
    if (!(await files.createOnce(place, draft))) throw changedMeanwhile(plan);
    back.push(() => files.remove(place));
    return undefined;
  }
  const text = entered && now.includes("\r\n") ? plain(draft).replaceAll("\n", "\r\n") : draft;
  const committed = await git.fileAt("HEAD", feature.spec);
  const item =
    committed !== undefined && Buffer.from(committed).equals(bytes)
      ? undefined
      : await context.trash.store({ by: "modify", what: `${feature.spec} before an amendment`, paths: [feature.spec] });
  await files.write(place, text);
  back.push(async () => {
    if ((await files.readText(place)) === text) await files.write(place, bytes);
  });
  return item?.id;
}

const plain = (text: string): string => text.replaceAll("\r\n", "\n");
const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

function changedMeanwhile(plan: ModifyPlan): OrchError {
  const { spec } = plan.known.feature;
  return new OrchError("tree.changed", `${spec} changed while it was amended, so it stays as it is`, {
    data: { paths: [spec] },
  });
}

function isInSlice(plan: ModifyPlan, looked: LookedAt | undefined): boolean {
  return looked !== undefined && looked.path.startsWith(`${plan.known.feature.dir}/`);
}

function done(plan: ModifyPlan, draft: SpecAmendment, written: Written): CommandResult {
  const { feature } = plan.known;
  const how =
    draft.by === "template"
      ? `only the amendment was appended to spec.md (${draft.note ?? ""})`
      : `spec.md amended by ${draft.label ?? draft.by}`;
  const faults = draft.findings.filter(({ rule }) => rule !== "spec.dropped");
  const [first] = faults;
  const parts = [
    `${modifyTarget(plan)}: amendment ${draft.number} on branch ${written.branch}, ${how}`,
    ...(draft.dropped.length === 0 ? [] : [`gone from the spec: ${draft.dropped.join("; ")}`]),
    ...(written.made.length === 0 ? [] : [`${count(written.made.length, "file")} made, for the folder was missing`]),
    ...(first === undefined
      ? []
      : [`${count(faults.length, "thing")} to look at in ${feature.spec}: ${first.message}`]),
    ...(written.trash === undefined ? [] : [`the spec before it is stored: orch restore ${written.trash}`]),
  ];
  return {
    ok: true,
    code: 0,
    summary: parts.join("; "),
    next: nextOfSpec(feature.spec, draft.findings),
    data: {
      target: modifyTarget(plan),
      dir: feature.dir,
      branch: written.branch,
      amendment: draft.number,
      files: written.made,
      trash: written.trash ?? null,
      spec: {
        path: feature.spec,
        by: draft.by,
        label: draft.label,
        note: draft.note,
        dropped: draft.dropped,
        findings: draft.findings,
      },
      text: changedLines(plan.spec ?? "", draft.text),
    },
  };
}

/** A runner that died after it had written left nothing to do but to say so. */
function doneBefore(plan: ModifyPlan): CommandResult {
  return {
    ok: true,
    code: 0,
    summary: `${modifyTarget(plan)}: amended before the run was interrupted`,
    next: ["orch do"],
    data: { target: modifyTarget(plan), dir: plan.known.feature.dir, branch: plan.branch.branch },
  };
}

function foretold(plan: ModifyPlan, given: CommandArgs): CommandResult {
  const { feature } = plan.known;
  const where = plan.branch.kind === "make" ? `a new branch ${plan.branch.branch}` : `branch ${plan.branch.branch}`;
  const made = plan.there ? "" : `, and make the slice ${feature.dir} without a controller`;
  return {
    ok: true,
    code: 0,
    summary: `Would amend ${feature.spec} on ${where}${made}; nothing was changed`,
    next: [commandAgain("modify", [modifyTarget(plan), ...given.words], given)],
    data: {
      dryRun: true,
      target: modifyTarget(plan),
      dir: feature.dir,
      branch: plan.branch.branch,
      makesBranch: plan.branch.kind === "make",
    },
  };
}
