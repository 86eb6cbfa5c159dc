import type { Judge } from "../ports/judge.ts";

/** No judge is configured: every question is answered with why, so that the gate reports itself as skipped. */
export const judgeOff: Judge = {
  ask: () => Promise.resolve({ kind: "off", why: "no judge is configured" }),
};
