import { count } from "../base/lines.ts";
import { OrchError } from "../model/error.ts";
import type { FeatureTests } from "./feature-tests.ts";

/** Why a feature's tests were not started in a repository whose code nobody has looked at. */
export const untrustedTests = "this repository is not trusted to run its code";

/**
 * What keeps `qa` from being green although nothing is red: tests that nobody ran say nothing about the features. Trust
 * goes first, since it decides whether the other reason is met at all.
 */
export function testsNotRun(
  tests: readonly Pick<FeatureTests, "outcome" | "why">[],
  hash: string,
): OrchError | undefined {
  const left = tests.filter(({ outcome }) => outcome === "not-run");
  const [first] = left;
  if (first === undefined) return undefined;
  const what = `the tests of ${count(left.length, "feature")} were not run`;
  if (left.some(({ why }) => why === untrustedTests))
    return new OrchError("trust.needed", `${what}: ${untrustedTests}`, { data: { hash } });
  return new OrchError("env.missing-tool", `${what}: ${first.why ?? "no program could run them"}`, {
    data: { tool: "what is missing, then run: orch qa" },
  });
}
