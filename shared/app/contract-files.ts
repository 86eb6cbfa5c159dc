import { createHash } from "node:crypto";
import { resolve } from "node:path";
import { below, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { Contract } from "../model/contract.ts";
import { OrchError } from "../model/error.ts";
import { type JsonKeys, jsonPlaces } from "../model/json-place.ts";
import { readJson } from "../model/json-text.ts";
import { contractIdPattern } from "../model/names.ts";
import type { DoContext } from "./do-context.ts";
import { requireTrust, requireTrusted } from "./trust.ts";

export interface LoadedContract {
  readonly contract: Contract;
  readonly path: RepoPath;
  /** Of the bytes that were read. */
  readonly sha256: string;
  /** 1-based line of a field in the file. */
  lineOf(keys: JsonKeys): number;
}

export type ContractFile =
  | { readonly kind: "ok"; readonly loaded: LoadedContract }
  | { readonly kind: "bad"; readonly path: RepoPath; readonly line: number; readonly message: string };

type ReadContext = Pick<DoContext, "files" | "root" | "cwd">;
type TrustContext = ReadContext & Pick<DoContext, "trust" | "editor" | "git" | "config" | "sandbox">;

/**
 * Contracts by path (as typed, from the folder the command was given in) or by id (`.orch/contracts/<ID>.json`).
 *
 * @throws OrchError `contract.invalid` with file and line, `contract.unknown`, `path.refused`
 */
export async function loadContracts(context: ReadContext, words: readonly string[]): Promise<LoadedContract[]> {
  const loaded: LoadedContract[] = [];
  for (const file of await readContractFiles(context, words)) {
    if (file.kind === "bad") throw invalid(file.path, `${file.path}:${file.line}: ${file.message}`);
    loaded.push(file.loaded);
  }
  return loaded;
}

/** Each file once, however often and by whatever name it was named. @throws OrchError where there is no such file */
export async function readContractFiles(context: ReadContext, words: readonly string[]): Promise<ContractFile[]> {
  const files = new Map<string, ContractFile>();
  for (const word of words) {
    const file = await readContractFile(context, word);
    files.set(file.kind === "ok" ? file.loaded.path : file.path, file);
  }
  return [...files.values()];
}

/** Exactly one, for commands that work on one. @throws OrchError as `loadContracts`, `usage.invalid` for none or more */
export async function loadContract(
  context: ReadContext,
  words: readonly string[],
  command: string,
): Promise<LoadedContract> {
  const [loaded, ...more] = await loadContracts(context, words);
  if (loaded === undefined || more.length > 0)
    throw new OrchError("usage.invalid", `${command} takes one contract`, { data: { command } });
  return loaded;
}

/** The same for `check`, where a fault is a finding. @throws OrchError where there is no such file */
async function readContractFile(context: ReadContext, word: string): Promise<ContractFile> {
  const path = await pathOf(context, word);
  const bytes = await context.files.read(inRoot(context.root, path));
  if (bytes === undefined) throw new OrchError("contract.unknown", `there is no contract ${path}`, { data: { path } });
  const text = new TextDecoder("utf-8").decode(bytes);
  const read = readJson(text, Contract, { trailingCommas: true });
  if (read.kind === "bad") return { kind: "bad", path, ...read.fault };
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { kind: "ok", loaded: { contract: read.value, path, sha256, lineOf: jsonPlaces(text) } };
}

async function pathOf({ files, root, cwd }: ReadContext, word: string): Promise<RepoPath> {
  const byId = contractIdPattern.test(word) ? repoPath(`.orch/contracts/${word}.json`) : undefined;
  // Whatever stands there: what is no plain file is refused by its name when it is read.
  if (byId !== undefined && (await files.stat(inRoot(root, byId))) !== undefined) return byId;
  const relative = below(resolve(cwd, word).replaceAll("\\", "/"), root.replaceAll("\\", "/"));
  const path = relative === undefined ? undefined : repoPath(relative);
  if (path === undefined)
    throw new OrchError("path.refused", `${word} is no contract of this repository`, { data: { path: word } });
  return path;
}

function invalid(path: string, message: string): OrchError {
  return new OrchError("contract.invalid", message, { data: { path } });
}

/**
 * Trust for the repository's code and for what these contracts would run and show. One that was written or saved on
 * this machine is trusted: its bytes are not those of HEAD, for a pull, a clone or a checkout brings only what is
 * committed. Any other is shown and asked about once per content; naming it in a command is not the answer.
 *
 * @throws OrchError `trust.needed`, `env.no-sandbox`
 */
export async function trustContracts(
  context: TrustContext,
  loaded: readonly LoadedContract[],
  why: string,
  signal: AbortSignal,
): Promise<void> {
  await noteOwn(context, loaded);
  await requireTrust(context, why, signal);
  for (const one of loaded) if (!(await isTrusted(context, one))) await ask(context, one, signal);
}

/**
 * What a dry run needs of the same: nobody is asked, and nothing is noted.
 *
 * @throws OrchError `trust.needed`, `env.no-sandbox`
 */
export async function requireTrustedContracts(
  context: TrustContext,
  loaded: readonly LoadedContract[],
  why: string,
  signal: AbortSignal,
): Promise<void> {
  await requireTrusted(context, why, signal);
  const foreign = await committed(context, loaded);
  for (const one of loaded)
    if (foreign.has(one.path) && !(await isTrusted(context, one))) throw await refusalOf(context, one);
}

/** What the person, or Orch, wrote here stays trusted when it is committed later. */
async function noteOwn(context: TrustContext, loaded: readonly LoadedContract[]): Promise<void> {
  const foreign = await committed(context, loaded);
  for (const { path, sha256, ...one } of loaded) {
    if (foreign.has(path) || (await isTrusted(context, { path, sha256, ...one }))) continue;
    await context.trust.noteWritten(path, sha256);
  }
}

/** Paths whose content is HEAD's. */
async function committed(
  { git }: TrustContext,
  loaded: readonly Pick<LoadedContract, "path">[],
): Promise<ReadonlySet<string>> {
  const head = await git.resolve("HEAD");
  if (head === undefined) return new Set();
  const held = new Set<string>(await git.filesAt(head));
  const changed = new Set<string>((await git.status()).map(({ path }) => path));
  return new Set(loaded.map(({ path }) => path).filter((path) => held.has(path) && !changed.has(path)));
}

async function isTrusted({ trust }: TrustContext, { path, sha256 }: LoadedContract): Promise<boolean> {
  const bytes = await trust.trustedFile(path);
  return bytes !== undefined && createHash("sha256").update(bytes).digest("hex") === sha256;
}

/** What it would run, for a person. */
function commandsOf({ checks, hidden_checks: hidden, final_checks: final }: LoadedContract["contract"]): string {
  return [...checks, ...hidden, ...final].map(({ argv }) => argv.join(" ")).join("; ");
}

async function refusalOf({ trust }: TrustContext, { path, contract }: LoadedContract): Promise<OrchError> {
  const runs = commandsOf(contract);
  return new OrchError(
    "trust.needed",
    `${path} came with the repository and nobody here has accepted it${runs === "" ? "" : `: it would run ${runs}`}`,
    { data: { path, hash: (await trust.state()).hash } },
  );
}

async function ask(context: TrustContext, one: LoadedContract, signal: AbortSignal): Promise<void> {
  const { editor, trust, files, root } = context;
  const { path, sha256, contract } = one;
  const runs = commandsOf(contract);
  const refused = await refusalOf(context, one);
  if (!editor.interactive) throw refused;
  await editor.showDiff({
    title: `${path}: new to you`,
    path,
    left: new TextDecoder().decode((await trust.formerBytes(path)) ?? new Uint8Array()),
    right: (await files.readText(inRoot(root, path))) ?? "",
  });
  const answer = await editor.ask(
    {
      kind: "pick",
      weight: "question",
      title: `Trust ${path}?`,
      detail: runs === "" ? "It names no command" : `It would run: ${runs}`,
      choices: [
        { id: "trust", label: "Trust it" },
        { id: "no", label: "Not now" },
      ],
      otherwise: "no",
    },
    signal,
  );
  if (answer?.choice !== "trust") throw refused;
  await trust.noteWritten(path, sha256);
}
