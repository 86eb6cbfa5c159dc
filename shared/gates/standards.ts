import { type AbsPath, extName, inRoot } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import type { ExactSyntax } from "../ports/syntax.ts";
import type { Audit } from "./audit.ts";
import { finding, ran } from "./gate-finding.ts";

export interface StandardsDeps {
  readonly audit: Audit;
  /** The language's own compiler for these extensions; syntax is said to be unverified where there is none. */
  readonly exact?: { readonly extensions: readonly string[]; readonly syntax: ExactSyntax };
}

export const syntaxRule = "syntax";

/** Does the code read as the house wants? Exact syntax first, then the rulebook's standards group (PEP 8 and unused imports included). */
export function createStandardsGate(deps: StandardsDeps): Gate {
  return {
    id: "standards",
    phase: "change",
    async run(input, signal) {
      const [faults, ruled, unread] = [
        await syntaxFindings(deps, input, signal),
        await deps.audit.findings(input, "standards", signal),
        await deps.audit.unread(input, signal),
      ];
      const skipped = unread.map(({ path, why }) =>
        finding("file_unread", "WARN", `no rule looked at ${path}: ${why}`, { path, remedy: "Look at it by hand" }),
      );
      return ran([...faults, ...ruled, ...skipped]);
    },
  };
}

async function syntaxFindings({ exact }: StandardsDeps, input: GateInput, signal: AbortSignal): Promise<Finding[]> {
  if (exact === undefined) return [];
  const paths = input.change.files
    .filter(
      ({ path, newMode, binary }) => newMode.startsWith("100") && !binary && exact.extensions.includes(extName(path)),
    )
    .map(({ path }) => path);
  if (paths.length === 0) return [];
  const at = new Map<AbsPath, string>(paths.map((path) => [inRoot(input.root, path), path]));
  const result = await exact.syntax.check([...at.keys()], signal);
  if (result.kind === "not-verified") return [unverified(`the syntax was not verified: ${result.why}`)];
  const found = (result.gaps ?? []).map((why) => unverified(`the syntax was not verified: ${why}`));
  for (const [file, answer] of result.answers) {
    const path = at.get(file);
    if (path === undefined || answer.kind === "ok") continue;
    if (answer.kind === "unverified")
      found.push(unverified(`the syntax of ${path} was not verified: ${answer.why}`, path));
    else {
      const { line, message } = answer.fault;
      const evidence = await lineOf(input, path, line);
      found.push(
        finding(syntaxRule, "FAIL", `${path} is not valid: ${message}`, {
          path,
          line,
          evidence,
          remedy: "Write code that the compiler takes",
        }),
      );
    }
  }
  return found;
}

function unverified(message: string, path?: string): Finding {
  return finding("syntax_unverified", "WARN", message, {
    ...(path === undefined ? {} : { path }),
    remedy: "Install the language's own compiler to have it checked",
  });
}

async function lineOf(input: GateInput, path: string, line: number): Promise<string> {
  const bytes = await input.read(path as Parameters<GateInput["read"]>[0]);
  const text = bytes === undefined ? "" : new TextDecoder("utf-8").decode(bytes);
  return text.split("\n")[line - 1]?.trim() ?? "";
}
