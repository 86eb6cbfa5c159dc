import type { Finding } from "../model/finding.ts";
import type { FeatureTests } from "./feature-tests.ts";

/** JUnit XML: one suite for the rules, with a case for each file that has a FAIL, and one for each feature's tests. */
export function junitReport(findings: readonly Finding[], files: number, tests: readonly FeatureTests[]): string {
  const suites = [rulesSuite(findings, files), ...tests.map(featureSuite)];
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="orch qa">\n${suites.join("")}</testsuites>\n`;
}

function rulesSuite(findings: readonly Finding[], files: number): string {
  const fails = findings.filter(({ severity }) => severity === "FAIL");
  const groups = [...Map.groupBy(fails, ({ path }) => path ?? "(the whole tree)")];
  const cases = groups.map(([path, group]) => {
    const lines = group.map(
      ({ rule, message, line }) => `${line === undefined ? "" : `line ${line}: `}${rule}: ${message}`,
    );
    const first = group[0]?.message ?? "";
    return `    <testcase classname="rules" name="${escaped(path)}"><failure message="${escaped(first)}">${escaped(lines.join("\n"))}</failure></testcase>\n`;
  });
  const good = Math.max(0, files - groups.length);
  const ok = good === 0 ? "" : `    <testcase classname="rules" name="${good} files without a failure"/>\n`;
  const counts = `tests="${groups.length + (good === 0 ? 0 : 1)}" failures="${groups.length}"`;
  return `  <testsuite name="rules" ${counts}>\n${cases.join("")}${ok}  </testsuite>\n`;
}

function featureSuite(result: FeatureTests): string {
  const seconds = (ms: number): string => (ms / 1000).toFixed(3);
  const cases = result.cases.map((one) => {
    const head = `    <testcase classname="${escaped(result.target)}" name="${escaped(one.name)}" time="${seconds(one.durationMs)}"`;
    if (one.outcome === "passed") return `${head}/>\n`;
    if (one.outcome === "skipped") return `${head}><skipped message="${escaped(one.message)}"/></testcase>\n`;
    const tag = one.outcome === "error" ? "error" : "failure";
    return `${head}><${tag} message="${escaped(one.message)}">${escaped(one.output)}</${tag}></testcase>\n`;
  });
  if (cases.length === 0) {
    const why = escaped(result.why ?? result.outcome);
    const body = result.outcome === "not-run" ? `<skipped message="${why}"/>` : `<failure message="${why}"/>`;
    cases.push(`    <testcase classname="${escaped(result.target)}" name="tests">${body}</testcase>\n`);
  }
  const failures = result.cases.filter(({ outcome }) => outcome === "failed").length;
  const errors = result.cases.filter(({ outcome }) => outcome === "error").length;
  const none = result.cases.length === 0 && result.outcome !== "not-run" && result.outcome !== "passed" ? 1 : 0;
  return `  <testsuite name="${escaped(result.target)}" tests="${cases.length}" failures="${failures + none}" errors="${errors}" time="${seconds(result.durationMs)}">\n${cases.join("")}  </testsuite>\n`;
}

/** XML 1.0 has no place for most control characters, not even as references. */
function escaped(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are exactly what is removed here
  const legal = text.toWellFormed().replace(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, "");
  return legal.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
