import { count } from "../../base/lines.ts";
import { type ContractRow, contractLedger, contractLine } from "../../events/contract-ledger.ts";
import { ledgerRow, summary } from "../../events/ledger.ts";
import { openRuns, waitsForPerson } from "../../events/open-runs.ts";
import { nextCommands, tree } from "../../events/project.ts";
import { isOver } from "../../events/standing.ts";
import type { Handler } from "../context.ts";
import { type UnfinishedContext, unfinishedHere, unfinishedNext, unfinishedText } from "../unfinished-writes.ts";
import { lookAtAll, namedRun, type RunLook, type RunsContext } from "../run-look.ts";

/** Every run that is not over and the newest that is; or one run in full. `data.text` is the plain form of it all. */
export const status: Handler<RunsContext & Partial<UnfinishedContext>> = async (context, args) => {
  const { runs, git } = context;
  const [word] = args.words;
  if (word !== undefined) {
    const look = await namedRun(runs, word);
    // Only what came after it says something about its work.
    const { contracts, feature } = look.state;
    const later =
      contracts.length === 0 && feature === undefined
        ? []
        : await lookAtAll(runs, (seen) => seen.at(-1)?.run === look.run);
    return one(look, later);
  }
  const looks = await lookAtAll(runs);
  const rows = contractLedger(looks.map(({ state }) => state));
  const { open, left } = openRuns(looks);
  const newest = looks.find(({ standing }) => isOver(standing));
  const shown = [...open, ...(newest === undefined ? [] : [newest])];
  const waiting = open.filter(waitsForPerson);
  const running = open.filter(({ alive }) => alive);
  const interrupted = open.filter(({ standing }) => standing === "interrupted");
  const contracts = rows.slice(0, maxContracts);
  // Runs are told of also where there is no repository yet.
  const torn = git === undefined ? [] : await unfinishedHere({ ...context, git });
  const parts = [
    running.length > 0 ? `${count(running.length, "run")} running` : "nothing runs",
    waiting.length > 0 ? `${count(waiting.length, "run")} waiting for you` : "",
    interrupted.length > 0 ? `${count(interrupted.length, "run")} interrupted` : "",
    torn.length > 0 ? `${count(torn.length, "file")} to put back` : "",
  ];
  return {
    ok: true,
    code: 0,
    summary: parts.filter((part) => part !== "").join(", "),
    next: [
      ...(torn.length > 0 ? [unfinishedNext] : []),
      ...(open.length === 0
        ? [...contracts.flatMap(nextStep).slice(0, 3), "orch runs"]
        : open.flatMap(({ state, alive }) => nextCommands(state, alive)).slice(0, 4)),
    ],
    data: {
      runs: shown.map(({ state, alive }) => ledgerRow(state, alive)),
      contracts,
      unfinished: torn,
      text: [
        ...(torn.length > 0 ? [`${unfinishedText(torn)}. The next command that writes puts back what was there`] : []),
        ...shown.flatMap(({ state, alive }) => summary(state, alive)),
        ...left.map(
          ({ run, standing }) => `${run}  ${standing}, and its work went on without it: orch cancel ${run} ends it`,
        ),
        ...(contracts.length === 0 ? [] : ["contracts", ...contracts.map((row) => `  ${contractLine(row)}`)]),
      ],
    },
  };
};

const maxContracts = 20;

/** What a lead does next about a contract. */
function nextStep(row: ContractRow): readonly string[] {
  if (row.merged || row.phase !== "awaiting-review") return [];
  if (row.review === undefined) return [`orch review ${row.id}`];
  return row.review.verb === "accept" ? [`orch merge ${row.id}`] : [];
}

function one(look: RunLook, later: readonly RunLook[]): Awaited<ReturnType<typeof status>> {
  const { state, alive, standing, run, dir } = look;
  const left = openRuns(later).left.some((other) => other.run === run);
  return {
    ok: true,
    code: 0,
    summary: `${run} ${standing}`,
    next: nextCommands(state, alive, left),
    data: {
      runs: [ledgerRow(state, alive)],
      dir,
      tree: tree(
        state,
        alive,
        later.map((other) => other.state),
      ),
      pending: state.pending,
      ...(state.parked === undefined ? {} : { parked: state.parked }),
      ...(state.result === undefined ? {} : { result: state.result }),
      text: summary(state, alive, left),
    },
  };
}
