import { createTestRunner } from "../../adapters/test-runner.ts";
import { createTreeSitterSyntax } from "../../adapters/syntax-tree-sitter.ts";
import { type AbsPath, extName, inRoot, type RepoPath } from "../../base/paths.ts";
import { count } from "../../base/lines.ts";
import { type LoadedPack, loadPacks, mainPack } from "../../features/packs.ts";
import { featuresIn, openProject } from "../../features/registry-space.ts";
import { OrchError } from "../../model/error.ts";
import { readJson } from "../../model/json-text.ts";
import { Config, ModelChainFile, ModelConfigFile } from "../../model/config.ts";
import type { RuleSource } from "../../ports/pool.ts";
import { loadPersonas, type PersonaSource } from "../../prompts/persona.ts";
import { loadRules } from "../../rulebook/load.ts";
import { createRuleRunner } from "../../rulebook/run.ts";
import { type AnywhereContext, userFile } from "../anywhere.ts";
import { projectConfigPath } from "../config-layers.ts";
import { projectPacks } from "../project-packs.ts";
import { installedPersonas, projectPersonas } from "../project-personas.ts";
import { installedRules, projectRules } from "../project-rules.ts";
import { type CheckRow, ok, refusedRow } from "./check.ts";

/** Every settings file that is there: valid, or the line that is not. An untrusted one is judged too, and has no effect. */
export async function settingsRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository, files } = context;
  const read: [AbsPath, string, (text: string) => ReturnType<typeof readJson>][] = [
    [userFile(context, "config.json"), "", (text) => readJson(text, Config, { trailingCommas: true })],
    [userFile(context, "model_config.json"), "", (text) => readJson(text, ModelConfigFile)],
    [userFile(context, "model_chain.json"), "", (text) => readJson(text, ModelChainFile)],
  ];
  if (repository.kind === "open") {
    const trusted = await repository.trust.trustedFile(projectConfigPath).catch(() => undefined);
    const effect = trusted === undefined ? ", not trusted and so without effect" : "";
    read.push([
      inRoot(repository.root, projectConfigPath),
      effect,
      (text) => readJson(text, Config, { trailingCommas: true }),
    ]);
  }
  const rows: CheckRow[] = [];
  const good: string[] = [];
  for (const [path, note, parse] of read) {
    const text = await files.readText(path);
    const result = text === undefined ? undefined : parse(text);
    if (result?.kind === "ok") good.push(`${path}${note}`);
    if (result?.kind !== "bad") continue;
    const { line, message } = result.fault;
    rows.push(
      refusedRow(
        "settings",
        "fail",
        new OrchError("config.invalid", `${path}:${line}: ${message}${note}`, { data: { path, line } }),
      ),
    );
  }
  if (rows.length > 0) return rows;
  return [
    ok("settings", good.length === 0 ? "no file: the defaults hold" : `${count(good.length, "file")} valid`, good),
  ];
}

export async function registryRows({ repository, files }: AnywhereContext): Promise<readonly CheckRow[]> {
  if (repository.kind === "none") return [];
  try {
    const project = await openProject(files, repository.root);
    const [{ registry }] = project.spaces;
    if ((await files.stat(inRoot(repository.root, registry.path))) === undefined)
      return [ok("registry", `no ${registry.path} yet: orch new makes it`)];
    const features = project.spaces.reduce((sum, space) => sum + featuresIn(project, space).length, 0);
    const apps = project.spaces.length - 1;
    return [
      ok("registry", `${registry.path}: ${count(features, "feature")}${apps === 0 ? "" : `, ${count(apps, "app")}`}`),
    ];
  } catch (error) {
    return [refusedRow("registry", "fail", error)];
  }
}

/** Broken rules by file and line; queries are compiled, since only that shows whether they can be. */
export async function ruleRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository, settings, machine } = context;
  const own = { ...context, config: settings.config };
  const loaded =
    repository.kind === "open"
      ? await projectRules({ ...own, root: repository.root, trust: repository.trust })
      : { sources: await installedRules(context), switches: settings.config.rules };
  const book = loadRules(loaded);
  using runner = createRuleRunner(book, createTreeSitterSyntax(machine.installRoot));
  for (const { pack } of await packsHere(context)) {
    for (const extension of pack.extensions) await runner.file({ path: `sample${extension}`, text: "\n" });
  }
  const broken = runner.broken();
  const rules = book.sets.reduce((sum, set) => sum + set.rules.length, 0);
  const from = loaded.sources.filter((source: RuleSource) => source.project).length;
  if (broken.length === 0)
    return [
      ok(
        "rules",
        `${count(rules, "rule")} in ${count(book.sets.length, "set")}${from === 0 ? "" : `, ${count(from, "file")} of this project`}`,
      ),
    ];
  return broken.map(({ path, line, rule, reason, whole }) => ({
    title: "rules",
    state: "fail",
    what: `${path}:${line}${rule === undefined ? "" : ` (${rule})`}: ${reason}; ${whole === true ? "none of its rules holds, the other files do" : "left out, the others run"}`,
    next: `Mend ${path} at line ${line}`,
  }));
}

