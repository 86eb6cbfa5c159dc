import { linesOf } from "../base/lines.ts";
import { type RepoPath, repoPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput, SliceFacts, SpecFact } from "../ports/gate.ts";
import { speaksOf } from "./spec-words.ts";

/**
 * A feature's own Tests file may follow its spec: what tested a row that the spec lost may go. Everything else that the
 * gate finds stands, so no test goes that the spec did not give up. See docs/decisions/0017.
 */
export function followsSpec(gate: Gate): Gate {
  return {
    ...gate,
    async run(input, signal) {
      const result = await gate.run(input, signal);
      const { slice } = input;
      if (result.kind !== "ran" || slice?.spec === undefined || slice.spec.gone.length === 0) return result;
      const tests = repoPath(`${slice.dir}/${slice.pack.roles.tests}`);
      if (tests === undefined) return result;
      const found = await Promise.all(result.findings.map((one) => judged(one, { ...input, slice }, tests)));
      return { ...result, findings: found };
    },
  };
}

const isRemoval = (rule: string): boolean => /^(?:assertion|test)s?_removed\b/.test(rule);

async function judged(
  found: Finding,
  input: GateInput & { readonly slice: SliceFacts },
  tests: RepoPath,
): Promise<Finding> {
  const { spec } = input.slice;
  if (found.severity !== "FAIL" || found.path !== tests || !isRemoval(found.rule) || spec === undefined) return found;
  const [before, after] = await Promise.all([textOf(input.readBase(tests)), textOf(input.read(tests))]);
  const code = removedPart(before, after, found.line ?? 0);
  const row = spec.gone.find((one) => speaksOf(code, one, spec.rows));
  if (row === undefined) return found;
  const why = `${found.message}, as spec.md no longer says: ${rowText(row)}`;
  return { ...found, severity: "WARN", message: why, remedy: "Look whether it tested nothing else" };
}

/**
 * What went with the line: the lines around it, without a blank one between, that the new text has no more. A test that
 * stays loses its line alone.
 */
function removedPart(before: string, after: string, line: number): string {
  const old = linesOf(before);
  const kept = new Set(linesOf(after).map((text) => text.trim()));
  const goes = (at: number): boolean => {
    const text = old[at]?.trim();
    return text !== undefined && text !== "" && !kept.has(text);
  };
  let [from, to] = [line - 1, line - 1];
  while (goes(from - 1)) from -= 1;
  while (goes(to + 1)) to += 1;
  return old.slice(from, to + 1).join("\n");
}

async function textOf(bytes: Promise<Uint8Array | undefined>): Promise<string> {
  return new TextDecoder("utf-8").decode((await bytes) ?? new Uint8Array());
}

function rowText({ section, cells }: SpecFact): string {
  return `${section}: ${cells.join(" | ").replace(/\s+/g, " ").slice(0, 120)}`;
}
