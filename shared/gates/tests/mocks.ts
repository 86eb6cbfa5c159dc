import type { Finding } from "../../model/finding.ts";
import { finding } from "../gate-finding.ts";
import type { TestFile } from "./test-file.ts";
import type { OutlineTest } from "./outline.ts";

/**
 * A stand-in for the very thing that a test asserts about: then the test checks the stand-in. A stand-in for what the
 * code under test calls is what mocks are for, so only a call inside an assertion counts. A reviewer decides.
 */
export function mockFindings({ path, changed, now, language }: TestFile): Finding[] {
  if (now === undefined) return [];
  const patterns = language.raw.mocks.map((pattern) => new RegExp(pattern));
  return changed.hunks.flatMap(({ added, newStart }) =>
    added.flatMap((text, at) => {
      const line = newStart + at;
      const match = patterns.map((pattern) => pattern.exec(text)).find((one) => one !== null);
      const { member, module } = match?.groups ?? {};
      if (match == null || (member === undefined && module === undefined) || onlyWatches(text, now.text)) return [];
      const names = member === undefined ? namesFrom(module ?? "", now.imports) : [member];
      const tests = now.tests.filter((test) => member === undefined || isNear(test, line, now.tests));
      if (!tests.some((test) => names.some((name) => asserts(test, name)))) return [];
      return [
        finding("mock_of_sut", "WARN", `${names.join(", ")} is replaced and asserted at once`, {
          path,
          line,
          evidence: text.trim(),
          remedy: "Assert what the real code does; replace only what it calls",
        }),
      ];
    }),
  );
}

/** A spy that calls through replaces nothing, unless it is told to later. */
function onlyWatches(line: string, all: string): boolean {
  if (/\bwraps\s*=|\bmock\.method\(\s*[\w$.]+\s*,\s*["'`]\w+["'`]\s*\)/.test(line)) return true;
  if (/\bmocker\.spy\(/.test(line)) return !/\.side_effect\s*=/.test(all);
  return (
    /\bspyOn\(\s*[\w$.]+\s*,\s*["'`]\w+["'`]\s*\)\s*[;,)]?\s*$/.test(line) &&
    !/\.mock(?:Return|Implementation|Resolved|Rejected)/.test(all)
  );
}

/** In the test itself, or around all of them (a fixture, a setup). */
function isNear(test: OutlineTest, line: number, tests: readonly OutlineTest[]): boolean {
  const inside = (one: OutlineTest): boolean => one.line - 3 <= line && line <= one.endLine;
  return inside(test) || !tests.some(inside);
}

function asserts({ assertions, assigned }: OutlineTest, name: string): boolean {
  const call = new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}\\(`);
  return assertions.some(({ kind, operands }) => {
    if (kind === "called" || kind === "calledwith") return false;
    return operands.some(
      (operand) => call.test(operand) || assigned.some((one) => one.name === operand && call.test(one.value)),
    );
  });
}

/** Names that a file takes from a module of the project: a stand-in for a package is somebody else's business. */
function namesFrom(module: string, imports: readonly string[]): string[] {
  if (!/^[./~@]|^#/.test(module)) return [];
  const plain = (text: string): string => text.replace(/\.[cm]?[jt]sx?$/, "");
  const line = imports.find((one) => plain(/["'`]([^"'`]+)["'`]/.exec(one)?.[1] ?? "") === plain(module));
  if (line === undefined) return [];
  const inner =
    /\{([^}]*)\}/.exec(line)?.[1] ?? /(?:import|const|let|var)\s+(?:\*\s+as\s+)?(\w+)/.exec(line)?.[1] ?? "";
  return inner.split(",").flatMap((one) => /(\w+)\s*$/.exec(one.trim())?.[1] ?? []);
}
