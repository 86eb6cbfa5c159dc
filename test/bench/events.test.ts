import { equal } from "node:assert/strict";
import fs from "node:fs";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createRedactor } from "../../shared/adapters/redact.ts";
import { createRunLogs } from "../../shared/adapters/run-log.ts";
import { splitJsonl } from "../../shared/base/jsonl.ts";
import { foldRun } from "../../shared/events/reduce.ts";
import { type NewEvent, parseEvent } from "../../shared/model/event.ts";
import { TempDir } from "../support/temp-dir.ts";
import { keepBench } from "./kept.ts";
import { median } from "./measured.ts";

const count = Number(process.env["ORCH_BENCH_EVENTS"] ?? 100_000);
const rounds = Number(process.env["ORCH_BENCH_ROUNDS"] ?? 3);

/** What a run is made of, in the numbers it has them: much progress, some gates, few decisions. */
function eventAt(index: number): NewEvent {
  const contract = `Feature${Math.floor(index / 200) % 7}`;
  const attempt = 1 + (Math.floor(index / 100) % 3);
  switch (index % 100) {
    case 0:
      return { type: "attempt.started", contract, attempt, worker: "completion", base: "a".repeat(40) };
    case 20:
    case 40:
    case 60:
      return {
        type: "gate.finished",
        contract,
        attempt,
        gate: index % 2 === 0 ? "standards" : "scope",
        status: "ran",
        ms: 12.5,
        findings: [
          {
            rule: "py.unused-import",
            severity: "FAIL",
            message: "os is imported and not used",
            path: "a/b.py",
            line: 3,
            evidence: "import os",
            remedy: "Remove the import",
          },
        ],
      };
    case 70:
      return {
        type: "usage.recorded",
        contract,
        attempt,
        model: "a/b",
        usage: { input: 900, output: 300, cacheRead: 0, costUsd: 0.01 },
      };
    case 90:
      return { type: "verdict.reached", contract, attempt, verdict: "fail", fails: 1, warns: 0 };
    default:
      return { type: "progress.noted", text: `file ${index} of the change was looked at by the standards gate` };
  }
}

describe("bench: events", function () {
  this.timeout(600_000);

  it(`appends and replays ${count} events`, async () => {
    const times: Record<"append" | "write" | "replay" | "parse", number[]> = {
      append: [],
      write: [],
      replay: [],
      parse: [],
    };
    const timed = (into: keyof typeof times, work: () => void): void => {
      const began = performance.now();
      work();
      times[into].push(performance.now() - began);
    };
    let bytes = 0;
    for (let round = 0; round < rounds; round += 1) {
      using dir = new TempDir();
      const logs = createRunLogs({
        clock: createClock(),
        files: createFiles(),
        redactor: createRedactor(["a-secret-value"]),
      });
      const log = await logs.open("r-20260131-101500-ab12", dir.at("run"));
      timed("append", () => {
        for (let index = 0; index < count; index += 1) log.append(eventAt(index));
      });
      log[Symbol.dispose]();
      const text = fs.readFileSync(dir.at("run", "events.jsonl"), "utf8");
      bytes = Buffer.byteLength(text);
      const lines = text
        .split("\n")
        .slice(0, -1)
        .map((line) => `${line}\n`);
      // The reference writes the same lines, and asks the disk as often: a log that forgot to would be quicker.
      const raw = fs.openSync(dir.at("raw"), "a");
      timed("write", () => {
        for (const line of lines) {
          fs.writeSync(raw, line);
          if (/"type":"(?:attempt\.started|verdict\.reached)"/.test(line)) fs.fdatasyncSync(raw);
        }
      });
      fs.closeSync(raw);
      timed("replay", () => {
        const state = foldRun("r-20260131-101500-ab12", splitJsonl(text).lines.map(parseEvent));
        equal(state.seq, count);
        equal(state.faults.length, 0);
      });
      timed("parse", () =>
        equal(
          text
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line) as unknown).length,
          count,
        ),
      );
    }
    const of = (name: keyof typeof times): number => median(times[name]);
    const paired = (a: keyof typeof times, b: keyof typeof times): number =>
      median(times[a].map((ms, round) => ms / (times[b][round] ?? Number.NaN)));
    keepBench("events", {
      ratios: [
        { what: "append", reference: "write and fdatasync of the same lines", ratio: paired("append", "write") },
        { what: "replay to a state", reference: "JSON.parse of the same lines", ratio: paired("replay", "parse") },
      ],
      measured: {
        events: count,
        bytes,
        rounds,
        appendMs: of("append"),
        writeMs: of("write"),
        replayMs: of("replay"),
        parseMs: of("parse"),
        appendPerS: (count / of("append")) * 1000,
        replayPerS: (count / of("replay")) * 1000,
      },
    });
  });
});
