import { deepEqual } from "node:assert/strict";
import type { ChangedFile } from "../../../shared/model/change.ts";
import { sidesOf } from "../../../shared/gates/base-text.ts";

const changed: ChangedFile = {
  path: "a.py",
  status: "modified",
  oldMode: "100644",
  newMode: "100644",
  binary: false,
  added: 1,
  removed: 1,
  hunks: [{ oldStart: 2, newStart: 2, removed: ["old"], added: ["new"] }],
};

function reading(text: string | undefined): {
  readonly asked: string[];
  readonly input: Parameters<typeof sidesOf>[1];
} {
  const asked: string[] = [];
  const answer = (side: string) => (path: string) => {
    asked.push(`${side} ${path}`);
    return Promise.resolve(text === undefined ? undefined : new TextEncoder().encode(text));
  };
  return { asked, input: { read: answer("now"), readBase: answer("base") } };
}

describe("the two sides of a changed file", () => {
  it("the old one is told by the change, and a second gate reads nothing", async () => {
    const file = { ...changed };
    const { asked, input } = reading("first\r\nnew\r\nlast\r\n");
    const sides = await sidesOf(file, input, 1000);
    deepEqual(
      [sides, await sidesOf(file, input, 500), asked],
      [{ before: "first\nold\nlast\n", now: "first\nnew\nlast\n" }, sides, ["now a.py"]],
    );
  });

  it("a text that is too long for one gate is there for another", async () => {
    const file = { ...changed };
    const { asked, input } = reading(`first\nnew\n${"x".repeat(200_000)}\n`);
    const short = await sidesOf(file, input, 100_000);
    const long = await sidesOf(file, input, 1_000_000);
    deepEqual(
      [short, long.now?.length, long.before?.length, asked],
      [{ before: undefined, now: undefined }, 200_011, 200_011, ["now a.py", "base a.py", "now a.py"]],
    );
  });

  it("what could not be read is asked for again", async () => {
    const file = { ...changed };
    await sidesOf(file, reading(undefined).input, 1000);
    deepEqual(await sidesOf(file, reading("first\nnew\n").input, 1000), {
      before: "first\nold\n",
      now: "first\nnew\n",
    });
  });
});
