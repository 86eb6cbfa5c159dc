import type { Finding } from "../../../model/finding.ts";
import { finding } from "../../gate-finding.ts";
import { isTrivial } from "../cannot-fail.ts";
import type { OutlineTest } from "../outline.ts";
import { disabled } from "../test-findings.ts";
import type { TestFile } from "../test-file.ts";

/** A new test that checks nothing, or that nothing runs. */
export function freshFindings({ path, before, language, now }: TestFile, test: OutlineTest): Finding[] {
  if (test.marks.length > 0) return [];
  const found: Finding[] = [];
  // Where a failure is an exception, taking a value out is a check; so is the output of an example.
  if (/\.unwrap\(|\.expect\(|\?;|\?$/.test(test.body) && language.is("calls", "macro_invocation")) return [];
  if (/^(?:Example|Benchmark)/.test(test.name)) return [];
  const live = test.assertions.filter(
    ({ hushed }) =>
      hushed === undefined || hushed.why === "conditional" || (hushed.why === "swallowed" && hushed.own !== true),
  );
  if (live.every((one) => isTrivial(one, test))) {
    const at = live[0]?.line ?? test.line;
    const helpers = new Set([...(now?.helpers ?? []), ...(before?.helpers ?? [])].map(({ name }) => name));
    const helped = [...test.calls].some((name) => name !== "" && helpers.has(name));
    if (!helped)
      found.push(
        finding("vacuous_test", "WARN", `${test.name} checks nothing`, {
          path,
          line: at,
          evidence: live[0]?.text ?? test.name,
          remedy: "Assert what the code returns",
        }),
      );
  }
  const sync = language.syncSuites;
  if (test.asyncLine !== undefined && sync !== undefined && sync.test(`${test.suite ?? ""}\n${now?.text ?? ""}`))
    found.push(
      disabled(path, test.asyncLine, `${test.name} is async, and its class waits for nothing`, `async ${test.name}`),
    );
  if (test.yieldLine !== undefined && language.raw.uniqueNames)
    found.push(disabled(path, test.yieldLine, `${test.name} is a generator, so its body does not run`, "yield"));
  return found;
}

/** A second test of a name takes the first one's place. */
export function hiddenTests({ path, before, now, language }: TestFile): Finding[] {
  if (!language.raw.uniqueNames || !now) return [];
  const old = Map.groupBy(before?.tests ?? [], ({ id }) => id);
  return [...Map.groupBy(now.tests, ({ id }) => id)].flatMap(([id, same]) => {
    const second = same[1];
    if (second === undefined || (old.get(id)?.length ?? 0) >= same.length) return [];
    return [
      disabled(path, second.line, `a second ${second.name} takes the place of the first, which no longer runs`, id),
    ];
  });
}
