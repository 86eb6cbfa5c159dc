import { deepEqual } from "node:assert/strict";
import { createRepositorySealGate } from "../../../shared/gates/repository-seal.ts";
import type { StateChange } from "../../../shared/model/state-change.ts";
import type { GateInput } from "../../../shared/ports/gate.ts";

const never = new AbortController().signal;
const input = {} as GateInput;
const hook: StateChange = {
  kind: "hooks",
  what: "hooks/pre-commit",
  change: "added",
  traced: false,
  why: "nobody saw",
};

describe("gate: repository seal", () => {
  it("a change that nobody can be held to breaks the gate, so that a lead decides", async () => {
    const key: StateChange = { ...hook, kind: "config", what: "core.hooksPath", change: "changed" };
    const result = await createRepositorySealGate(() => [hook, key]).run(input, never);
    deepEqual([result.kind, result.kind === "broken" && result.decides], ["broken", true]);
    const error = result.kind === "broken" ? result.error : undefined;
    deepEqual(
      [error?.code, error?.exit, error?.message],
      ["repository.changed", 4, "hooks/pre-commit, core.hooksPath changed during the attempt: nobody saw"],
    );
  });

  it("what is traced to the worker is no reason to stop: another gate fails it", async () => {
    const result = await createRepositorySealGate(() => [{ ...hook, traced: true }]).run(input, never);
    deepEqual(result, { kind: "ran", findings: [] });
  });
});
