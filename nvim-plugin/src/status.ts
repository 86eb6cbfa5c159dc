import { openAsks } from "../../shared/events/open-runs.ts";
import { statusLine } from "../../shared/events/project.ts";
import { plain, usageText } from "../../shared/events/words.ts";
import { type FollowedRun, isActive } from "../../shared/runner/run-feed.ts";

/** What `vim.g.orch_status` and the statusline component show. */
export interface Status {
  /** Empty when there is nothing to watch. */
  readonly text: string;
  readonly tone: "idle" | "busy" | "attention";
  /** Decisions and questions that nobody answered yet. */
  readonly waiting: number;
  readonly active: readonly ActiveRun[];
}

export interface ActiveRun {
  readonly run: string;
  readonly title: string;
  readonly text: string;
  /** Of what is known to come; absent before the first gate. */
  readonly percent?: number;
  readonly own: boolean;
}

const maxTitle = 40;

/** `open` are those of the runs that somebody has to do with: only these wait for anybody. */
export function statusOf(runs: readonly FollowedRun[], open: readonly FollowedRun[]): Status {
  const active = runs.filter(isActive);
  const first = active.find(({ standing }) => standing === "waiting") ?? active[0] ?? open.find(isParkedHere);
  const waiting = open.reduce((sum, run) => sum + openAsks(run).length, 0);
  if (first === undefined) return { text: "", tone: "idle", waiting, active: [] };
  const more = active.length > 1 ? ` +${active.length - 1}` : "";
  const cost = first.state.usage?.costUsd;
  const used = typeof cost === "number" && cost > 0 ? `, ${usageText(first.state).split(", ").at(-1)}` : "";
  return {
    text: `${lineOf(first)}${used}${more}`,
    tone: waiting > 0 ? "attention" : "busy",
    waiting,
    active: active.map((run) => {
      const percent = percentOf(run);
      return {
        run: run.run,
        title: "orch",
        text: lineOf(run).replace(/^orch: /, ""),
        own: run.own,
        ...(percent === undefined ? {} : { percent }),
      };
    }),
  };
}

/** A title may hold a whole prompt; in one line only its beginning has room. */
function lineOf({ state, alive }: FollowedRun): string {
  return statusLine({ ...state, title: nameOf(state) }, alive);
}

/** `do Billing/Invoice`: the command, and the feature once the run knows it. */
export function nameOf(state: FollowedRun["state"]): string {
  const contract = state.contracts.length === 1 ? state.contracts[0] : undefined;
  const about = contract?.feature ?? contract?.title ?? state.title;
  return shortTitle(about.startsWith(state.command) ? about : `${state.command} ${about}`);
}

function shortTitle(title: string): string {
  const words = plain(title);
  return words.length <= maxTitle ? words : `${words.slice(0, maxTitle - 3).trimEnd()}...`;
}

/** A parked run that began while this Neovim watched still waits for this person. */
function isParkedHere(run: FollowedRun): boolean {
  return run.standing === "parked" && run.fresh;
}

export function titleOf({ state }: FollowedRun): string {
  return plain(`orch ${state.command}`);
}

/** Attempts and gates of the contracts so far; never 100 before the end, which is told apart. */
function percentOf({ state }: FollowedRun): number | undefined {
  const contract = state.contracts.find(({ phase }) => phase === "running");
  const attempt = contract?.attempts.at(-1);
  if (contract === undefined || attempt === undefined) return undefined;
  const attempts = contract.maxAttempts ?? 3;
  const judged = attempt.gates.filter(({ status }) => status !== "running").length;
  const share = attempt.phase === "working" ? 0.2 : 0.5 + Math.min(0.45, judged * 0.03);
  return Math.min(99, Math.round(((attempt.attempt - 1 + share) / attempts) * 100));
}
