import { dirName, inRoot, type RepoPath, repoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { parseRegistry, updateRegistry, withFeature, withMoved, withoutFeature } from "../features/registry.ts";
import { knownDomain } from "../features/resolve.ts";
import { parseSpec } from "../features/spec.ts";
import { OrchError } from "../model/error.ts";
import { readJson } from "../model/json-text.ts";
import { MoveJournal } from "../model/move-journal.ts";
import { type Target, targetText } from "../model/target.ts";
import type { HereContext } from "./known-feature.ts";
import type { MovePlan } from "./plan-move.ts";
import { type Rejoined, rejoin, standingOf } from "./move-rejoin.ts";
import { type BackStep, putBack } from "./put-back.ts";

/**
 * The steps of `move` up to the tests, and what undoes them. The journal in the run folder is written before each step,
 * and undoing looks at what is there: so it is one thing for a red test and for a runner that died anywhere.
 */
const journalName = "move.json";

type MoveContext = HereContext;

export async function readMoveJournal({ files, runDir }: MoveContext): Promise<MoveJournal | undefined> {
  const text = await files.readText(inRoot(runDir, journalName));
  if (text === undefined) return undefined;
  const read = readJson(text, MoveJournal);
  if (read.kind === "ok") return read.value;
  throw new OrchError("file.invalid", `${journalName}:${read.fault.line}: ${read.fault.message}`, {
    data: { path: inRoot(runDir, journalName), line: read.fault.line },
  });
}

export interface UndoneMove {
  readonly whole: boolean;
  /** Saved by a person at the old place meanwhile. */
  readonly kept: readonly RepoPath[];
  /** Entry that holds the slice's own files of those names. */
  readonly stored?: string;
}

/** Branch, folder, title of the spec, registry. Rejects with the journal kept, for `undoMove`. */
export async function carryOutMove(context: MoveContext, plan: MovePlan): Promise<MoveJournal> {
  const { files, root } = context;
  const { feature } = plan.known;
  let journal = await save(context, await startOf(context, plan));
  await enterFinalBranch(context, plan);
  const parent = inRoot(root, dirName(feature.dir));
  journal = await save(context, {
    ...journal,
    parentMode: (await files.stat(parent))?.mode,
    made: await missingFolders(context, plan.to.dir),
    files: await fileSteps(context, plan),
  });
  await files.makeDir(inRoot(root, dirName(plan.to.dir)));
  await files.rename(inRoot(root, feature.dir), inRoot(root, plan.to.dir));
  await files.removeEmptyDir(parent);
  for (const step of journal.files) await takeStep(context, step);
  return journal;
}

/**
 * Puts everything back: files that this run wrote and nobody changed since, the folder, the branch. Steps that were not
 * taken are nothing to undo. What could not be put back is told then, and what was saved at the old place meanwhile.
 */
export async function undoMove(context: MoveContext, journal: MoveJournal): Promise<UndoneMove> {
  const { files, root, git } = context;
  const { branch } = journal;
  let saved: Rejoined | undefined;
  const from = inRoot(root, journal.from);
  const to = inRoot(root, journal.to);
  const steps: BackStep[] = [
    async () => {
      const head = await git.head();
      const here = head.kind === "branch" ? head.branch : undefined;
      if (branch.kind === "make") {
        if (here === branch.final) await git.switch(branch.before);
        if ((await git.resolve(`refs/heads/${branch.final}`)) === journal.base)
          await git.delete(branch.final, journal.base);
        return;
      }
      if (here === branch.final) await git.rename(branch.final, branch.own, branch.record);
      if (branch.kind === "enter" && here !== branch.before) await git.switch(branch.before);
    },
    async () => {
      const [stood, moved] = [await files.stat(from), (await files.stat(to)) !== undefined];
      if (moved && stood?.kind === "directory") {
        saved = await rejoin(context, pathOf({ path: journal.to }), pathOf({ path: journal.from }));
      } else if (moved && stood === undefined) {
        const { parentMode } = journal;
        const parent = inRoot(root, dirName(journal.from));
        const gone = (await files.stat(parent)) === undefined;
        await files.makeDir(parent);
        if (gone && parentMode !== undefined) await files.chmod(parent, parentMode);
        await files.rename(to, from);
      }
      for (const folder of journal.made.toReversed()) await files.removeEmptyDir(inRoot(root, folder));
    },
    ...journal.files.map(
      (one): BackStep =>
        () =>
          takeBack(context, journal, one),
    ),
  ];
  const whole = await putBack(context.editor, steps);
  if (saved !== undefined && saved.kept.length > 0) {
    const { kept, stored } = saved;
    context.editor.notify({
      severity: "warning",
      text: `saved at its old place while it was moved, and left as it is: ${nameSome(kept)}`,
      ...(stored === undefined
        ? {}
        : { hint: `What the move had there comes back beside it with: orch restore ${stored.id}` }),
    });
  }
  return { whole, kept: saved?.kept ?? [], ...(saved?.stored === undefined ? {} : { stored: saved.stored.id }) };
}

async function save({ files, runDir }: MoveContext, journal: MoveJournal): Promise<MoveJournal> {
  await files.makeDir(runDir, { mode: 0o700 });
  await files.write(inRoot(runDir, journalName), `${JSON.stringify(journal)}\n`, { mode: 0o600 });
  return journal;
}

async function startOf({ git }: MoveContext, plan: MovePlan): Promise<MoveJournal> {
  const { feature, head } = plan.known;
  const own = plan.branch.branch;
  const base = plan.branch.kind === "make" ? plan.branch.from : await git.resolve(`refs/heads/${own}`);
  const record = (await git.branches()).find(({ name }) => name === own)?.orch ?? "";
  const [from, to] = [targetText(feature.target), targetText(plan.to.target)];
  return {
    v: 1,
    message: `move: ${from} -> ${to}`,
    from: feature.dir,
    to: plan.to.dir,
    target: from,
    newTarget: to,
    registry: feature.registry,
    base: base ?? head.commit,
    branch: { kind: plan.branch.kind, before: head.branch, own, record, final: plan.final },
    made: [],
    files: [],
  };
}

async function enterFinalBranch({ git }: MoveContext, plan: MovePlan): Promise<void> {
  const { branch, final, to } = plan;
  const target = targetText(to.target);
  if (branch.kind === "make") {
    await git.create(final, branch.from, target);
    await git.switch(final);
    return;
  }
  if (branch.kind === "enter") await git.switch(branch.branch);
  // Of the same name it is still another feature's from now on.
  await git.rename(branch.branch, final, target);
}

async function missingFolders({ files, root }: MoveContext, dir: RepoPath): Promise<string[]> {
  const missing: string[] = [];
  for (let at = dirName(dir); at !== "."; at = dirName(at)) {
    if ((await files.stat(inRoot(root, at))) === undefined) missing.unshift(at);
  }
  return missing;
}

/** The registry's bytes, and those of spec.md where its title is the old name, which the format asks to be the feature's. */
async function fileSteps(context: MoveContext, plan: MovePlan): Promise<MoveJournal["files"]> {
  const { files, root } = context;
  const { feature } = plan.known;
  const steps: MoveJournal["files"] = [];
  const spec = await files.read(inRoot(root, feature.spec));
  const renamed = spec === undefined ? undefined : titled(spec, feature.target.name, plan.to.target.name);
  if (spec !== undefined && renamed !== undefined) steps.push(step(plan.to.spec, spec, renamed));
  for (const path of new Set([feature.registry, plan.to.registry])) {
    const before = await files.read(inRoot(root, path));
    const text = before === undefined ? undefined : new TextDecoder("utf-8", { ignoreBOM: true }).decode(before);
    const after = registryText(plan, path, text);
    if (after !== undefined && after !== text) steps.push(step(path, before, new TextEncoder().encode(after)));
  }
  return steps;
}

function registryText(plan: MovePlan, path: RepoPath, text: string | undefined): string | undefined {
  const { feature } = plan.known;
  const from = feature.target;
  const isHere = text !== undefined && knownDomain(parseRegistry(text, path), from.name) === from.domain;
  if (path !== plan.to.registry) return isHere ? withoutFeature(text, from.name) : undefined;
  return isHere && path === feature.registry
    ? withMoved(text, from, plan.to.target)
    : withFeature(text, plan.to.target);
}

/** Undefined when the title is not exactly the old name. */
function titled(bytes: Uint8Array, from: string, to: string): Uint8Array | undefined {
  if (from === to) return undefined;
  const text = Buffer.from(bytes).toString("latin1");
  const { title } = parseSpec(text);
  if (title?.text !== from) return undefined;
  const lines = text.split("\n");
  const line = lines[title.line - 1] ?? "";
  lines[title.line - 1] = line.replace(from, to);
  return Buffer.from(lines.join("\n"), "latin1");
}

type Step = MoveJournal["files"][number];

function step(path: RepoPath, before: Uint8Array | undefined, after: Uint8Array): Step {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
  return { path, before: before === undefined ? null : text(before), after: text(after) };
}

const bytesOf = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, "base64"));

