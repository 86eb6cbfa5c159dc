import { throwIfAborted } from "../../base/abort.ts";
import { count } from "../../base/lines.ts";
import { shellWord } from "../../base/shell-word.ts";
import {
  type AbsPath,
  absPath,
  baseName,
  below,
  dirName,
  inRoot,
  isInside,
  type RepoPath,
  repoPath,
} from "../../base/paths.ts";
import { leftOut, type LeftOut } from "../../features/init-files.ts";
import type { CommandResult } from "../../model/command-result.ts";
import { OrchError } from "../../model/error.ts";
import { linkAgents } from "../agents-link.ts";
import type { Handler, RepoContext } from "../context.ts";
import type { InitContext } from "../init-context.ts";
import { type LoadedKit, loadInitKit } from "../init-kit.ts";
import { initFolder } from "../init-place.ts";
import { requireIdentity, requireNoOperation } from "../preconditions.ts";
import { type BackStep, putBack } from "../put-back.ts";
import { withRepositoryLock } from "../repository-lock.ts";

/**
 * `init <path>/<name>`, `init .`: a project of Orch's, from nothing or around what is there. Adds what is missing,
 * overwrites nothing, and commits exactly what it added. A prompt is for the command after it. When a step fails, what was added goes.
 */
export const init: Handler<InitContext> = async (context, args, signal) => {
  const { files } = context;
  const folder = await initFolder(files, context.cwd, args.words[0] ?? "");
  const root = await context.findRoot(folder, signal);
  const names = await topNames(context, folder);
  const [word = "", ...more] = args.words;
  const asked = [...more, ...(args.prompt === undefined ? [] : [args.prompt])].join(" ").trim();
  const plan: InitPlan = { folder, root, names, word, asked };
  if (root === undefined && (await files.stat(inRoot(folder, ".git"))) !== undefined) {
    throw new OrchError("path.refused", `${folder}/.git is there, and git does not take it for a repository`, {
      data: { path: folder },
    });
  }
  if (args.dryRun)
    return foretold(
      plan,
      await missing(
        context,
        plan,
        names.flatMap((name) => repoPath(name) ?? []),
        signal,
      ),
    );
  throwIfAborted(signal);
  const back: BackStep[] = [];
  try {
    await makeFolder(context, folder, back);
    if (root === undefined) await context.makeRepository(folder, signal);
    await using opened = await context.openRepository(folder, signal);
    const repository = opened.context;
    return await withRepositoryLock({ ...repository, run: context.run }, "init", signal, async () => {
      const steps: BackStep[] = root === undefined ? [() => removeFresh(repository, folder)] : [];
      try {
        return await fill(context, repository, plan, steps, signal);
      } catch (error) {
        // Still under the lock: nobody else fills the same repository meanwhile.
        await putBack(context.editor, steps);
        throw error;
      }
    });
  } catch (error) {
    await putBack(context.editor, back);
    throw error;
  }
};

interface InitPlan {
  readonly folder: AbsPath;
  /** Top of the checkout that holds the folder; undefined when `init` makes one. */
  readonly root: AbsPath | undefined;
  /** What lies in the folder. */
  readonly names: readonly string[];
  /** As typed. */
  readonly word: string;
  /** What was asked for, empty for nothing. No feature is made yet, so the next command says it again. */
  readonly asked: string;
}

interface Missing {
  readonly write: LoadedKit["files"];
  readonly kept: readonly { readonly path: string; readonly why: LeftOut }[];
}

async function fill(
  context: InitContext,
  repository: RepoContext,
  plan: InitPlan,
  back: BackStep[],
  signal: AbortSignal,
): Promise<CommandResult> {
  const { git, files, root } = repository;
  await requireNoOperation(git);
  const head = await git.head();
  if (head.kind === "detached") {
    throw new OrchError("tree.detached", "HEAD is detached: no branch is checked out", {
      data: { branch: await git.defaultBranch() },
    });
  }
  await requireIdentity(git);
  const inside = below(slashed(plan.folder), slashed(root)) ?? "";
  const { write, kept } = await missing(context, plan, await git.listFiles(), signal);
  const written: RepoPath[] = [];
  for (const { path, text } of write) {
    throwIfAborted(signal);
    const place = inRoot(plan.folder, path);
    const name = repoPath(inside === "" ? path : `${inside}/${path}`);
    if (name === undefined || !(await files.createOnce(place, text))) continue;
    written.push(name);
    back.push(async () => {
      if ((await files.readText(place)) === text) await files.remove(place);
    });
  }
  const links = await linkAgents(repository, inside);
  for (const made of links.made) back.push(() => files.remove(inRoot(root, made)));
  throwIfAborted(signal);
  const trusted = await trustOwn(repository, plan, back);
  const commit = written.length === 0 ? undefined : await commitAdded(context, repository, plan, { written, trusted });
  return done(plan, { written, kept, links, commit, branch: head.branch, trusted, root });
}

/**
 * What `init` made is trusted: nothing in it came from elsewhere. A folder that held files before is not, for nobody has
 * looked at them.
 */
async function trustOwn({ trust }: RepoContext, plan: InitPlan, back: BackStep[]): Promise<boolean> {
  if (plan.root === undefined && plan.names.length === 0) {
    back.push(() => trust.revoke());
    await trust.grant(await trust.state());
  }
  return trust.mayRunCode();
}

async function commitAdded(
  context: InitContext,
  { git }: RepoContext,
  plan: InitPlan,
  added: { readonly written: readonly RepoPath[]; readonly trusted: boolean },
): Promise<string> {
  const message = `init: ${baseName(plan.folder)}`;
  const commit = await git.commitPaths({ paths: added.written, message, trusted: added.trusted });
  const head = await git.head();
  const branch = head.kind === "branch" ? head.branch : "main";
  context.sink.append({ type: "commit.made", commit, branch, subject: message, pushed: false });
  return commit;
}

