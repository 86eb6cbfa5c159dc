import assert from "node:assert/strict";
import { recordProcesses } from "../../../shared/adapters/recorded-process.ts";
import { absPath } from "../../../shared/base/paths.ts";
import type { Exit, Output, Process, ProcessSpec } from "../../../shared/ports/process.ts";
import { RecordingSink } from "../../support/recording-sink.ts";

const end = { stdout: new Uint8Array(), stderr: new Uint8Array(), durationMs: 1, leftovers: 0 };
const spec: ProcessSpec = { argv: ["tool"], cwd: absPath("/x"), env: {}, timeoutMs: 1, maxOutputBytes: 1 };
const never = new AbortController().signal;

function fake(exit: Exit & Output, starts: boolean): Process & { readonly specs: ProcessSpec[] } {
  const specs: ProcessSpec[] = [];
  const begin = (given: ProcessSpec): Promise<Exit & Output> => {
    specs.push(given);
    if (starts) given.onStart?.(42, "start");
    return Promise.resolve(exit);
  };
  return {
    specs,
    run: begin,
    stream: (given) => ({ pid: 42, lines: async function* () {}, done: begin(given) }),
    which: () => Promise.resolve(undefined),
  };
}

describe("recorded processes", () => {
  const rows: readonly { readonly name: string; readonly exit: Exit & Output; readonly how: string }[] = [
    { name: "exited", exit: { kind: "exited", code: 3, ...end }, how: "exited 3" },
    { name: "signalled", exit: { kind: "signalled", signal: "SIGKILL", ...end }, how: "SIGKILL" },
    {
      name: "timed out with leftovers",
      exit: { kind: "timed-out", ...end, leftovers: 2 },
      how: "timed-out, 2 left behind and ended",
    },
  ];
  for (const row of rows) {
    for (const how of ["run", "stream"] as const) {
      it(`${how}: ${row.name}`, async () => {
        const sink = new RecordingSink();
        const inner = fake(row.exit, true);
        const told: number[] = [];
        const recorded = recordProcesses(inner, {
          sink,
          ids: { next: () => "m-1" },
          what: "pi",
          contract: "Invoice",
          attempt: 2,
        });
        const given = { ...spec, onStart: (pid: number) => void told.push(pid) };
        await (how === "run" ? recorded.run(given, never) : recorded.stream(given, never).done);
        assert.deepEqual(sink.events, [
          {
            type: "process.started",
            contract: "Invoice",
            attempt: 2,
            pid: 42,
            startTime: "start",
            marker: "m-1",
            what: "pi",
          },
          { type: "process.ended", pid: 42, how: row.how },
        ]);
        assert.deepEqual([inner.specs[0]?.marker, told], ["m-1", [42]]);
      });
    }
  }

  it("tells nothing of a program that did not start, nor of one that its caller tells of", async () => {
    const sink = new RecordingSink();
    const ids = { next: () => "m-1" };
    await recordProcesses(fake({ kind: "not-started", reason: "gone", ...end }, false), { sink, ids, what: "pi" }).run(
      spec,
      never,
    );
    const inner = fake({ kind: "exited", code: 0, ...end }, true);
    await recordProcesses(inner, { sink, ids, what: "pi" }).run({ ...spec, marker: "m-9" }, never);
    assert.deepEqual([sink.events, inner.specs[0]?.marker], [[], "m-9"]);
  });
});
