import type { Finding } from "../model/finding.ts";

/** SARIF 2.1.0 of the findings; places are relative to the repository's root. */
export function sarifLog(findings: readonly Finding[], version: string): string {
  const rules = [...new Map(findings.map((finding) => [finding.rule, finding])).values()].toSorted((a, b) =>
    a.rule < b.rule ? -1 : 1,
  );
  const indexOf = new Map(rules.map(({ rule }, index) => [rule, index]));
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "orch",
            semanticVersion: version,
            rules: rules.map(({ rule, message, remedy, severity }) => ({
              id: rule,
              shortDescription: { text: message },
              help: { text: remedy },
              defaultConfiguration: { level: levelOf(severity) },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: indexOf.get(finding.rule),
          level: levelOf(finding.severity),
          message: { text: `${finding.message}. ${finding.remedy}` },
          ...(finding.path === undefined ? {} : { locations: [locationOf(finding, finding.path)] }),
        })),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function levelOf(severity: Finding["severity"]): "error" | "warning" {
  return severity === "FAIL" ? "error" : "warning";
}

function locationOf({ line, column }: Finding, path: string): unknown {
  const uri = path.split("/").map(encodeURIComponent).join("/");
  const region =
    line === undefined ? {} : { region: { startLine: line, ...(column === undefined ? {} : { startColumn: column }) } };
  return { physicalLocation: { artifactLocation: { uri, uriBaseId: "%SRCROOT%" }, ...region } };
}
