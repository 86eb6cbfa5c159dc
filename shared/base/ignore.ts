import { globMatcher } from "./paths.ts";

/**
 * `.orchignore`: files that are never put into a prompt. The patterns mean what they mean in a `.gitignore` at the root:
 * last match wins, `!` takes back, a trailing `/` is for folders, a `/` elsewhere anchors; what an ignored folder holds
 * cannot be taken back.
 */
export const ignoreFileName = ".orchignore";

interface IgnoreRule {
  readonly matches: (path: string) => boolean;
  readonly foldersOnly: boolean;
  readonly ignores: boolean;
}

/** True for repository paths that `text` ignores. No text ignores nothing. */
export function ignoreMatcher(text: string | undefined): (path: string) => boolean {
  const rules = (text ?? "")
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .flatMap(parseRule);
  const decide = (path: string, folder: boolean): boolean =>
    rules.findLast((rule) => (folder || !rule.foldersOnly) && rule.matches(path))?.ignores ?? false;
  return (path) => {
    const parts = path.split("/");
    return parts.some((_, at) => decide(parts.slice(0, at + 1).join("/"), at < parts.length - 1));
  };
}

function parseRule(line: string): readonly IgnoreRule[] {
  let pattern = line.replace(/(?<!\\)\s+$/, "");
  if (pattern === "" || pattern.startsWith("#")) return [];
  const ignores = !pattern.startsWith("!");
  if (!ignores) pattern = pattern.slice(1);
  pattern = pattern.replace(/^\\(?=[#!])/, "");
  const foldersOnly = pattern.endsWith("/");
  if (foldersOnly) pattern = pattern.replace(/\/+$/, "");
  const anchored = pattern.includes("/");
  const body = pattern.replace(/^\/+/, "").replace(/[{}()+@!]/g, "\\$&");
  if (body === "") return [];
  return [{ matches: globMatcher([anchored ? body : `**/${body}`]), foldersOnly, ignores }];
}
