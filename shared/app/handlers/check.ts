import { createHash } from "node:crypto";
import { count } from "../../base/lines.ts";
import { inRoot, isInside, repoPath } from "../../base/paths.ts";
import { shellWord } from "../../base/shell-word.ts";
import { finding } from "../../gates/gate-finding.ts";
import { lintContracts } from "../../gates/contract/lint.ts";
import type { LintFacts } from "../../gates/contract/lint-subject.ts";
import { referredPaths } from "../../gates/contract/text-lints.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { type ContractKind, contractKinds } from "../../model/contract-kinds.ts";
import { OrchError } from "../../model/error.ts";
import type { Finding } from "../../model/finding.ts";
import { ContractId } from "../../model/names.ts";
import { type LoadedContract, readContractFiles } from "../contract-files.ts";
import { contractTemplate } from "../contract-template.ts";
import type { Handler } from "../context.ts";
import type { DoContext } from "../do-context.ts";
import { hiddenSource } from "../grading-copy.ts";
import { knownWorkers } from "../worker-entries.ts";

/** The document of `check --json`. */
export interface CheckData {
  readonly contracts: readonly { readonly id: string; readonly title: string; readonly path: string }[];
  readonly findings: readonly Finding[];
}

const folder = ".orch/contracts";

/**
 * `check <files...>`: is this fit to be handed out? Reads, runs nothing, asks no model. Without files it is about all
 * contracts of the repository. `check --template [kind] <ID>` writes a new one.
 */
export const check: Handler<DoContext> = async (context, args) => {
  if (args.template === true) return await writeTemplate(context, args.words);
  const words = args.words.length > 0 ? args.words : await contractIds(context);
  if (words.length === 0)
    throw new OrchError("usage.invalid", `there is no contract in ${folder}`, { data: { command: "check" } });
  const loaded: LoadedContract[] = [];
  const findings: Finding[] = [];
  const files = await readContractFiles(context, [...new Set(words)]);
  for (const file of files) {
    if (file.kind === "ok") loaded.push(file.loaded);
    else findings.push(unreadable(file));
  }
  findings.push(...(await lintLoaded(context, loaded)));
  // A host shows one line a finding: what mends it belongs to it.
  context.editor.showFindings(
    findings.map((one) => ({ ...one, message: `${one.message}. ${one.remedy}`, remedy: "" })),
  );
  return resultOf(loaded, findings, { words: [...new Set(words)], files: files.length });
};

/** What is wrong with contracts that were read. */
export async function lintLoaded(context: DoContext, loaded: readonly LoadedContract[]): Promise<readonly Finding[]> {
  return lintContracts(loaded, await factsOf(context, loaded));
}

function unreadable({
  path,
  line,
  message,
}: {
  readonly path: string;
  readonly line: number;
  readonly message: string;
}): Finding {
  const remedy = /unknown key/.test(message)
    ? "Mend the name: orch check --template ID writes every field there is"
    : "Mend it: orch check --template ID writes an example of every field";
  return finding("contract.schema", "FAIL", message, { path, line, remedy });
}

async function factsOf(context: DoContext, loaded: readonly LoadedContract[]): Promise<LintFacts> {
  const { git, files, root, config } = context;
  const [listed, status] = [await git.listFiles(), await git.status()];
  const untracked = status.filter(({ index }) => index === "?").map(({ path }) => path);
  const loose = new Set<string>(untracked);
  const texts = new Map<string, string>();
  const hidden = new Map<string, "outside" | "inside">();
  for (const { contract } of loaded) {
    for (const path of referredPaths(contract).map(repoPath)) {
      const text = path === undefined ? undefined : await files.readText(inRoot(root, path)).catch(() => undefined);
      if (path !== undefined && text !== undefined) texts.set(path, text);
    }
    for (const { from } of contract.hidden_files) {
      const real = await files.realPath(hiddenSource(context, from));
      if (real !== undefined)
        hidden.set(from, isInside(real, (await files.realPath(root)) ?? root) ? "inside" : "outside");
    }
  }
  const ids = new Set(loaded.map(({ contract }) => contract.id));
  return {
    tracked: listed.filter((path) => !loose.has(path)),
    untracked,
    texts,
    hidden,
    links: (await files.list(root))?.map(({ name }) => name).filter((name) => name !== ".git") ?? [],
    workers: knownWorkers(config).map(({ id, kinds }) => ({ id, kinds })),
    otherIds: (await contractIds(context)).filter((id) => !ids.has(id)),
    limits: { usd: config.limits.usd, minutes: config.limits.minutes },
  };
}

async function contractIds({ files, root }: Pick<DoContext, "files" | "root">): Promise<string[]> {
  const entries = (await files.list(inRoot(root, folder))) ?? [];
  return entries.flatMap(({ name, kind }) =>
    kind === "file" && name.endsWith(".json") ? [name.slice(0, -".json".length)] : [],
  );
}

function resultOf(
  loaded: readonly LoadedContract[],
  findings: readonly Finding[],
  { words, files }: { readonly words: readonly string[]; readonly files: number },
): CommandResult {
  const fails = findings.filter(({ severity }) => severity === "FAIL").length;
  const data: CheckData = {
    contracts: loaded.map(({ contract: { id, title }, path }) => ({ id, title, path })),
    findings,
  };
  const again = words.map(shellWord).join(" ");
  return {
    ok: fails === 0,
    code: fails === 0 ? 0 : 1,
    summary: `${count(files, "contract")}, ${count(fails, "failure")}, ${count(findings.length - fails, "warning")}`,
    next: fails === 0 ? [`orch run --title "..." ${again}`] : [`orch check ${again}`],
    data,
  };
}

/** Never over a file that is there. What Orch wrote is trusted, and what the person makes of it as well. */
async function writeTemplate(context: DoContext, words: readonly string[]): Promise<CommandResult> {
  const { id, kind } = namesIn(words);
  const path = repoPath(`${folder}/${id}.json`);
  if (path === undefined) throw new OrchError("path.refused", `${id} is no name of a file`, { data: { path: id } });
  const text = contractTemplate(id, kind);
  await context.files.makeDir(inRoot(context.root, folder));
  if (!(await context.files.createOnce(inRoot(context.root, path), text)))
    throw new OrchError("contract.exists", `${path} is there already`, { data: { path } });
  await context.trust.noteWritten(path, createHash("sha256").update(text).digest("hex"));
  return {
    ok: true,
    code: 0,
    summary: `wrote ${path}, of kind ${kind}: fill in what stands in <...>`,
    next: [`orch check ${shellWord(path)}`],
    data: { id, kind, path },
  };
}

function namesIn(words: readonly string[]): { readonly id: string; readonly kind: ContractKind } {
  const usage = (message: string): OrchError => new OrchError("usage.invalid", message, { data: { command: "check" } });
  const [first = "", second, ...more] = words;
  if (first === "" || more.length > 0)
    throw usage("check --template takes a kind, if any, and the id of the new contract");
  const [word, id] = second === undefined ? ["feature", first] : [first, second];
  const kind = contractKinds.find((one) => one === word);
  if (kind === undefined) throw usage(`${word} is no kind of contract: ${contractKinds.join(", ")}`);
  const checked = ContractId.safeParse(id);
  if (!checked.success) throw usage(`${id}: ${checked.error.issues[0]?.message ?? "no id"}`);
  return { id, kind };
}
