import { count } from "../../base/lines.ts";
import { inRoot, type RepoPath, repoPath, typedPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { type ContractRow, contractLine } from "../../events/contract-ledger.ts";
import { findingText } from "../../events/words.ts";
import type { Change } from "../../model/change.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { isOrchError, OrchError } from "../../model/error.ts";
import type { KeptResult } from "../../ports/worktrees.ts";
import { readReviseItems, reviseText } from "../../prompts/revise-items.ts";
import { attemptFiles, patchLines } from "../attempt-files.ts";
import type { CommandArgs, Handler } from "../context.ts";
import {
  contractAsRun,
  contractPath,
  type Ledger,
  readLedger,
  requireResult,
  requireRow,
  reviewerOf,
} from "../contract-rows.ts";
import type { WaveContext } from "../contract-wave.ts";
import { keptChange } from "../kept-change.ts";
import { storeKept } from "../kept-work.ts";
import { createSlotsOf } from "../open-worktrees.ts";
import { type FoundPlace, preparedPlace } from "../prepared-places.ts";
import { tickHunks } from "../tick-hunks.ts";

/** REVISE of one task; after that the lead decides otherwise. */
const maxRevise = 2;
/** Files that are opened side by side; a larger change is read in its patch. */
const maxShown = 40;

/**
 * `review <ID>`: shows what is to be judged; with --accept, --revise or --take-over it closes the review, logged with the
 * reviewer and the hash of exactly the change that was there.
 */
export const review: Handler<WaveContext> = async (context, args, signal) => {
  const [id] = args.words;
  if (id === undefined || args.words.length > 1)
    throw new OrchError("usage.invalid", "review takes one contract", { data: { command: "review" } });
  const verbs = [args.accept === true, args.revise !== undefined, args.takeOver === true].filter(Boolean);
  if (verbs.length > 1)
    throw new OrchError("usage.invalid", "review takes one of --accept, --revise and --take-over", {
      data: { command: "review" },
    });
  const ledger = await readLedger(context);
  const row = await requireRow(context, ledger, id);
  if (args.accept === true) return await accept(context, ledger, row, args, signal);
  if (args.revise !== undefined) return await revise(context, row, args.revise);
  if (args.takeOver === true) return await takeOver(context, ledger, row, signal);
  return await show(context, row);
};

// --- looking -------------------------------------------------------------------------------------------------------

async function show(context: WaveContext, row: ContractRow): Promise<CommandResult> {
  const { editor } = context;
  const left = await attemptFiles(context, row);
  const kept = await context.kept.find(row.run, row.id);
  const change = kept === undefined ? undefined : await context.git.diff(kept.base, kept.tree);
  if (kept !== undefined && change !== undefined) await showFiles(context, row, kept, change);
  const { findings } = left;
  editor.showFindings(findings);
  const checklist = inRoot(context.machine.installRoot, "personas/review-checklist.md");
  if (left.guard !== undefined) await editor.open({ path: left.guard });
  await editor.open({ path: checklist });
  const open = row.phase === "awaiting-review" && row.review === undefined;
  const text = [
    contractLine(row),
    ...findings.map((finding) => `  ${findingText(finding)}`),
    ...(change?.files ?? []).map(
      ({ status, path, added = 0, removed = 0 }) => `  ${status} ${path} +${added} -${removed}`,
    ),
    ...(left.diff === undefined ? [] : [`  diff: ${left.diff}`, ...patchLines(left).map((line) => `    ${line}`)]),
    ...(left.guard === undefined ? [] : [`  gates: ${left.guard}`]),
    `  checklist: ${checklist}`,
  ];
  return {
    ok: true,
    code: 0,
    summary: open
      ? `${row.id} awaits your review: ${count(row.files, "file")}, +${row.added} -${row.removed}`
      : contractLine(row),
    next: open ? closings(row.id) : await nextOf(context, row),
    data: {
      ...row,
      findings,
      ...(left.diff === undefined ? {} : { diff: left.diff }),
      ...(left.guard === undefined ? {} : { guard: left.guard }),
      checklist,
      text,
    },
  };
}

/** Also where there is nothing to look at yet: what leads to something. */
async function nextOf(context: WaveContext, row: ContractRow): Promise<readonly string[]> {
  if (row.merged) return [];
  if (row.review?.verb === "accept") return [`orch merge ${row.id}`];
  try {
    await requireResult(context, row);
    return [];
  } catch (error) {
    if (!isOrchError(error)) throw error;
    return error.next;
  }
}

function closings(id: string): readonly string[] {
  return [`orch review ${id} --accept`, `orch review ${id} --revise FILE`, `orch review ${id} --take-over`];
}

async function showFiles(
  { git, editor }: WaveContext,
  row: ContractRow,
  kept: KeptResult,
  change: Change,
): Promise<void> {
  const textAt = async (tree: string, path: RepoPath | undefined): Promise<string> => {
    const bytes = path === undefined ? undefined : await git.fileAt(tree, path);
    return bytes === undefined ? "" : new TextDecoder().decode(bytes);
  };
  for (const { path, oldPath, binary } of change.files.slice(0, maxShown)) {
    if (binary) continue;
    const left = await textAt(kept.base, repoPath(oldPath ?? path));
    const right = await textAt(kept.tree, repoPath(path));
    await editor.showDiff({ title: `${row.id}: ${path}`, path, left, right });
  }
}

// --- closing -------------------------------------------------------------------------------------------------------

async function accept(
  context: WaveContext,
  ledger: Ledger,
  row: ContractRow,
  args: CommandArgs,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { id } = row;
  if (row.merged) throw new OrchError("review.nothing", `${id} is merged already`, { data: { id } });
  const diffHash = await requireResult(context, row);
  const reviewer = await reviewerOf(context);
  const { contract, change } = await keptChange(context, row);
  if (row.review === undefined) {
    if (contract.kind === "critical") await tickHunks(context.editor, change, args, signal);
    close(context, row, "accept", reviewer);
  }
  await giveBack(context, ledger, row, signal);
  return {
    ok: true,
    code: 0,
    summary: `${id} accepted by ${reviewer}, diff ${diffHash.slice(0, 12)}`,
    next: [`orch merge ${id}`],
    data: { id, run: row.run, verb: "accept", reviewer, diffHash },
  };
}

async function revise(context: WaveContext, row: ContractRow, file: string): Promise<CommandResult> {
  const { id } = row;
  const hash = await openHash(context, row);
  const at = typedPath(context.cwd, file);
  const given = file === "" ? undefined : await context.files.readText(at);
  if (given === undefined) throw new OrchError("review.items", `there is no file ${file}`, { data: { path: file } });
  const items = readReviseItems(given, file);
  if (row.revisions >= maxRevise)
    throw new OrchError("review.limit", `${id} was sent back ${maxRevise} times already`, { data: { id } });
  const reviewer = await reviewerOf(context);
  const text = context.redact(reviseText(items, reviewer));
  const feedback = await context.sink.sidecar(`${id}/feedback.md`, text);
  const folder = await context.runs.find(row.run);
  // Where a lead looks for it: `.orch/runs/<ID>` leads to the work, not to this review.
  if (folder !== undefined) {
    await context.files.write(inRoot(folder.dir, id, "feedback.md"), text, { mode: 0o600 });
    // What is printed below leads through it, and whoever tidied up by hand may have removed it.
    await context.runs.link(id, folder);
  }
  context.sink.append({
    type: "review.closed",
    contract: id,
    verb: "revise",
    reviewer,
    diffHash: hash,
    work: row.run,
    items: items.map(({ path, line, fault }) => context.redact(`${path}:${line}: ${fault}`)),
    feedback,
  });
  const left = maxRevise - row.revisions - 1;
  return {
    ok: true,
    code: 0,
    summary: `${id} goes back with ${count(items.length, "item")}, ${left === 0 ? "the last time" : "once more is possible"}`,
    next: [`orch dispatch ${shellWord(await contractPath(context, id))} --feedback .orch/runs/${id}/feedback.md`],
    data: {
      id,
      run: row.run,
      verb: "revise",
      reviewer,
      diffHash: hash,
      items,
      feedback: `.orch/runs/${id}/feedback.md`,
    },
  };
}

/** What is sent back must be there and be open: an accepted change was judged good by the same lead. */
async function openHash(context: WaveContext, row: ContractRow): Promise<string> {
  const { id } = row;
  const diffHash = await requireResult(context, row);
  if (row.review === undefined) return diffHash;
  throw new OrchError("review.nothing", `${contractLine(row)}: there is nothing to send back`, { data: { id } });
}

/** The task is the lead's from here on. The last change is kept for `restore`. */
async function takeOver(
  context: WaveContext,
  ledger: Ledger,
  row: ContractRow,
  signal: AbortSignal,
): Promise<CommandResult> {
  const { id } = row;
  if (row.merged || row.review?.verb === "take-over")
    throw new OrchError("review.nothing", `${contractLine(row)}: there is nothing to take over`, { data: { id } });
  const reviewer = await reviewerOf(context);
  const worktree = placeOf(context, ledger, row)?.worktree ?? row.run;
  const contract = await contractAsRun(context, row);
  const stored = await storeKept(context, { run: row.run, id, contract, worktree }, signal);
  const trash = (await giveBack(context, ledger, row, signal)) ?? stored;
  if (trash !== undefined)
    context.sink.append({ type: "trash.stored", id: trash, what: `${id}, taken over`, entries: row.files, bytes: 0 });
  close(context, row, "take-over", reviewer);
  const patch = `${row.run}/${id}/attempt-${row.attempt}`;
  return {
    ok: true,
    code: 0,
    summary: `${id} is yours now${row.files === 0 ? "" : `; its last change is kept: orch apply ${patch}`}`,
    next: [
      ...(row.files === 0 ? [] : [`orch apply ${patch}`]),
      ...(trash === undefined ? [] : [`orch restore ${trash}`]),
    ],
    data: { id, run: row.run, verb: "take-over", reviewer, ...(trash === undefined ? {} : { trash }) },
  };
}

/** The worktree, also one that was prepared and that this run only judged; then its place of the machine, too. */
async function giveBack(
  context: WaveContext,
  ledger: Ledger,
  row: ContractRow,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { id, run } = row;
  const { trash } = await context.worktreesOf(run).release(id, signal);
  const prepared = placeOf(context, ledger, row);
  if (prepared === undefined) return trash;
  await createSlotsOf(context).release(prepared.place.slot);
  return (await context.worktreesOf(prepared.worktree).release(id, signal, run)).trash ?? trash;
}

function placeOf(context: WaveContext, ledger: Ledger, { id, command }: ContractRow): FoundPlace | undefined {
  return command === "guard" || command === "prepare" ? preparedPlace(ledger, id, context.run) : undefined;
}

function close(context: WaveContext, row: ContractRow, verb: "accept" | "take-over", reviewer: string): void {
  context.sink.append({
    type: "review.closed",
    contract: row.id,
    verb,
    reviewer,
    diffHash: row.diffHash ?? "",
    work: row.run,
  });
}
