import { deepEqual, equal } from "node:assert/strict";
import { LineFramer, splitJsonl, toJsonl } from "../../../shared/base/jsonl.ts";

describe("json lines", () => {
  it("keeps a line that holds other line separators whole", () => {
    const line = toJsonl({ text: "a\u2028b\u2029c\nd" });
    deepEqual(splitJsonl(`${line}{"half`), { lines: [line.slice(0, -1)], tail: '{"half' });
  });

  it("frames chunks that cut a character", () => {
    const bytes = new TextEncoder().encode("zwölf\nelf\r\nres");
    const framer = new LineFramer(100);
    const lines = [...bytes].flatMap((byte) => framer.push(Uint8Array.of(byte)));
    deepEqual([lines, framer.end()], [["zwölf", "elf"], "res"]);
  });

  it("drops a line over the limit and goes on after it", () => {
    const framer = new LineFramer(10);
    const lines = framer.push(new TextEncoder().encode(`${"x".repeat(50)}\nshort\n`));
    deepEqual([lines, framer.dropped], [["short"], 1]);
    framer.push(new TextEncoder().encode("y".repeat(25)));
    framer.push(new TextEncoder().encode("z".repeat(25)));
    deepEqual(framer.push(new TextEncoder().encode("\nnext\n")), ["next"]);
    equal(framer.dropped, 2);
  });
});
