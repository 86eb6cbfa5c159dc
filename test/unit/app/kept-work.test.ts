import assert from "node:assert/strict";
import { storeKept } from "../../../shared/app/kept-work.ts";
import type { Contract } from "../../../shared/model/contract.ts";
import { featureContract } from "../../support/gate-input.ts";

const never = new AbortController().signal;

interface Case {
  readonly name: string;
  readonly kept: boolean;
  readonly laidOut: boolean;
  readonly contract: Contract | undefined;
  readonly calls: readonly string[];
  readonly stored: string | undefined;
  readonly worktree?: string;
}

const contract = featureContract();
const cases: readonly Case[] = [
  { name: "still laid out", kept: true, laidOut: true, contract, calls: ["drop", "release"], stored: "t-1" },
  {
    name: "given back before",
    kept: true,
    laidOut: false,
    contract,
    calls: ["open", "close", "drop", "release"],
    stored: "t-1",
  },
  {
    name: "laid out, and no contract",
    kept: true,
    laidOut: true,
    contract: undefined,
    calls: ["drop", "release"],
    stored: "t-1",
  },
  {
    name: "laid out by the run that prepared it",
    kept: true,
    laidOut: true,
    contract,
    calls: ["drop", "release"],
    stored: "t-1",
    worktree: "r-0",
  },
  {
    name: "given back, and no contract to lay it out by",
    kept: true,
    laidOut: false,
    contract: undefined,
    calls: [],
    stored: undefined,
  },
  { name: "nothing kept", kept: false, laidOut: true, contract: undefined, calls: ["release"], stored: "t-1" },
];

/** Nothing that is kept is dropped before it is stored elsewhere. */
describe("kept work of a contract that goes nowhere", () => {
  for (const one of cases) {
    it(one.name, async () => {
      const calls: string[] = [];
      let laidOut = one.laidOut;
      const place = { [Symbol.asyncDispose]: async () => void calls.push("close") };
      const stored = await storeKept(
        {
          kept: {
            find: async (run, id) => (one.kept ? { run, contract: id, commit: "c" } : undefined) as never,
            drop: async () => calls.push("drop") > 0,
          },
          worktreesOf: (run) => ({
            holds: async () => laidOut && run === (one.worktree ?? "r-1"),
            open: async () => {
              calls.push("open");
              laidOut = true;
              return place as never;
            },
            release: async () => {
              calls.push("release");
              return { trash: "t-1" };
            },
          }),
        },
        {
          run: "r-1",
          id: "T1",
          contract: one.contract,
          ...(one.worktree === undefined ? {} : { worktree: one.worktree }),
        },
        never,
      );
      assert.deepEqual([calls, stored], [one.calls, one.stored]);
    });
  }
});
