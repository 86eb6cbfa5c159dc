import { deepEqual, equal } from "node:assert/strict";
import { parseEvent } from "../../../shared/model/event.ts";
import { addUsage, unknownUsage, zeroUsage } from "../../../shared/model/usage.ts";
import { verdictOf } from "../../../shared/model/verdict.ts";
import { OrchError } from "../../../shared/model/error.ts";
import type { Finding } from "../../../shared/model/finding.ts";

const envelope = { v: 1, run: "r-20260131-101500-ab12", seq: 3, at: 1000 };

describe("events", () => {
  it("parses one of the table", () => {
    const parsed = parseEvent(JSON.stringify({ ...envelope, type: "progress.noted", text: "x" }));
    deepEqual(parsed, { kind: "event", event: { ...envelope, type: "progress.noted", text: "x" } });
  });
  it("keeps one of a newer version of the table", () => {
    const parsed = parseEvent(JSON.stringify({ ...envelope, type: "moon.rose", phase: "full" }));
    deepEqual(parsed, {
      kind: "unknown",
      event: { ...envelope, type: "moon.rose", unknown: true, body: { phase: "full" } },
    });
  });
  const bad: readonly (readonly [string, string])[] = [
    ["half a line", '{"v":1,"ru'],
    ["no envelope", '{"type":"progress.noted","text":"x"}'],
    ["another event version", JSON.stringify({ ...envelope, v: 2, type: "progress.noted", text: "x" })],
    ["a body of the wrong shape", JSON.stringify({ ...envelope, type: "progress.noted", text: 1 })],
    ["an inherited name as type", JSON.stringify({ ...envelope, type: "toString" })],
  ];
  for (const [name, line] of bad.slice(0, 4)) {
    it(`refuses ${name}`, () => equal(parseEvent(line).kind, "bad"));
  }
  it("says what is wrong with a body in a person's words", () => {
    const said = parseEvent(JSON.stringify({ ...envelope, type: "progress.noted", text: 1 }));
    deepEqual(said, { kind: "bad", why: "progress.noted: text must be a text" });
  });
  it("does not take an inherited name for a type of the table", () =>
    equal(parseEvent(bad[4]?.[1] ?? "").kind, "unknown"));
});

describe("usage", () => {
  it("never turns unknown into 0", () => {
    deepEqual(addUsage(zeroUsage, unknownUsage), unknownUsage);
    deepEqual(addUsage({ ...zeroUsage, costUsd: 0.5 }, { ...zeroUsage, costUsd: 0.25, input: "unknown" }), {
      input: "unknown",
      output: 0,
      cacheRead: 0,
      costUsd: 0.75,
    });
  });
});

describe("verdict", () => {
  const finding = (severity: "FAIL" | "WARN"): Finding => ({
    rule: "x",
    severity,
    message: "m",
    evidence: "",
    remedy: "",
  });
  const broken = {
    id: "tests",
    result: { kind: "broken", error: new OrchError("env.no-python", "no python") },
  } as const;
  const rows = [
    ["nothing found", [{ id: "a", result: { kind: "ran", findings: [] } }], "pass"],
    ["only warnings", [{ id: "a", result: { kind: "ran", findings: [finding("WARN")] } }], "pass"],
    ["one failure", [{ id: "a", result: { kind: "ran", findings: [finding("FAIL")] } }], "fail"],
    [
      "a failure and a broken gate",
      [{ id: "a", result: { kind: "ran", findings: [finding("FAIL")] } }, broken],
      "fail",
    ],
    ["a broken gate", [{ id: "a", result: { kind: "ran", findings: [finding("WARN")] } }, broken], "inconclusive"],
    ["a skipped gate", [{ id: "a", result: { kind: "skipped", why: "judge off" } }], "pass"],
  ] as const;
  for (const [name, results, expected] of rows)
    it(`${name}: ${expected}`, () => equal(verdictOf(results).kind, expected));
});