export async function personaRows(context: AnywhereContext): Promise<readonly CheckRow[]> {
  const { repository } = context;
  const installed = await installedPersonas(context);
  const rows = [...readable(installed)];
  if (repository.kind === "open") {
    try {
      await projectPersonas({ ...context, root: repository.root, trust: repository.trust });
    } catch (error) {
      rows.push(refusedRow("personas", "fail", error));
    }
  }
  return rows.length > 0
    ? rows
    : [
        ok(
          "personas",
          `${count(installed.filter(({ path }) => !path.endsWith("README.md")).length, "persona")} readable`,
        ),
      ];
}

function readable(sources: readonly PersonaSource[]): readonly CheckRow[] {
  return sources.flatMap((source) => {
    try {
      loadPersonas([source]);
      return [];
    } catch (error) {
      return [refusedRow("personas", "fail", error)];
    }
  });
}

/**
 * Which program runs a language's tests here. Asking a project's own interpreter runs its code, so before trust only
 * the machine's programs are asked, from an empty folder.
 */
export async function testRows(context: AnywhereContext, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const { repository, process, files, machine, ids } = context;
  const folder = inRoot(machine.stateDir, "short", ids.next("marker"));
  await files.makeDir(folder, { mode: 0o700 });
  try {
    const trusted = repository.kind === "open" && (await repository.trust.mayRunCode().catch(() => false));
    const root = trusted ? repository.root : folder;
    const runner = createTestRunner({ process, files, machine, home: inRoot(folder, "home") });
    const rows: CheckRow[] = [];
    const packs = await packsHere(context);
    const needed = await languagesHere(context, packs);
    for (const { pack } of packs) {
      const subject = { root, tests: "Tests" as RepoPath, dir: "." as RepoPath };
      const chosen = await runner.choose(pack, subject, signal);
      const title = `tests, ${pack.title}`;
      if (chosen.kind === "missing-tool" && !needed.has(pack.lang)) {
        rows.push(ok(title, `nothing here runs them, and no ${pack.title} is in this project`));
        continue;
      }
      if (chosen.kind === "missing-tool") {
        rows.push({ title, state: "warn", what: `nothing here runs them`, next: chosen.message });
        continue;
      }
      const ownOnly = repository.kind === "open" && !trusted ? "; the project's own is asked after orch trust" : "";
      rows.push(ok(title, `${await placed(context, chosen.command.runner)}${ownOnly}`));
    }
    return rows;
  } catch (error) {
    return [refusedRow("tests", "fail", error)];
  } finally {
    await files.remove(folder);
  }
}

/** The languages that the project is written in or begins with; outside a project any may come. */
async function languagesHere(
  { repository }: AnywhereContext,
  packs: readonly LoadedPack[],
): Promise<ReadonlySet<string>> {
  if (repository.kind === "none") return new Set(packs.map(({ pack }) => pack.lang));
  const paths = await repository.git.listFiles();
  const written = packs.filter(({ pack }) => paths.some((file) => pack.extensions.includes(extName(file))));
  return new Set([...written, mainPack(packs, paths) ?? []].flat().map(({ pack }) => pack.lang));
}

/** The command with the place of its program: `python3 -m pytest` may be any python3. */
async function placed({ process, machine }: AnywhereContext, runner: string): Promise<string> {
  const [program = "", ...rest] = runner.split(" ");
  const place = program.includes("/") ? undefined : await process.which(program, machine.env["PATH"] ?? "");
  return place === undefined ? runner : [place, ...rest].join(" ");
}

async function packsHere(context: AnywhereContext): Promise<readonly LoadedPack[]> {
  const { repository, files, machine } = context;
  if (repository.kind === "none") return loadPacks(files, inRoot(machine.installRoot, "rules"), []);
  try {
    return await projectPacks({ ...context, root: repository.root, trust: repository.trust });
  } catch {
    // Named by the rules' line; what comes with Orch still holds.
    return loadPacks(files, inRoot(machine.installRoot, "rules"), []);
  }
}
