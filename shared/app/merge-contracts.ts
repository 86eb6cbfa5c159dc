import { throwIfAborted } from "../base/abort.ts";
import { tellingLine } from "../base/telling-line.ts";
import { type RepoPath } from "../base/paths.ts";
import { runGate } from "../engine/attempt.ts";
import { type ContractRow, contractLine } from "../events/contract-ledger.ts";
import { nameSome } from "../features/branches.ts";
import { restoresOf } from "../gates/touched-files.ts";
import type { Change } from "../model/change.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { Contract } from "../model/contract.ts";
import { isOrchError, OrchError } from "../model/error.ts";
import type { Finding } from "../model/finding.ts";
import type { GateInput } from "../ports/gate.ts";
import { inRoot } from "../base/paths.ts";
import type { CommandArgs } from "./context.ts";
import { type Ledger, readLedger, requireResult, requireRow, withoutRun } from "./contract-rows.ts";
import type { WaveContext } from "./contract-wave.ts";
import { keptChange } from "./kept-change.ts";
import { requireNoOperation } from "./preconditions.ts";
import { withRepositoryLock } from "./repository-lock.ts";
import { requireTrust, requireTrusted } from "./trust.ts";

/** One accepted change, as it was judged and reviewed. */
interface Accepted {
  readonly row: ContractRow;
  readonly contract: Contract;
  readonly change: Change;
}

/** Words of `merge` that name contracts, and not features: then it is this merge. */
export async function namesContracts(context: WaveContext, words: readonly string[]): Promise<Ledger | undefined> {
  if (words.length === 0 || words.some((word) => word.includes("/"))) return undefined;
  const ledger = await readLedger(context);
  const known = new Set(ledger.rows.map(({ id }) => id));
  const isContract = async (word: string): Promise<boolean> =>
    known.has(word) || (words.length > 1 && (await withoutRun(context, word)) !== undefined);
  for (const word of words) if (!(await isContract(word))) return undefined;
  return ledger;
}

/**
 * `merge <ID...>`: accepted changes into the working tree, unstaged, one at a time, the contract's checks after each.
 * Refused (4) before a logged review of exactly that change. A conflict leaves all as it was; one whose checks go red is
 * taken back and ends the merge. Contracts never commit.
 */
export async function mergeContracts(
  context: WaveContext,
  ledger: Ledger,
  args: CommandArgs,
  signal: AbortSignal,
): Promise<CommandResult> {
  const accepted = await acceptedOnes(context, ledger, args.words);
  const why = "merging runs the contracts' checks";
  if (args.dryRun) {
    await requireTrusted(context, why, signal);
    return await foretell(context, accepted);
  }
  await requireTrust(context, why, signal);
  return await withRepositoryLock(context, "merge", signal, async () => {
    await requireNoOperation(context.git);
    return await mergeInTurn(context, accepted, signal);
  });
}

async function acceptedOnes(
  context: WaveContext,
  ledger: Ledger,
  ids: readonly string[],
): Promise<readonly Accepted[]> {
  const found: Accepted[] = [];
  for (const id of new Set(ids)) {
    const row = await requireRow(context, ledger, id);
    if (row.merged) throw new OrchError("review.nothing", `${id} is merged already`, { data: { id } });
    await requireResult(context, row);
    if (row.review?.verb !== "accept")
      throw new OrchError("review.missing", `${contractLine(row)}: no review has accepted it`, { data: { id } });
    found.push({ row, ...(await keptChange(context, row)) });
  }
  return found;
}

