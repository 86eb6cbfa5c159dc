import type { Finding } from "../model/finding.ts";
import { isTestPath } from "../model/test-path.ts";
import type { Gate, GateInput } from "../ports/gate.ts";
import { finding, ran } from "./gate-finding.ts";

/** Does UI work keep to its tokens? A forbidden one in an added line fails, one that is not listed warns. */
export function createDesignGate(): Gate {
  return {
    id: "design",
    phase: "change",
    run: (input) =>
      Promise.resolve(
        input.contract.design_tokens === undefined
          ? { kind: "skipped", why: "the contract names no design tokens" }
          : ran(tokenFindings(input, input.contract.design_tokens)),
      ),
  };
}

const styled = /\.(?:css|scss|sass|less|styl|pcss|html?|vue|svelte|astro|[cm]?[jt]sx?|swift|kt|dart|xaml|xml|svg)$/i;
/** Values that a token stands for: colours, custom properties, and variables of preprocessors. */
const values =
  /#[0-9a-fA-F]{3,8}(?![\w-])|\b(?:rgba?|hsla?|oklch|lab|lch|color)\([^)\n]*\)|var\(\s*(--[\w-]+)[^)]*\)|(?<![\w-])--[\w-]+(?=\s*[,;)]|$)|(?<![\w$-])\$[a-z][\w-]+|\btheme\([^)\n]*\)|\btokens?\.[\w.]+/g;

function tokenFindings(
  { change }: GateInput,
  tokens: { readonly allowed: readonly string[]; readonly forbidden: readonly string[] },
): Finding[] {
  const forbidden = tokens.forbidden.map((token) => ({ token, pattern: patternOf(token) }));
  const allowed = tokens.allowed.map(patternOf);
  const found: Finding[] = [];
  for (const { path, binary, hunks } of change.files) {
    if (binary || !styled.test(path) || isTestPath(path)) continue;
    for (const { added, newStart } of hunks) {
      for (const [at, text] of added.entries()) {
        const line = newStart + at;
        const bad = forbidden.find(({ pattern }) => pattern.test(text));
        if (bad !== undefined) {
          found.push(
            finding("design_token_forbidden", "FAIL", `${bad.token} is a forbidden design token`, {
              path,
              line,
              evidence: text.trim(),
              remedy: `Use one of: ${tokens.allowed.slice(0, 8).join(", ")}`,
            }),
          );
          continue;
        }
        const other = tokens.allowed.length === 0 ? undefined : unlisted(text, allowed);
        if (other !== undefined)
          found.push(
            finding("design_token_unlisted", "WARN", `${other} is no design token of the contract`, {
              path,
              line,
              evidence: text.trim(),
              remedy: `Use one of: ${tokens.allowed.slice(0, 8).join(", ")}`,
            }),
          );
      }
    }
  }
  return found;
}

function unlisted(text: string, allowed: readonly RegExp[]): string | undefined {
  const code = text.replace(/(?:^|\s)\/\/.*$|\/\*.*?\*\//g, "");
  return [...code.matchAll(values)]
    .map(([value]) => value)
    .find((value) => !allowed.some((pattern) => pattern.test(value)));
}

/** A token as a whole word; `*` in it stands for the rest of a name. */
function patternOf(token: string): RegExp {
  const text = token.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", "[\\w-]*");
  return new RegExp(`(?<![\\w-])${text}(?![\\w-])`, "i");
}
