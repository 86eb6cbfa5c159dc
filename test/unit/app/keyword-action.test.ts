import assert from "node:assert/strict";
import { keywordCommand } from "../../../shared/app/keyword-action.ts";
import type { RepoPath } from "../../../shared/base/paths.ts";

describe("the command that a keyword suggests", () => {
  const feature = {
    target: { domain: "Billing", name: "Refund" },
    dir: "features/Billing/Refund" as RepoPath,
  };

  for (const [action, command] of [
    ["merge", "orch merge Billing/Refund"],
    ["delete", "orch delete Billing/Refund"],
    ["modify", 'orch modify Billing/Refund "what changes"'],
    ["qa", "orch qa features/Billing/Refund"],
    ["scan", "orch scan"],
    ["status", "orch status"],
    ["move", undefined],
    ["init", undefined],
    ["apply", undefined],
    ["do", undefined],
    ["new", undefined],
    ["rm -rf ~", undefined],
    ["constructor", undefined],
    [undefined, undefined],
  ] as const) {
    it(`${action ?? "no action"}: ${command ?? "none"}`, () => {
      assert.equal(keywordCommand(action, feature), command);
    });
  }
});
