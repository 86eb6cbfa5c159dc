import { clip, firstLine, stripControls } from "../base/lines.ts";
import { below } from "../base/paths.ts";
import type { WorkerReport } from "../model/attempt.ts";
import type { FinalWord } from "../model/final-word.ts";
import type { Amount, Usage } from "../model/usage.ts";
import type { FailureWhy, UnusableWhy } from "../ports/model.ts";
import type { Exit } from "../ports/process.ts";
import { oneLine, providerFailure } from "./recipes/failure-words.ts";
import type { StreamEnd } from "./recipes/recipe.ts";

/** Why we ended a worker ourselves. `loop`: it asked its model too often; `cost`: it would have gone over its money. */
export type WorkerStop = "silence" | "loop" | "cost";

/**
 * When it was ended, a tool was running or had run: the silence or the loop was the worker's own. `unknown`: its client
 * tells nothing of its tools.
 */
export type ItsOwnDoing = boolean | "unknown";

export interface WorkerEnd {
  readonly id: string;
  /** How to get the client, for one that did not start. */
  readonly install?: string;
  readonly root: string;
  readonly end: StreamEnd;
  readonly exit: Exit;
  readonly stop?: WorkerStop;
  readonly itsOwnDoing: ItsOwnDoing;
  readonly stderr: string;
  readonly final: FinalWord | undefined;
  readonly unusable: { readonly why: UnusableWhy; readonly detail: string } | undefined;
  readonly tellsTokenLimit: boolean;
  readonly limits: {
    readonly wallMs: number;
    readonly silenceMs: number;
    readonly maxCalls: number;
    readonly maxCostUsd?: number;
  };
}

type Judged = Pick<WorkerReport, "kind" | "cause" | "summary" | "hint" | "problems">;

interface Row {
  readonly id: string;
  readonly when: (end: WorkerEnd) => boolean;
  readonly make: (end: WorkerEnd) => Judged;
}

/**
 * How a worker ended, first row that holds: what we did to it, then what its stream says, then its text. The exit code
 * is in no row: every client exits 0 on failures of some kind. `cause` says whose fault it is: what the environment,
 * the provider or the client broke spends no attempt; what the worker did is judged by the gates like any other work.
 */
export const verdictTable = [
  { id: "not-started", when: ({ exit }) => exit.kind === "not-started", make: notStarted },
  { id: "wall", when: ({ exit }) => exit.kind === "timed-out", make: wall },
  { id: "output", when: ({ exit }) => exit.kind === "too-much-output", make: tooMuch },
  {
    id: "silence-in-tool",
    when: ({ stop, itsOwnDoing }) => stop === "silence" && itsOwnDoing === true,
    make: silent("timed-out"),
  },
  {
    id: "silence-untold",
    when: ({ stop, itsOwnDoing }) => stop === "silence" && itsOwnDoing === "unknown",
    make: saidNothing,
  },
  { id: "silence", when: ({ stop }) => stop === "silence", make: hung },
  {
    id: "loop-of-tools",
    when: ({ stop, itsOwnDoing }) => stop === "loop" && itsOwnDoing !== false,
    make: tooManyCalls,
  },
  { id: "loop", when: ({ stop }) => stop === "loop", make: looped },
  { id: "cost", when: ({ stop, end }) => stop === "cost" || end.overCost === true, make: tooDear },
  { id: "provider", when: ({ end }) => end.failure !== undefined, make: provider },
  { id: "client", when: ({ end, stderr }) => !end.ended && clientWords(stderr) !== undefined, make: client },
  { id: "killed", when: ({ end, exit }) => !end.ended && signalOf(exit) !== undefined, make: killed },
  { id: "no-end", when: ({ end }) => !end.ended, make: withoutEnd },
  { id: "cut", when: ({ end }) => end.unusable !== undefined, make: unusableStream },
  { id: "markup", when: ({ unusable, final }) => unusable !== undefined && final === undefined, make: unusableText },
  {
    id: "silent-limit",
    when: ({ final, tellsTokenLimit }) => final === undefined && !tellsTokenLimit,
    make: withoutFinal,
  },
  { id: "gave-up", when: ({ final }) => final?.status === "blocked" || final?.status === "failed", make: gaveUp },
  { id: "done", when: () => true, make: done },
] as const satisfies readonly Row[];

