import { baseName, inRoot, type AbsPath, type RepoPath } from "../base/paths.ts";
import { stripControls } from "../base/lines.ts";
import { articlesText } from "../features/constitution.ts";
import { packageName } from "../features/init-files.ts";
import { loadPacks, type LoadedPack, mainPack } from "../features/packs.ts";
import { filled } from "../features/scaffold.ts";
import { OrchError } from "../model/error.ts";
import { InitKit } from "../model/init-kit.ts";
import { readJson } from "../model/json-text.ts";
import type { Rule } from "../model/rule.ts";
import { readRuleFile } from "../model/rule-file.ts";
import type { MachineContext } from "./context.ts";

/** What `init` would write into a folder, from the installed data alone: nothing of the repository takes part. */
export interface LoadedKit {
  readonly files: readonly { readonly path: string; readonly text: string }[];
  /** The installed rules of the language, and those of no language. */
  readonly rules: readonly Rule[];
}

type Parts = Pick<MachineContext, "files" | "machine" | "process">;

/**
 * For the language of the folder's files, where that has a kit; else for the first language that has one.
 *
 * @throws OrchError `rules.invalid`
 */
export async function loadInitKit(
  context: Parts,
  project: { readonly folder: AbsPath; readonly paths: readonly RepoPath[] },
  signal: AbortSignal,
): Promise<LoadedKit> {
  const { files, machine } = context;
  const rulesDir = inRoot(machine.installRoot, "rules");
  const packs = await loadPacks(files, rulesDir);
  const { lang, kit } = await kitFor(context, packs, project.paths);
  const rules = await rulesOf(context, lang, packs);
  const name = stripControls(baseName(project.folder)).trim();
  const values = {
    name,
    package: packageName(name),
    version: await versionToPin(context, kit.interpreter, signal),
    articles: articlesText(kit.articles, rules),
  };
  const made: { path: string; text: string }[] = [];
  for (const { path, template } of kit.files) {
    const text = await files.readText(inRoot(rulesDir, lang, "init", template));
    if (text === undefined) throw broken(lang, `the template ${template} is not there`);
    made.push({ path, text: filled(text, values) });
  }
  return { files: made, rules };
}

async function kitFor(
  context: Parts,
  packs: readonly LoadedPack[],
  paths: readonly RepoPath[],
): Promise<{ readonly lang: string; readonly kit: InitKit }> {
  const main = mainPack(packs, paths);
  for (const { pack } of main === undefined ? packs : [main, ...packs]) {
    const text = await context.files.readText(
      inRoot(context.machine.installRoot, "rules", pack.lang, "init/init.json"),
    );
    if (text === undefined) continue;
    const read = readJson(text, InitKit);
    if (read.kind === "bad") throw broken(pack.lang, `line ${read.fault.line}: ${read.fault.message}`);
    return { lang: pack.lang, kit: read.value };
  }
  throw broken("python", "no language has a kit for init");
}

/** Sets that are another language's say nothing about this one. */
async function rulesOf(
  { files, machine }: Parts,
  lang: string,
  packs: readonly LoadedPack[],
): Promise<readonly Rule[]> {
  const rulesDir = inRoot(machine.installRoot, "rules");
  const others = new Set(packs.map(({ pack }) => pack.lang).filter((one) => one !== lang));
  const rules: Rule[] = [];
  for (const { name, kind } of (await files.list(rulesDir)) ?? []) {
    const text =
      kind === "directory" && !others.has(name) ? await files.readText(inRoot(rulesDir, name, "core.json")) : undefined;
    const read = text === undefined ? undefined : readRuleFile(text);
    if (read?.kind === "ok") for (const check of read.checks) if (check.kind === "rule") rules.push(check.rule);
  }
  return rules;
}

/** The interpreter that is here, asked from outside the project; else the kit's own. */
async function versionToPin(
  { process, machine }: Parts,
  interpreter: InitKit["interpreter"],
  signal: AbortSignal,
): Promise<string> {
  const search = machine.env["PATH"] ?? "";
  for (const command of interpreter.commands) {
    const program = await process.which(command, search);
    if (program === undefined) continue;
    const env = { PATH: search, HOME: machine.env["HOME"] ?? "" };
    const argv = [program, ...interpreter.argv] as const;
    const spec = { argv, cwd: machine.installRoot, env, timeoutMs: 10_000, maxOutputBytes: 10_000 };
    const exit = await process.run(spec, signal);
    const said = `${new TextDecoder().decode(exit.stdout)}${new TextDecoder().decode(exit.stderr)}`;
    const version = exit.kind === "exited" && exit.code === 0 ? new RegExp(interpreter.version, "m").exec(said) : null;
    if (version?.[1] !== undefined) return version[1];
  }
  return interpreter.otherwise;
}

function broken(lang: string, why: string): OrchError {
  const path = `rules/${lang}/init/init.json`;
  return new OrchError("rules.invalid", `${path}: ${why}`, { data: { path } });
}
