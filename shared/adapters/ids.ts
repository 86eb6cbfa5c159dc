import { randomBytes } from "node:crypto";
import { datedId, idLetters } from "../base/dated-id.ts";
import type { Clock } from "../ports/clock.ts";
import type { Ids } from "../ports/ids.ts";

const prefixes = { run: "r", question: "q", control: "c", trash: "t", marker: "m" } as const satisfies Record<
  Parameters<Ids["next"]>[0],
  string
>;

/**
 * `run` and `trash`: `r-YYYYMMDD-HHMMSS-xxxx` (base/dated-id.ts), unique here by their random end;
 * whoever makes a folder of that name makes it with mkdir and asks again when it exists. The others: prefix and 10 letters.
 */
export function createIds(clock: Clock): Ids {
  return {
    next(prefix) {
      const letter = prefixes[prefix];
      if (prefix === "run" || prefix === "trash") return datedId(letter, clock.now(), random(2));
      return `${letter}-${random(10)}`;
    },
  };
}

function random(length: number): string {
  let out = "";
  while (out.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // 243 is the largest multiple of 27 in a byte: bytes above it would favour the first letters.
      if (byte < 243 && out.length < length) out += idLetters[byte % idLetters.length];
    }
  }
  return out;
}
