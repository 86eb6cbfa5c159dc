import { ignoreFileName, ignoreMatcher } from "../base/ignore.ts";
import { linesOf } from "../base/lines.ts";
import { inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import type { Compose } from "../engine/attempt.ts";
import { isMarkedProtected } from "../features/contract-of.ts";
import { type FewShot, fewShots } from "../features/few-shot.ts";
import { roleFiles } from "../features/packs.ts";
import { scanSlices } from "../features/scan.ts";
import { targetText } from "../model/target.ts";
import { composeAgent } from "../prompts/agent-prompt.ts";
import { composePrompt } from "../prompts/compose.ts";
import { personaNamed } from "../prompts/persona.ts";
import type { DoContext, ProjectGates } from "./do-context.ts";
import type { DoPlan } from "./do-plan.ts";
import { fileTextOf } from "./prompt-text.ts";

/** The slice as text, as it is now; binary files are no prompt. */
export interface SliceText {
  readonly path: RepoPath;
  readonly name: string;
  readonly text: string;
}

export interface SliceMaterial {
  readonly fewShot: readonly FewShot[];
  /** Files of the slice that a person marked as not to be touched. */
  readonly marked: readonly RepoPath[];
  readonly existingLines: number;
}

const maxFileChars = 400_000;

async function sliceTexts(context: Pick<DoContext, "files" | "root">, dir: RepoPath): Promise<readonly SliceText[]> {
  const texts: SliceText[] = [];
  for (const { name, kind } of (await context.files.list(inRoot(context.root, dir))) ?? []) {
    const path = kind === "file" ? repoPath(`${dir}/${name}`) : undefined;
    const bytes = path === undefined ? undefined : await context.files.read(inRoot(context.root, path));
    const text = bytes === undefined ? undefined : fileTextOf(bytes, maxFileChars);
    if (path !== undefined && text !== undefined) texts.push({ path, name, text });
  }
  return texts;
}

export async function gatherMaterial(context: DoContext, plan: DoPlan, signal: AbortSignal): Promise<SliceMaterial> {
  const { files, root, git, config } = context;
  const paths = await git.listFiles();
  const scan = await scanSlices({ files, project: plan.project, packs: plan.packs, paths }, signal);
  const ignored = ignoreMatcher(await files.readText(inRoot(root, ignoreFileName)));
  const fewShot = await fewShots(
    files,
    { root, feature: plan.feature, lang: plan.pack.pack.lang, scan, count: config.features.few_shot_count, ignored },
    signal,
  );
  const texts = await sliceTexts(context, plan.feature.dir);
  return {
    fewShot,
    marked: texts.filter(({ text }) => isMarkedProtected(text)).map(({ path }) => path),
    existingLines: texts.reduce((sum, { text }) => sum + linesOf(text).length, 0),
  };
}

/** The prompt of each attempt, from the tree as it is then. What `.orchignore` names is never put into it. */
export async function promptOf(
  context: DoContext,
  work: {
    readonly plan: DoPlan;
    readonly gates: ProjectGates;
    readonly fewShot: readonly FewShot[];
    readonly request: string;
    /** It reads and writes the files itself. */
    readonly agent: boolean;
  },
): Promise<Compose> {
  const { plan, gates, request } = work;
  const { feature, pack } = plan;
  const persona = personaNamed(await context.personas(), "backend_agent");
  const roles = roleFiles(pack.pack)
    .filter(({ role }) => role !== "controller" || plan.controller)
    .map(({ role, name }) => ({ role, name }));
  const prefix = `${feature.dir}/`;
  return async (ask) => {
    const ignored = ignoreMatcher(await context.files.readText(inRoot(context.root, ignoreFileName)));
    const texts = work.agent ? [] : (await sliceTexts(context, feature.dir)).filter(({ path }) => !ignored(path));
    const others = texts.filter(({ path }) => path !== feature.spec);
    const told = {
      persona,
      contract: ask.contract,
      nonce: context.ids.next("marker"),
      slice: { dir: feature.dir, roles, lang: pack.pack.lang },
      spec: { path: work.agent ? feature.spec : "spec.md", text: plan.spec },
      request,
      rules: gates.rules(pack.pack.lang),
      ...(ask.feedback === undefined ? {} : { feedback: ask.feedback }),
      sameSession: ask.sameSession,
      redact: gates.redact,
    };
    const composed = work.agent
      ? composeAgent(told)
      : composePrompt({
          ...told,
          files: others.map(({ name, text }) => ({ path: name, text })),
          fewShot: work.fewShot.map((shot) => ({
            target: targetText(shot.target),
            files: shot.files.map(({ path, text }) => ({ path, text })),
          })),
        });
    if (composed.redacted.length > 0) {
      context.sink.append({
        type: "progress.noted",
        text: `taken out of the prompt before it is sent: ${composed.redacted.join(", ")}`,
      });
    }
    if (work.agent) return { messages: composed.messages };
    return {
      messages: composed.messages,
      subject: {
        target: feature.target,
        dir: prefix.slice(0, -1),
        pack: pack.pack,
        controller: plan.controller,
        request,
        spec: plan.spec,
        files: Object.fromEntries(others.map(({ name, text }) => [name, text])),
      },
    };
  };
}
