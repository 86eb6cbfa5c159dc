import { baseName, dirName } from "../../base/paths.ts";
import type { ChangedFile } from "../../model/change.ts";
import type { Finding } from "../../model/finding.ts";
import { isTestPath } from "../../model/test-path.ts";
import { finding } from "../gate-finding.ts";
import type { TestFile } from "./test-file.ts";

const testName = /^test_|_test\.\w+$|\.(?:test|spec)\.\w+$|Tests?\.\w+$/;
const importing = /\b(?:import|from|require|use|mod|include|include_str!)\b|^\s*#include/;

/** Source that lies where tests lie has the tests' budget and nobody's eye. */
export function sourcePlaces(files: readonly TestFile[], changed: readonly ChangedFile[]): Finding[] {
  const found = files.flatMap(({ path, changed: { status }, now }) => {
    const holdsNothing =
      status === "added" &&
      now !== undefined &&
      now.tests.length === 0 &&
      now.helpers.every(({ assertions }) => assertions.length === 0);
    if (!holdsNothing || !testName.test(baseName(path)) || now.defined.size === 0) return [];
    return [placed(path, `${path} is named like a test and holds none`)];
  });
  const sources = changed
    .filter(({ path, binary }) => !binary && !isTestPath(path))
    .map(({ path, hunks }) => ({
      path,
      imports: hunks.flatMap(({ added }) => added.filter((line) => importing.test(line))),
    }))
    .filter(({ imports }) => imports.length > 0);
  for (const { path, status, newMode } of changed) {
    if (!isTestPath(path) || (status !== "added" && status !== "renamed") || newMode === "000000") continue;
    if (found.some((one) => one.path === path)) continue;
    const name = baseName(path).replace(/\.\w+$/, "");
    const folder = baseName(dirName(path));
    // Nearly no line names both; the expression is made for those that do.
    const near = sources.flatMap(({ path: by, imports }) =>
      imports.filter((line) => line.includes(folder) && line.includes(name)).map((line) => ({ by, line })),
    );
    if (near.length === 0) continue;
    const used = new RegExp(
      `(?<![\\w-])${escaped(folder)}[/.:]+(?:[\\w-]+[/.:]+)*${escaped(name)}(?![\\w-])|(?<![\\w-])${escaped(folder)}\\s+import\\s+[^\\n]*\\b${escaped(name)}\\b`,
    );
    const by = near.find(({ line }) => used.test(line))?.by;
    if (by !== undefined) found.push(placed(path, `${by} uses ${path}, which lies among the tests`));
  }
  return found;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function placed(path: string, message: string): Finding {
  return finding("source_in_test_path", "WARN", message, {
    path,
    line: 1,
    evidence: path,
    remedy: "Move it to the source; the lines count there",
  });
}