export function judgeWorker(end: WorkerEnd): Judged {
  const row: Row | undefined = verdictTable.find(({ when }) => when(end));
  if (row === undefined) throw new TypeError("the last row of the table takes everything");
  return row.make(end);
}

function notStarted({ id, exit, install }: WorkerEnd): Judged {
  const why = exit.kind === "not-started" ? exit.reason : "";
  return fault(
    "environment",
    `${id} could not be started: ${why}`,
    install === undefined ? undefined : `Install it: ${install}`,
  );
}

function wall({ id, limits }: WorkerEnd): Judged {
  return { kind: "timed-out", summary: `${id} was not done after ${span(limits.wallMs)} and was ended`, problems: [] };
}

function tooMuch({ id }: WorkerEnd): Judged {
  return { kind: "failed", summary: `${id} wrote more output than Orch reads and was ended`, problems: [] };
}

function silent(kind: "timed-out"): (end: WorkerEnd) => Judged {
  return ({ id, limits }) => ({
    kind,
    summary: `a command of ${id} said nothing for longer than ${span(limits.silenceMs)} allows, and it was ended`,
    problems: [],
  });
}

/** Its model may hang, or a command of its own may take that long: a person knows which. */
function saidNothing({ id, limits }: WorkerEnd): Judged {
  return fault(
    "models",
    `${id} said nothing for longer than ${span(limits.silenceMs)} allows and was ended`,
    `Try again; if it needs longer, raise workers.${id}.silence_s in the settings`,
  );
}

function hung({ id, limits }: WorkerEnd): Judged {
  return fault(
    "models",
    `${id} heard nothing from its model for ${span(limits.silenceMs)} and was ended: the endpoint hangs, or told it to wait`,
    "Try again later, or name another worker in the contract",
  );
}

function tooManyCalls({ id, limits }: WorkerEnd): Judged {
  return {
    kind: "failed",
    summary: `${id} was not done after ${limits.maxCalls} calls of its model and was ended`,
    problems: [],
  };
}

function looped({ id, limits }: WorkerEnd): Judged {
  return fault(
    "models",
    `${id} asked its model ${limits.maxCalls} times without using an answer and was ended: the endpoint sends replies it cannot read`,
    "Look at transcript.jsonl in the attempt's folder; name another model or worker",
  );
}

function tooDear({ id, limits }: WorkerEnd): Judged {
  return {
    kind: "failed",
    summary: `${id} reached the limit of ${Number((limits.maxCostUsd ?? 0).toFixed(4))} USD and was ended`,
    problems: [],
  };
}

const hints: Readonly<Record<FailureWhy, string | undefined>> = {
  auth: "Log in with the client, or set its key, then run the command again",
  "rate-limit": "Wait, or name another worker in the contract",
  timeout: "Try again later, or name another worker in the contract",
  network: "Look at the network, then run the command again",
  protocol: "Try again; if it stays, name another model or worker",
  "unknown-model": "Name a model that the client knows in workers of config.json",
  refused: undefined,
  error: "Try again later, or name another worker in the contract",
  unavailable: undefined,
  exhausted: undefined,
};

function provider({ id, end }: WorkerEnd): Judged {
  const { why, message } = end.failure ?? { why: "error" as const, message: "" };
  return fault("models", `${id}: ${message}`, hints[why]);
}

/** A client that ended before it asked anybody says why on stderr. */
function clientWords(stderr: string): { readonly why: FailureWhy; readonly message: string } | undefined {
  const lines = stripControls(stderr).split("\n");
  const said = lines.map((line) => providerFailure(line)).find(({ why }) => why === "auth" || why === "unknown-model");
  return said;
}

function client({ id, stderr }: WorkerEnd): Judged {
  const said = clientWords(stderr);
  return fault("models", `${id}: ${said?.message ?? ""}`, said === undefined ? undefined : hints[said.why]);
}

