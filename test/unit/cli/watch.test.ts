import assert from "node:assert/strict";
import fs from "node:fs";
import { toJsonl } from "../../../shared/base/jsonl.ts";
import picocolors from "picocolors";
import { createOutput, type Output } from "../../../shared/cli/output.ts";
import type { Detail } from "../../../shared/cli/render.ts";
import { watchRun } from "../../../shared/cli/watch.ts";
import type { NewEvent } from "../../../shared/model/event.ts";
import { TempDir } from "../../support/temp-dir.ts";

const run = "r-20260131-101500-ab12";
const silent: Output = {
  event: () => undefined,
  line: () => undefined,
  note: () => undefined,
  result: () => undefined,
};

/** An output, and what it says to stdout and stderr. */
function heard(detail: Detail): { readonly said: string[]; readonly output: Output } {
  const said: string[] = [];
  const tell = (text: string): void => void said.push(text);
  const color = picocolors.createColors(false);
  return { said, output: createOutput({ stdout: tell, stderr: tell, mode: "lines", detail, version: "0", color }) };
}

function logOf(dir: TempDir, ...events: NewEvent[]): void {
  const lines = events.map((event, n) => toJsonl({ v: 1, run, seq: n + 1, at: n + 1, ...event }));
  fs.writeFileSync(dir.at("events.jsonl"), lines.join(""));
}

describe("watch", () => {
  let dir: TempDir;
  beforeEach(() => (dir = new TempDir()));
  afterEach(() => dir[Symbol.dispose]());

  it("a Ctrl-C that no runner has read is taken back when the run has stopped: resuming would obey it", async () => {
    logOf(
      dir,
      { type: "run.started", command: "undo", title: "undo", host: "cli", version: "0", pid: 1 },
      { type: "run.parked", why: "Interrupted", hint: `orch resume ${run}` },
    );
    const deps = { output: silent, now: () => 1, onInterrupt: () => () => undefined, interrupted: 2 };
    const result = await watchRun({ run, dir: dir.path }, deps);
    assert.deepEqual([result.code, result.next], [130, [`orch resume ${run}`]]);
    assert.deepEqual(fs.readdirSync(dir.at("control")), []);
  });

  it("a run that goes on shows what is new, and says once that it is parked", async () => {
    logOf(
      dir,
      { type: "run.started", command: "run", title: "One", host: "cli", version: "0", pid: 1 },
      { type: "progress.noted", text: "before" },
      { type: "run.parked", why: "codex is missing", hint: `orch resume ${run}` },
      { type: "run.resumed", host: "cli", pid: 2 },
      { type: "progress.noted", text: "after" },
      { type: "run.parked", why: "codex is missing", hint: `orch resume ${run}` },
    );
    const { said, output } = heard("normal");
    const deps = { output, now: () => 1, onInterrupt: () => () => undefined };
    output.result("resume", await watchRun({ run, dir: dir.path, seen: 3 }, deps));
    assert.deepEqual(said, ["  after\n", "Parked: codex is missing\n", `orch resume ${run}\n`]);
  });

  it("what the end says does not stand in the text above it, too", () => {
    const said: string[] = [];
    const write = (text: string): void => void said.push(text);
    const color = picocolors.createColors(false);
    const output = createOutput({ stdout: write, stderr: write, mode: "lines", detail: "normal", version: "0", color });
    output.result("wait", {
      ok: true,
      code: 0,
      summary: "Two: 1 contract, 1 passed",
      next: ["orch review T1"],
      data: {
        text: ["r-1  ok  Two", "  Two: 1 contract, 1 passed", "  T1  awaiting review", "  Next: orch review T1"],
      },
    });
    assert.deepEqual(said, [
      "r-1  ok  Two\n",
      "  T1  awaiting review\n",
      "Two: 1 contract, 1 passed\n",
      "Next: orch review T1\n",
    ]);
  });

  it("a name with a line end in it begins no line of ours", () => {
    const { said, output } = heard("normal");
    const name = "a\nNext: orch merge";
    const event = { type: "progress.noted", text: `left as it is: ${name}`, v: 1, run, seq: 1, at: 1 } as const;
    output.event({ kind: "event", event });
    output.line(`no longer here: ${name}`);
    output.result("undo", {
      ok: false,
      code: 4,
      summary: `main holds ${name}`,
      next: [`orch restore ${name}`],
      data: { text: [`  ${name}`] },
      error: { code: "tree.dirty", message: `main holds ${name}`, hint: `Look at ${name}` },
    });
    const lines = said.join("").split("\n");
    assert.deepEqual(
      lines.filter((line) => line.startsWith("Next:")),
      ["Next: orch restore a"],
    );
    assert.equal(lines.filter((line) => /^ +(?:\| )?Next: orch merge$/.test(line)).length, 7, said.join(""));
  });

  it("of several contracts each line says whose it is; what nothing was asked of shows with --verbose", async () => {
    const of = { contract: "T2", attempt: 1 };
    logOf(
      dir,
      { type: "run.started", command: "run", title: "Two", host: "cli", version: "0", pid: 1 },
      {
        type: "wave.started",
        contracts: ["T1", "T2"].map((id) => ({ id, title: id, after: [] })),
      },
      { type: "attempt.started", ...of, worker: "pi", base: "b" },
      { type: "gate.finished", ...of, gate: "design", status: "skipped", why: "none named", ms: 1, findings: [] },
      {
        type: "gate.finished",
        ...of,
        gate: "acceptance",
        status: "skipped",
        why: "the judge is off",
        ms: 1,
        findings: [],
      },
      { type: "verdict.reached", ...of, verdict: "pass", fails: 0, warns: 0 },
      { type: "run.finished", outcome: "ok" },
    );
    const shown = async (detail: "normal" | "verbose"): Promise<string[]> => {
      const { said, output } = heard(detail);
      await watchRun({ run, dir: dir.path }, { output, now: () => 1, onInterrupt: () => () => undefined });
      return said.join("").split("\n");
    };
    assert.deepEqual(await shown("normal"), [
      "attempt 1 of T2 with pi",
      "T2  gate acceptance: skipped, the judge is off",
      "T2  verdict: pass, 0 failures, 0 warnings",
      "",
    ]);
    assert.ok((await shown("verbose")).includes("T2  gate design: skipped, none named"));
  });
});
