import {
  type AbsPath,
  below,
  dirName,
  globMatcher,
  isAbsolutePath,
  type RepoPath,
  repoPath,
  resolvedFrom,
} from "../base/paths.ts";
import type { Check } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { GateInput } from "../ports/gate.ts";
import { unheard } from "./check-findings.ts";
import { filesAlone, nodeTest } from "./check-output.ts";

/**
 * Files with tests of which `node --test` heard none, though it ended well. Only a change of the file, or of what it
 * loads, can have ended it: one that the change does not reach has its own reasons, and a reviewer is told.
 */
export async function unheardTests(
  check: Check,
  output: string,
  cwd: AbsPath,
  input: GateInput,
): Promise<readonly Finding[]> {
  const found: Finding[] = [];
  const isAsked = askedFiles(check.argv);
  for (const name of new Set(filesAlone(check.argv, output))) {
    const at = inTree(name, cwd, input);
    if (at === undefined || !isAsked(below(name, cwd) ?? name)) continue;
    const text = await textOf(at, input);
    if (text === undefined || !hasTests(text) || areHeard(text, name, output)) continue;
    const isOwn = !isConditional(text) && (await isReached(at, check.argv, cwd, input));
    found.push(unheard(check, at, isOwn ? "FAIL" : "WARN"));
  }
  return found;
}

function inTree(name: string, cwd: AbsPath, { root }: GateInput): RepoPath | undefined {
  const whole = isAbsolutePath(name) ? name : `${cwd}/${name}`;
  return repoPath(below(whole, root) ?? name);
}

/** What `node --test` takes by itself. */
const usual = [
  "**/*{.,-,_}test.{,c,m}{j,t}s",
  "**/test-*.{,c,m}{j,t}s",
  "**/test.{,c,m}{j,t}s",
  "**/test/**/*.{,c,m}{j,t}s",
];

/** A test may have the name of a file, too: the program took only what its command names. */
function askedFiles(argv: readonly string[]): (name: string) => boolean {
  const { named } = nodeTest(argv);
  const globs = named.map((word) => word.replaceAll("\\", "/").replace(/^(?:\.\/)+/, ""));
  if (globs.length === 0) return globMatcher(usual);
  const matches = globMatcher(globs);
  return (name) =>
    globs.some((glob) => glob.endsWith(`/${name}`) || name.startsWith(`${glob.replace(/\/$/, "")}/`)) || matches(name);
}

async function textOf(at: RepoPath, input: GateInput): Promise<string | undefined> {
  const bytes = await input.read(at);
  return bytes === undefined ? undefined : new TextDecoder("utf-8").decode(bytes);
}

const call = String.raw`\b(?:test|it|describe|suite)(?:\.\w+)?\(`;

function hasTests(text: string): boolean {
  return /["']node:test["']/.test(text) && new RegExp(call).test(text);
}

/** A test that bears the name of its own file: then its other titles are told, too. */
function areHeard(text: string, name: string, output: string): boolean {
  const titles = [...text.matchAll(new RegExp(String.raw`${call}\s*(?:"([^"\\\n]+)"|'([^'\\\n]+)')`, "g"))];
  const own = titles.map(([, one, two]) => one ?? two ?? "").filter((title) => title !== name);
  return own.length > 0 && own.every((title) => output.includes(` ${title} (`) || output.includes(` - ${title}\n`));
}

/** Tests for another platform, or another version, are none here. */
function isConditional(text: string): boolean {
  if (new RegExp(String.raw`^(?:await\s+)?${call}`, "m").test(text)) return false;
  return (
    /\bif\s*\(|&&|\?/.test(text) &&
    /\bprocess\.(?:platform|arch|env|versions?|features)\b|\b(?:platform|arch)\(\)/.test(text)
  );
}

/** More is no tree of one test. */
const maxLoaded = 400;

/** Does the change touch the file, or one that it loads, also by others? */
async function isReached(at: RepoPath, argv: readonly string[], cwd: AbsPath, input: GateInput): Promise<boolean> {
  const touched = new Set<string>(input.change.files.flatMap(({ path, oldPath }) => [path, oldPath ?? path]));
  const first = nodeTest(argv).loaded.flatMap((name) => inTree(name.replace(/^(?:\.\/)+/, ""), cwd, input) ?? []);
  const queue: string[] = [at, ...first];
  const seen = new Set(queue);
  for (let one = queue.shift(); one !== undefined && seen.size < maxLoaded; one = queue.shift()) {
    if (touched.has(one)) return true;
    const path = repoPath(one);
    const text = path === undefined ? undefined : await textOf(path, input);
    const next = text === undefined ? [] : loadedBy(one, text).filter((name) => !seen.has(name));
    for (const name of next) seen.add(name);
    queue.push(...next);
  }
  return false;
}

/** Paths that a module may load by relative names; which of them exists is seen when they are read. */
function loadedBy(from: string, text: string): string[] {
  const names = text.matchAll(/\b(?:from|import|require|resolve)\s*\(?\s*["'`](\.{1,2}(?:\/[^"'`\n$]*)?)["'`]/g);
  return [...names].flatMap(([, name = ""]) => {
    const whole = resolvedFrom(dirName(from), name);
    return whole === undefined ? [] : candidates(whole);
  });
}

function candidates(whole: string): string[] {
  const typed = whole.replace(/\.([cm]?)js$/, ".$1ts");
  const ends = [".js", ".cjs", ".mjs", ".ts", ".cts", ".mts", ".json", "/index.js", "/index.cjs", "/index.ts"];
  return [
    whole,
    ...(typed === whole ? [] : [typed, typed.replace(/ts$/, "tsx")]),
    ...(/\.[cm]?[jt]sx?$|\.json$/.test(whole) ? [] : ends.map((end) => whole + end)),
  ];
}
