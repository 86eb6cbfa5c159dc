import { ignoreFileName, ignoreMatcher } from "../base/ignore.ts";
import { linesOf } from "../base/lines.ts";
import { type AbsPath, globMatcher, hasWildcard, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { Compose } from "../engine/attempt.ts";
import type { Contract } from "../model/contract.ts";
import type { Workspace } from "../ports/workspace.ts";
import { composeContract, type InjectedInput, type PatternLines } from "../prompts/contract-prompt.ts";
import type { Persona } from "../prompts/persona.ts";
import type { Redact } from "../prompts/redact.ts";
import type { PromptFile } from "../prompts/sections.ts";
import type { DoContext } from "./do-context.ts";
import { fileTextOf } from "./prompt-text.ts";

type ComposeContext = Pick<DoContext, "files" | "git" | "ids" | "root" | "runDir" | "sink">;

export interface ContractTexts {
  readonly persona: Persona;
  readonly redact: Redact;
  /** Workers that are one completion: they see files and reply with them. */
  readonly isCompletion: (worker: string) => boolean;
}

/** More than this is no prompt for a completion; the section budget cuts further. */
const maxFiles = 60;
const maxFileBytes = 400_000;

/** The prompt of each attempt of a contract, from its worktree as it is then. What `.orchignore` names is never in it. */
export function composeFor(context: ComposeContext, texts: ContractTexts): Compose {
  return async ({ contract, attempt, worker, workspace, feedback, sameSession }, signal) => {
    const isIgnored = ignoreMatcher(await context.files.readText(inRoot(context.root, ignoreFileName)));
    const reply = texts.isCompletion(worker) ? "completion" : "agent";
    const shown =
      reply === "agent" ? nothing : await filesOf(context, { contract, attempt, workspace, isIgnored }, signal);
    const composed = composeContract({
      persona: texts.persona,
      contract,
      nonce: context.ids.next("marker"),
      patterns: await patternsOf(contract, workspace, isIgnored, signal),
      inputs: await inputsOf(context, contract),
      reply,
      ...shown,
      ...(feedback === undefined ? {} : { feedback }),
      sameSession,
      redact: texts.redact,
    });
    if (composed.redacted.length > 0) {
      const text = `taken out of the prompt of ${contract.id} before it is sent: ${composed.redacted.join(", ")}`;
      context.sink.append({ type: "progress.noted", text });
    }
    return { messages: composed.messages };
  };
}

async function patternsOf(
  contract: Contract,
  workspace: Workspace,
  isIgnored: (path: string) => boolean,
  signal: AbortSignal,
): Promise<readonly PatternLines[]> {
  const found: PatternLines[] = [];
  for (const ref of contract.pattern_refs) {
    const place = readRef(ref);
    const bytes = place === undefined || isIgnored(place.path) ? undefined : await workspace.read(place.path, signal);
    const text = bytes === undefined ? undefined : fileTextOf(bytes, maxFileBytes);
    const lines = text === undefined || place === undefined ? [] : linesOf(text).slice(place.from - 1, place.to);
    found.push(lines.length === 0 ? { ref } : { ref, text: lines.join("\n") });
  }
  return found;
}

/** `file`, `file:12` or `file:12-40`. */
function readRef(ref: string): { readonly path: RepoPath; readonly from: number; readonly to?: number } | undefined {
  const [, file = "", from, to] = /^(.*?)(?::(\d+)(?:-(\d+))?)?$/.exec(ref.trim()) ?? [];
  const path = repoPath(file);
  if (path === undefined) return undefined;
  if (from === undefined) return { path, from: 1 };
  return { path, from: Math.max(1, Number(from)), to: Number(to ?? from) };
}

/** From the run folder: what an earlier step reported, or its patch. A step of an earlier runner left the same files. */
async function inputsOf({ files, runDir }: ComposeContext, contract: Contract): Promise<readonly InjectedInput[]> {
  const inputs: InjectedInput[] = [];
  for (const { from, what } of contract.inputs) {
    const folder = await lastAttempt(files, runDir, from);
    const text =
      folder === undefined
        ? undefined
        : what === "diff"
          ? await files.readText(inRoot(folder, "diff.patch"))
          : answerIn(await files.readText(inRoot(folder, "report.json")));
    inputs.push({ from, what, text: text ?? "" });
  }
  return inputs;
}

async function lastAttempt(
  files: Pick<DoContext["files"], "list">,
  runDir: AbsPath,
  contract: string,
): Promise<AbsPath | undefined> {
  const numbers = ((await files.list(inRoot(runDir, contract))) ?? []).flatMap(({ name }) => {
    const [, number] = /^attempt-(\d+)$/.exec(name) ?? [];
    return number === undefined ? [] : [Number(number)];
  });
  return numbers.length === 0 ? undefined : inRoot(runDir, contract, `attempt-${Math.max(...numbers)}`);
}

function answerIn(report: string | undefined): string | undefined {
  if (report === undefined) return undefined;
  const read: unknown = JSON.parse(report);
  return typeof read === "object" && read !== null && "summary" in read ? String(read.summary) : undefined;
}

interface FilesAsk {
  readonly contract: Contract;
  readonly attempt: number;
  readonly workspace: Workspace;
  readonly isIgnored: (path: string) => boolean;
}

interface Shown {
  readonly files: readonly PromptFile[];
  readonly checked: readonly PromptFile[];
  readonly absent: readonly string[];
}

const nothing: Shown = { files: [], checked: [], absent: [] };

/** The files in scope: those of the base, those named, and what an earlier attempt added. Beside them what the checks run. */
async function filesOf(
  { git }: ComposeContext,
  { contract, attempt, workspace, isIgnored }: FilesAsk,
  signal: AbortSignal,
): Promise<Shown> {
  const isAllowed = globMatcher(contract.allowed);
  const named = contract.allowed.flatMap((glob) => (hasWildcard(glob) ? [] : (repoPath(glob) ?? [])));
  const all = await git.filesAt(workspace.base);
  const there = all.filter((path) => isAllowed(path));
  const added =
    attempt === 1 ? [] : (await workspace.collect(signal)).files.flatMap(({ path }) => repoPath(path) ?? []);
  const paths = [...new Set([...named, ...there, ...added])].filter((path) => isAllowed(path) && !isIgnored(path));
  const read = async (some: readonly RepoPath[]): Promise<readonly PromptFile[]> => {
    const found: PromptFile[] = [];
    for (const path of some.slice(0, maxFiles)) {
      const bytes = await workspace.read(path, signal);
      const text = bytes === undefined ? undefined : fileTextOf(bytes, maxFileBytes);
      if (text !== undefined) found.push({ path, text });
    }
    return found;
  };
  const files = await read(paths);
  const outside = checkedPaths(contract, all).filter((path) => !isAllowed(path) && !isIgnored(path));
  const has = new Set<string>([...files.map(({ path }) => path), ...all]);
  return { files, checked: await read(outside), absent: named.filter((path) => !has.has(path) && !isIgnored(path)) };
}

/** Files that a check names: `tests/test_a.py`, `tests/test_a.py::test_x`, or `tests.test_a` as a module. */
function checkedPaths({ checks }: Contract, all: readonly RepoPath[]): readonly RepoPath[] {
  const words = new Set(checks.flatMap(({ argv }) => argv.map((word) => word.replace(/::.*$/s, ""))));
  return all.filter((path) => words.has(path) || words.has(path.replace(/\.\w+$/, "").replaceAll("/", ".")));
}
