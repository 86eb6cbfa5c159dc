import assert from "node:assert/strict";
import {
  claimsOf,
  judgeWorker,
  verdictTable,
  type WorkerEnd,
  withPrice,
} from "../../../shared/adapters/worker-verdict.ts";
import type { FinalWord } from "../../../shared/model/final-word.ts";
import { unknownUsage } from "../../../shared/model/usage.ts";

const final: FinalWord = { status: "done", summary: "did it", filesChanged: [], acceptance: {}, concerns: [] };
const well: WorkerEnd = {
  id: "w",
  install: "npm install -g w",
  root: "/tree",
  end: { ended: true, text: "All done.", usage: unknownUsage, calls: 3, denied: [] },
  exit: { kind: "exited", code: 0 },
  itsOwnDoing: false,
  stderr: "",
  final,
  unusable: undefined,
  tellsTokenLimit: true,
  limits: { wallMs: 1_800_000, silenceMs: 300_000, maxCalls: 150, maxCostUsd: 2 },
};
const noEnd: WorkerEnd = { ...well, end: { ...well.end, ended: false, text: "" }, final: undefined };

const rows: Readonly<Record<(typeof verdictTable)[number]["id"], readonly [WorkerEnd, string]>> = {
  "not-started": [
    { ...noEnd, exit: { kind: "not-started", reason: "w is not on the PATH" } },
    "failed environment: w could not be started: w is not on the PATH > Install it: npm install -g w",
  ],
  wall: [{ ...noEnd, exit: { kind: "timed-out" } }, "timed-out -: w was not done after 30 minutes and was ended"],
  output: [
    { ...noEnd, exit: { kind: "too-much-output" } },
    "failed -: w wrote more output than Orch reads and was ended",
  ],
  "silence-in-tool": [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "silence", itsOwnDoing: true },
    "timed-out -: a command of w said nothing for longer than 5 minutes allows, and it was ended",
  ],
  "silence-untold": [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "silence", itsOwnDoing: "unknown" },
    "failed models: w said nothing for longer than 5 minutes allows and was ended > Try again; if it needs longer, raise workers.w.silence_s in the settings",
  ],
  silence: [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "silence" },
    "failed models: w heard nothing from its model for 5 minutes and was ended: the endpoint hangs, or told it to wait > Try again later, or name another worker in the contract",
  ],
  "loop-of-tools": [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "loop", itsOwnDoing: true },
    "failed -: w was not done after 150 calls of its model and was ended",
  ],
  loop: [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "loop" },
    "failed models: w asked its model 150 times without using an answer and was ended: the endpoint sends replies it cannot read > Look at transcript.jsonl in the attempt's folder; name another model or worker",
  ],
  cost: [
    { ...noEnd, exit: { kind: "cancelled" }, stop: "cost" },
    "failed -: w reached the limit of 2 USD and was ended",
  ],
  provider: [
    { ...well, end: { ...well.end, failure: { why: "auth", message: "401 no" } } },
    "failed models: w: 401 no > Log in with the client, or set its key, then run the command again",
  ],
  client: [
    { ...noEnd, exit: { kind: "exited", code: 1 }, stderr: "starting\nError: No API key found for lab\n" },
    "failed models: w: Error: No API key found for lab > Log in with the client, or set its key, then run the command again",
  ],
  killed: [
    { ...noEnd, exit: { kind: "exited", code: 137 } },
    "failed environment: w was ended from outside (SIGKILL) > Run the command again",
  ],
  "no-end": [
    { ...noEnd, exit: { kind: "exited", code: 0 }, stderr: "TypeError: x is undefined" },
    "failed protocol: w ended with exit code 0 and its stream has no end: TypeError: x is undefined > Look at transcript.jsonl in the attempt's folder",
  ],
  cut: [
    { ...well, end: { ...well.end, unusable: "truncated" } },
    "failed unusable: w gave nothing usable: the reply was cut off by the token limit",
  ],
  markup: [
    { ...well, final: undefined, unusable: { why: "tool-markup", detail: "raw tool-call markup" } },
    "failed unusable: w gave nothing usable: raw tool-call markup",
  ],
  "silent-limit": [
    { ...well, final: undefined, tellsTokenLimit: false },
    "failed unusable: w gave nothing usable: the last text holds no final JSON, so it may have been cut off",
  ],
  "gave-up": [{ ...well, final: { ...final, status: "blocked" } }, "gave-up -: w says it is blocked: did it"],
  // A wrong exit code beside a good end is no failure.
  done: [{ ...well, exit: { kind: "exited", code: 173 } }, "done -: did it"],
};

describe("how a worker ended", () => {
  for (const { id } of verdictTable) {
    it(id, () => {
      const [end, expected] = rows[id];
      const { kind, cause = "-", summary, hint, problems } = judgeWorker(end);
      assert.equal(`${kind} ${cause}: ${summary}${hint === undefined ? "" : ` > ${hint}`}`, expected);
      assert.equal(problems.length > 0, cause === "unusable", "only words that cannot be used are a problem to mend");
    });
  }

  it("a client that ended itself at its limit of money is judged as one that we ended", () => {
    const { kind, cause, summary } = judgeWorker({ ...well, end: { ...well.end, text: "", overCost: true } });
    assert.deepEqual([kind, cause, summary], ["failed", undefined, "w reached the limit of 2 USD and was ended"]);
  });

  it("a text that quotes tool markup and ends with its JSON is an answer", () => {
    const unusable = { why: "tool-markup", detail: "x" } as const;
    assert.equal(judgeWorker({ ...well, unusable }).kind, "done");
  });

  it("claims are paths of the repository", () => {
    const claims = claimsOf({ ...final, filesChanged: ["/tree/a/b.py", "./c.py", "d.py", "/elsewhere/e.py"] }, "/tree");
    assert.deepEqual(claims, ["a/b.py", "c.py", "d.py", "/elsewhere/e.py"]);
  });

  it("money from prices, cached tokens apart; unknown stays unknown", () => {
    const usage = { input: 1_000_000, output: 500_000, cacheRead: 2_000_000, costUsd: "unknown" } as const;
    const prices = { input: 1, output: 4, cacheRead: 0.1 };
    assert.equal(withPrice(usage, prices).costUsd, 3.2);
    assert.equal(withPrice({ ...usage, costUsd: 7 }, prices).costUsd, 7);
    assert.equal(withPrice(usage, undefined).costUsd, "unknown");
    assert.equal(withPrice(unknownUsage, prices).costUsd, "unknown");
  });
});