function killed({ id, exit }: WorkerEnd): Judged {
  return fault("environment", `${id} was ended from outside (${signalOf(exit) ?? ""})`, "Run the command again");
}

/** Programs that handle a signal exit with 128 and its number. */
const signalCodes: Readonly<Record<number, string>> = { 130: "SIGINT", 137: "SIGKILL", 143: "SIGTERM" };

function signalOf(exit: Exit): string | undefined {
  if (exit.kind === "signalled") return exit.signal;
  return exit.kind === "exited" ? signalCodes[exit.code] : undefined;
}

function withoutEnd({ id, exit, stderr }: WorkerEnd): Judged {
  const lines = stripControls(stderr)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const words = lines.find((line) => /error/i.test(line)) ?? lines.at(-1);
  const code = exit.kind === "exited" ? `with exit code ${exit.code}` : "";
  return fault(
    "protocol",
    oneLine(`${id} ended ${code} and its stream has no end: ${words ?? "nothing on stderr"}`),
    "Look at transcript.jsonl in the attempt's folder",
  );
}

const unusableWords: Readonly<Record<UnusableWhy, string>> = {
  empty: "the reply is empty",
  truncated: "the reply was cut off by the token limit",
  "tool-markup": "the reply is a tool call written as text",
};

function unusableStream({ id, end }: WorkerEnd): Judged {
  return unusable(id, end.unusable ?? "empty", unusableWords[end.unusable ?? "empty"], end.text);
}

function unusableText({ id, end, unusable: found }: WorkerEnd): Judged {
  return unusable(id, found?.why ?? "empty", found?.detail ?? "", end.text);
}

function withoutFinal({ id, end }: WorkerEnd): Judged {
  return unusable(id, "truncated", "the last text holds no final JSON, so it may have been cut off", end.text);
}

function unusable(id: string, why: UnusableWhy, detail: string, text: string): Judged {
  const kind = why === "truncated" ? "truncation" : "extraction";
  return {
    kind: "failed",
    cause: "unusable",
    summary: `${id} gave nothing usable: ${detail}`,
    problems: [
      { kind, message: `the worker's last words cannot be used: ${detail}`, evidence: clip(oneLine(text), 200) },
    ],
  };
}

function gaveUp({ id, final, end }: WorkerEnd): Judged {
  const how = final?.status === "blocked" ? "says it is blocked" : "says it failed";
  return { kind: "gave-up", summary: `${id} ${how}: ${summaryOf(final, end)}`, problems: [] };
}

function done({ final, end }: WorkerEnd): Judged {
  return { kind: "done", summary: summaryOf(final, end), problems: [] };
}

function summaryOf(final: FinalWord | undefined, end: StreamEnd): string {
  return clip(stripControls(firstLine(final?.summary ?? end.text)), 300);
}

function fault(cause: "environment" | "models" | "protocol", summary: string, hint: string | undefined): Judged {
  return { kind: "failed", cause, summary, problems: [], ...(hint === undefined ? {} : { hint }) };
}

function span(ms: number): string {
  return ms >= 120_000 ? `${Math.round(ms / 60_000)} minutes` : `${Math.round(ms / 1000)} s`;
}

/** What the worker says it changed, as paths of the repository. */
export function claimsOf(final: FinalWord | undefined, root: string): readonly string[] {
  return (final?.filesChanged ?? []).map((path) => (below(path, root) ?? path).replace(/^\.\//, ""));
}

/** A client that tells tokens and no money is priced from the settings, cached tokens apart. */
export function withPrice(
  usage: Usage,
  prices: { readonly input: number; readonly output: number; readonly cacheRead?: number } | undefined,
): Usage {
  const { input, output, cacheRead, costUsd } = usage;
  if (prices === undefined || costUsd !== "unknown" || input === "unknown" || output === "unknown") return usage;
  const cached: Amount = cacheRead === "unknown" ? 0 : cacheRead;
  const total = input * prices.input + output * prices.output + cached * (prices.cacheRead ?? prices.input);
  return { ...usage, costUsd: total / 1_000_000 };
}