async function takeStep(context: MoveContext, one: Step): Promise<void> {
  const { files, root } = context;
  const path = pathOf(one);
  if (isSpec(path)) return await writeSpec(context, path, bytesOf(one.before ?? ""), bytesOf(one.after));
  const before = one.before === null ? undefined : Buffer.from(one.before, "base64").toString("utf8");
  await updateRegistry(files, root, path, (text) => {
    if (text !== before) {
      throw new OrchError("tree.changed", `${path} changed meanwhile, so nothing was moved`, {
        data: { paths: [path] },
      });
    }
    return Buffer.from(one.after, "base64").toString("utf8");
  });
}

/** A person writes specs, and may save this one right now. */
async function writeSpec(
  { git, files, root }: MoveContext,
  path: RepoPath,
  old: Uint8Array,
  data: Uint8Array,
): Promise<void> {
  const replaced = await git.replaceFiles("move", [{ path, old: standingOf(old), next: { kind: "file", data } }]);
  if (replaced.kind === "elsewhere") return await files.write(inRoot(root, path), data);
  if (replaced.kind === "written") return;
  throw new OrchError("tree.changed", `${path} was edited meanwhile and stays as it is`, { data: { paths: [path] } });
}

async function takeBack(context: MoveContext, journal: MoveJournal, one: Step): Promise<void> {
  const { files, root } = context;
  const path = pathOf(one);
  const place = inRoot(root, path);
  const now = await files.read(place);
  if (now === undefined || (one.before !== null && Buffer.from(now).equals(bytesOf(one.before)))) return;
  if (Buffer.from(now).equals(bytesOf(one.after))) {
    if (one.before === null) await files.remove(place);
    else if (isSpec(path)) await writeSpec(context, path, now, bytesOf(one.before));
    else await files.write(place, bytesOf(one.before));
  } else if (!isSpec(path)) {
    // Somebody else's edit stays; only this move's entry goes back.
    await updateRegistry(files, root, path, (text) => entryBack(text ?? "{}", journal, path));
  } else {
    throw new OrchError("tree.changed", `${path} was edited meanwhile and stays as it is`, { data: { paths: [path] } });
  }
}

function entryBack(text: string, journal: MoveJournal, path: RepoPath): string {
  const [from, to] = [targetOf(journal.target), targetOf(journal.newTarget)];
  const has = (target: Target): boolean => knownDomain(parseRegistry(text, path), target.name) === target.domain;
  if (path !== journal.registry) return has(to) ? withoutFeature(text, to.name) : text;
  if (has(to)) return withMoved(text, to, from);
  return has(from) ? text : withFeature(text, from);
}

function targetOf(text: string): Target {
  const [domain = "", name = ""] = text.split("/");
  return { domain, name };
}

const isSpec = (path: string): boolean => path.endsWith("/spec.md");

function pathOf({ path }: Pick<Step, "path">): RepoPath {
  const checked = repoPath(path);
  if (checked === undefined) throw new OrchError("path.refused", `${path} leaves the repository`, { data: { path } });
  return checked;
}
