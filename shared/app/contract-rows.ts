import { type ContractRow, contractLedger, contractLine } from "../events/contract-ledger.ts";
import type { RunState } from "../events/run-state.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import type { RepoContext } from "./context.ts";
import { lookAtAll, type RunsContext } from "./run-look.ts";

/** Every contract of this repository's runs, newest work first, and the runs it was read from. */
export interface Ledger {
  readonly rows: readonly ContractRow[];
  readonly runs: readonly RunState[];
}

export async function readLedger({ runs }: Pick<RunsContext, "runs">): Promise<Ledger> {
  const states = (await lookAtAll(runs)).map(({ state }) => state);
  return { rows: contractLedger(states), runs: states };
}

type RowContext = Pick<RepoContext, "files" | "root" | "trash">;

/** @throws OrchError `contract.no-result` for a contract without a run, `contract.unknown` for what is no contract */
export async function requireRow(context: RowContext, { rows }: Ledger, id: string): Promise<ContractRow> {
  const row = rows.find((one) => one.id === id);
  if (row !== undefined) return row;
  throw (
    (await withoutRun(context, id)) ??
    new OrchError("contract.unknown", `no run has worked on a contract ${id}`, { data: { id } })
  );
}

/** Of a contract that nobody has worked on, or whose runs were removed; undefined for what is no contract. */
export async function withoutRun(context: RowContext, id: string): Promise<OrchError | undefined> {
  const removed = (await context.trash.list()).find(({ kept }) => kept.includes(id));
  const path = await contractPath(context, id);
  if (removed !== undefined)
    return new OrchError("contract.no-result", `the run of ${id} was removed`, {
      data: { id, path, removed: removed.id },
    });
  if (path === unknownPath) return undefined;
  return new OrchError("contract.no-result", `there is no run of ${id}`, { data: { id, path } });
}

/**
 * The change of a contract that a lead can act on. What is not there, was only an answer, or was closed otherwise is told
 * with the way on from there.
 *
 * @throws OrchError `contract.no-result`, `review.nothing`, `review.closed`
 */
export async function requireResult(context: Pick<RepoContext, "files" | "root">, row: ContractRow): Promise<string> {
  const { id, review, phase, diffHash } = row;
  const path = await contractPath(context, id);
  if (phase === "accepted")
    throw new OrchError("review.nothing", `${id} was only an answer: there is no change of it`, { data: { id } });
  if (review !== undefined && review.verb !== "accept")
    throw new OrchError("review.closed", `${id} was reviewed already: ${review.verb} by ${review.reviewer}`, {
      data: {
        id,
        path,
        verb: review.verb,
        ...(row.files === 0 ? {} : { change: `${row.run}/${id}/attempt-${row.attempt}` }),
      },
    });
  if (phase === "awaiting-review" && diffHash !== undefined) return diffHash;
  throw new OrchError("contract.no-result", `${contractLine(row)}: there is no result yet`, {
    data: { id, path, prepared: row.command === "prepare" && phase === "queued" },
  });
}

/** Where a contract of that id would lie, for what is printed to be pasted. */
export async function contractPath(context: Pick<RepoContext, "files" | "root">, id: string): Promise<string> {
  const path = `.orch/contracts/${id}.json`;
  return (await context.files.stat(inRoot(context.root, path)))?.kind === "file" ? path : unknownPath;
}

const unknownPath = "<file>";

/** Who reviews: as git knows the person, else the host that asked. */
export async function reviewerOf({ git, editor }: Pick<RepoContext, "git" | "editor">): Promise<string> {
  const who = await git.identity();
  return who === undefined ? `the person at ${editor.host}` : `${who.name} <${who.email}>`;
}

/** The contract of that work as its run read it, not as the file is now. */
export async function contractAsRun(
  { runs, files }: Pick<RunsContext, "runs" | "files">,
  row: ContractRow,
): Promise<Contract | undefined> {
  const folder = await runs.find(row.run);
  return folder === undefined ? undefined : await contractIn(files, folder.dir, row.id);
}

/** As it was written into the folder of a run. */
export async function contractIn(
  files: Pick<RepoContext["files"], "readText">,
  runDir: AbsPath,
  id: string,
): Promise<Contract | undefined> {
  const text = await files.readText(inRoot(runDir, id, "contract.json"));
  const read = text === undefined ? undefined : readJson(text, Contract);
  return read?.kind === "ok" ? read.value : undefined;
}