async function mergeInTurn(
  context: WaveContext,
  accepted: readonly Accepted[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const done: Accepted[] = [];
  try {
    for (const one of accepted) {
      throwIfAborted(signal);
      const { row, change } = one;
      const conflict = await putIn(context, change);
      if (conflict !== undefined) throw conflictOf(row, conflict);
      done.push(one);
      const findings = await runChecks(context, one, signal);
      if (findings.length > 0) {
        done.pop();
        const left = await takeOut(context, change);
        tell(context, done);
        return redAfter(row, { findings, done, left });
      }
    }
  } catch (error) {
    // Each for itself: what cannot be taken out is told, and must not keep the others in the tree.
    for (const { change } of done.toReversed()) await takeOut(context, change);
    throw error;
  }
  tell(context, done);
  return merged(done);
}

/** Undefined when it lies in the tree: also one that a killed merge had put there already. */
async function putIn({ git }: WaveContext, change: Change): Promise<string | undefined> {
  const applied = await git.applyPatch(change.patch);
  if (applied.kind === "applied") return undefined;
  const back = await git.diff(change.tree, change.base);
  const isThere = await git.applyPatch(back.patch, { checkOnly: true });
  return isThere.kind === "applied" ? undefined : applied.output;
}

/**
 * Runs to its end even after an abort: the tree as it was is what the person is promised. Answers why the change still
 * lies in the tree, which a person has been told then.
 */
async function takeOut({ git, editor }: WaveContext, change: Change): Promise<string | undefined> {
  const left = await putBack(git, change);
  if (left === undefined) return undefined;
  const paths = nameSome(change.files.map(({ path }) => path));
  editor.notify({ severity: "error", text: `Not taken back, ${left}: ${paths}`, hint: "Look at them with: git diff" });
  return left;
}

async function putBack(git: WaveContext["git"], change: Change): Promise<string | undefined> {
  try {
    const back = await git.diff(change.tree, change.base);
    const done = await git.applyPatch(back.patch);
    return done.kind === "applied" ? undefined : tellingLine(done.output);
  } catch (error) {
    if (!isOrchError(error)) throw error;
    return error.message;
  }
}

function tell({ sink }: WaveContext, done: readonly Accepted[]): void {
  for (const { row, change } of done) {
    sink.append({
      type: "contract.merged",
      contract: row.id,
      title: row.title,
      work: row.run,
      diffHash: change.diffHash,
      paths: change.files.map(({ path }) => path),
    });
  }
}

/** In the main tree, as a person would; hidden checks judged the work, final checks come with `final`. */
async function runChecks(
  context: WaveContext,
  { contract, change, row }: Accepted,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const { gates } = await context.projectGates();
  const gate = gates.find(({ id }) => id === "checks");
  if (gate === undefined || contract.checks.length === 0) return [];
  const { result } = await runGate(
    gate,
    checkInput(context, contract, change, `${row.id}/merge`),
    context.clock,
    signal,
  );
  if (result.kind === "broken") throw result.error;
  return result.kind === "ran" ? result.findings.filter(({ severity }) => severity === "FAIL") : [];
}

/** What the checks gate needs to run checks in the checkout itself. */
export function checkInput(
  context: Pick<WaveContext, "root" | "files" | "git" | "runDir" | "sink">,
  contract: Contract,
  change: Change,
  relative: string,
): GateInput {
  const { root, files, git, runDir, sink } = context;
  return {
    contract,
    attempt: 1,
    root,
    change,
    soFar: [],
    attemptDir: { relative, absolute: inRoot(runDir, relative) },
    sink,
    read: (path: RepoPath) => files.read(inRoot(root, path)),
    readBase: (path: RepoPath) => git.fileAt(change.base, path),
  };
}

function conflictOf(row: ContractRow, output: string): OrchError {
  return new OrchError("contract.conflict", `${row.id} does not fit the tree as it is: ${tellingLine(output)}`, {
    data: { id: row.id, path: `.orch/contracts/${row.id}.json` },
  });
}

function redAfter(
  row: ContractRow,
  {
    findings,
    done,
    left,
  }: { readonly findings: readonly Finding[]; readonly done: readonly Accepted[]; readonly left: string | undefined },
): CommandResult {
  const before = done.length === 0 ? "" : `; merged before it: ${done.map((one) => one.row.id).join(", ")}`;
  const became = left === undefined ? "was taken back" : `could not be taken back (${left}) and still lies in the tree`;
  return {
    ok: false,
    code: 1,
    summary: `${row.id} ${became}: ${findings[0]?.message ?? "its checks are red"}${before}`,
    next: [
      ...restoresOf(findings),
      ...(left === undefined ? [] : ["git diff"]),
      `orch review ${row.id}`,
      "orch status",
    ],
    data: {
      merged: done.map((one) => one.row.id),
      ...(left === undefined ? { takenBack: row.id } : { left: row.id }),
      findings,
    },
  };
}

function merged(done: readonly Accepted[]): CommandResult {
  const ids = done.map(({ row }) => row.id);
  const paths = [...new Set(done.flatMap(({ change }) => change.files.map(({ path }) => path)))];
  const checks = done.reduce((sum, { contract }) => sum + contract.checks.length, 0);
  return {
    ok: true,
    code: 0,
    summary: `Merged ${ids.join(", ")}, unstaged: ${nameSome(paths)}${checks === 0 ? "" : "; checks green"}`,
    next: ["orch final", "git diff", "orch status"],
    data: { merged: ids, paths },
  };
}

async function foretell({ git }: WaveContext, accepted: readonly Accepted[]): Promise<CommandResult> {
  for (const { row, change } of accepted) {
    const fits = await git.applyPatch(change.patch, { checkOnly: true });
    if (fits.kind === "refused") throw conflictOf(row, fits.output);
  }
  const ids = accepted.map(({ row }) => row.id);
  return {
    ok: true,
    code: 0,
    summary: `Would merge ${ids.join(", ")}; nothing was changed`,
    next: [`orch merge ${ids.join(" ")}`],
    data: { dryRun: true, contracts: ids },
  };
}