async function missing(
  context: InitContext,
  plan: InitPlan,
  paths: readonly RepoPath[],
  signal: AbortSignal,
): Promise<Missing> {
  const kit = await loadInitKit(context, { folder: plan.folder, paths }, signal);
  const looked = kit.files.map((file) => ({ file, why: leftOut(file.path, plan.names, kit.rules) }));
  return {
    write: looked.flatMap(({ file, why }) => (why === undefined ? [file] : [])),
    kept: looked.flatMap(({ file, why }) => (why === undefined ? [] : [{ path: file.path, why }])),
  };
}

async function makeFolder({ files }: InitContext, folder: AbsPath, back: BackStep[]): Promise<void> {
  let top: AbsPath | undefined;
  for (let at = folder; (await files.stat(at)) === undefined; at = absPath(dirName(at))) top = at;
  if (top === undefined) return;
  const first = top;
  back.push(async () => {
    for (let at: string = folder; isInside(at, first); at = dirName(at)) {
      if (!(await files.removeEmptyDir(absPath(at)))) break;
    }
  });
  await files.makeDir(folder);
}

/** The repository that this call made, while nothing was ever committed in it. */
async function removeFresh({ git, files }: RepoContext, folder: AbsPath): Promise<void> {
  if ((await git.head()).kind === "unborn") await files.remove(inRoot(folder, ".git"));
}

/** Orch's own runs are nobody's work. */
async function topNames({ files }: InitContext, folder: AbsPath): Promise<readonly string[]> {
  const names = ((await files.list(folder)) ?? []).map(({ name }) => name).filter((name) => name !== ".git");
  const own = ((await files.list(inRoot(folder, ".orch"))) ?? []).map(({ name }) => name);
  return names.filter((name) => name !== ".orch" || own.some((one) => one !== "runs"));
}

interface Done {
  readonly written: readonly RepoPath[];
  readonly kept: Missing["kept"];
  readonly links: { readonly made: readonly string[]; readonly foreign: readonly string[] };
  readonly commit: string | undefined;
  readonly branch: string;
  readonly trusted: boolean;
  readonly root: AbsPath;
}

function done(plan: InitPlan, made: Done): CommandResult {
  const { written, kept, links, commit, branch, trusted } = made;
  const name = baseName(plan.folder);
  const added = [...written, ...links.made];
  const what = [
    ...(plan.root === undefined ? [`repository on ${branch}`] : []),
    ...(added.length === 0 ? ["nothing was missing"] : [`${added.join(", ")} added`]),
    ...(commit === undefined
      ? []
      : [
          `${plan.root === undefined ? "first commit" : "commit"} ${commit.slice(0, 10)}${plan.root === undefined ? "" : ` on ${branch}`}`,
        ]),
  ];
  const notes = [
    ...kept.flatMap(({ path, why }) => noteOf(path, why)),
    ...links.foreign.map((path) => `${path} is not Orch's and stays as it is`),
    ...(trusted ? [] : [untrusted(plan)]),
  ];
  return {
    ok: true,
    code: 0,
    summary: [`${name}: ${what.join(", ")}`, ...notes].join(". "),
    next: [
      ...(isHere(plan) ? [] : [`cd ${typedFolder(plan)}`]),
      ...(trusted ? [] : ["orch trust"]),
      `orch new domain/Feature ${plan.asked === "" ? '"what it does"' : shellWord(plan.asked)}`,
    ],
    data: {
      folder: plan.folder,
      root: made.root,
      madeRepository: plan.root === undefined,
      added: written,
      links: links.made,
      kept: kept.map(({ path }) => path),
      notes,
      commit: commit ?? null,
      branch,
      trusted,
    },
  };
}

/** Only what `init` made itself is trusted. */
function untrusted({ root, names }: InitPlan): string {
  const why =
    root === undefined
      ? `${count(names.length, "file")} or folders were here before, so its code is not trusted yet`
      : "The repository was here before, so its code is not trusted yet: do, merge and qa run its tests";
  return `${why}: orch trust`;
}

function foretold(plan: InitPlan, { write, kept }: Missing): CommandResult {
  const names = write.map(({ path }) => path);
  const parts = [
    ...(plan.root === undefined ? [`make a repository on main in ${plan.folder}`] : []),
    names.length === 0 ? "add no file" : `add ${names.join(", ")} and commit exactly that`,
  ];
  return {
    ok: true,
    code: 0,
    summary: `Would ${parts.join(", ")}; nothing was changed`,
    next: [`orch init ${typedFolder(plan)}`],
    data: {
      dryRun: true,
      folder: plan.folder,
      root: plan.root ?? null,
      add: names,
      kept: kept.map(({ path }) => path),
      notes: kept.flatMap(({ path, why }) => noteOf(path, why)),
    },
  };
}

/** A file that is there needs no word. */
function noteOf(path: string, why: LeftOut): readonly string[] {
  switch (why.kind) {
    case "there":
      return [];
    case "instead":
      return [`${path} was left out: ${why.by} says it already`];
    case "second":
      return [`${path} was left out: it would be a second manifest beside ${why.to}`];
  }
}

const isHere = ({ word }: InitPlan): boolean => /^\.?[\\/]*$/.test(word);
/** A folder of Windows goes with slashes in every shell there is. */
const typedFolder = ({ word, folder }: InitPlan): string => shellWord(/^[A-Za-z]:/.test(folder) ? slashed(word) : word);
const slashed = (path: string): string => path.replaceAll("\\", "/");
