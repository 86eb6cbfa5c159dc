import { count } from "../base/lines.ts";
import { inRoot, isInside, type RepoPath } from "../base/paths.ts";
import { nameSome } from "../features/branches.ts";
import { registryFate, type RegistryFate } from "../features/unregister.ts";
import { OrchError } from "../model/error.ts";
import { noRemoteText } from "../model/no-remote.ts";
import { targetText } from "../model/target.ts";
import type { StatusEntry } from "../ports/git.ts";
import type { RepoContext } from "./context.ts";
import type { FeatureSubject } from "./feature-branch.ts";
import { canFastForward, type MainLine } from "./main-line.ts";
import { overwrittenBy } from "./overwritten.ts";

/**
 * What `undo` would do, in numbers. Made before the question and once more after it: only the same plan is carried
 * out.
 */
export interface UndoPlan {
  readonly subject: FeatureSubject;
  readonly line: MainLine;
  /** Where the checkout goes: main, fast-forwarded when that is possible. */
  readonly goal: string;
  /** Main has the feature, which goes on there without the branch. */
  readonly onMain: boolean;
  /** Commits that are only on the branch. */
  readonly commits: number;
  /** Uncommitted files of the slice that go, by what they are. */
  readonly files: FileNumbers;
  readonly names: readonly RepoPath[];
  /** What is stored and then removed. */
  readonly paths: readonly RepoPath[];
  readonly registry: RegistryFate;
  readonly remote: RemoteFate;
}

export interface FileNumbers {
  readonly staged: number;
  readonly unstaged: number;
  readonly untracked: number;
  readonly ignored: number;
}

export type RemoteFate =
  | { readonly kind: "none" }
  /** There are several remotes and none is chosen: on none of them anything was looked at. */
  | { readonly kind: "unchosen"; readonly why: string }
  | { readonly kind: "delete"; readonly remote: string; readonly expected: string }
  /** The remote branch has commits that are not here: somebody else's work. */
  | { readonly kind: "newer"; readonly remote: string; readonly commits: number }
  | { readonly kind: "kept"; readonly remote: string; readonly why: string };

export interface UndoOptions {
  readonly push: boolean;
  /** Why the remote could not be reached. */
  readonly offline: string | undefined;
}

/**
 * Reads only.
 *
 * @throws OrchError `tree.dirty` when the way to main would overwrite a file of the person's outside the slice
 */
export async function planUndo(
  context: RepoContext,
  subject: FeatureSubject,
  line: MainLine,
  options: UndoOptions,
): Promise<UndoPlan> {
  const { git } = context;
  const { feature, branch, head } = subject;
  const goal = canFastForward(line) && line.there !== undefined ? line.there : line.tip;
  const onMain = head.branch === line.branch;
  const held = (await git.filesAt(goal, feature.dir)).length > 0;
  const status = await git.status({ ignoredIn: feature.dir });
  // On main, loose files of a slice that no commit of main has are what the feature's branch left behind.
  const takesFiles = subject.here || (onMain && (await git.filesAt(head.commit, feature.dir)).length === 0);
  const loose = takesFiles ? status.filter((entry) => isInside(entry.path, feature.dir)) : [];
  const going = loose.filter((entry) => !held || entry.index !== "!");
  const registry = takesFiles ? await registryPlan(context, subject, goal, status) : { kind: "none" as const };
  const plan = {
    subject,
    line,
    goal,
    onMain: held,
    commits: (await git.commitsOnly(branch.commit, goal)).length,
    files: numbersOf(going),
    names: going.map((entry) => entry.path),
    paths: await pathsOf(context, subject, { takesFiles, held, going, registry }),
    registry,
    remote: await remoteFate(context, subject, line, options),
  };
  if (subject.here) await refuseOthers(context, plan, head.commit);
  return plan;
}

/** The question, in numbers. */
export function undoQuestion(plan: UndoPlan): { readonly title: string; readonly detail: string } {
  const { subject, files } = plan;
  const kinds = (["staged", "unstaged", "untracked", "ignored"] as const)
    .filter((kind) => files[kind] > 0)
    .map((kind) => `${files[kind]} ${kind}`);
  const loose = plan.names.length;
  const parts = [
    count(plan.commits, "commit"),
    `${count(loose, "uncommitted file")}${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}`,
    `the branch ${subject.branch.name} here${plan.remote.kind === "delete" ? ` and on ${plan.remote.remote}` : ""}`,
  ];
  const title = `Discard ${targetText(subject.feature.target)}: ${parts.join(", ")}?`;
  const detail = [
    ...(loose === 0 ? [] : [`Files: ${nameSome(plan.names, 20)}`]),
    "All of it is stored first; orch restore brings it back",
  ].join("\n");
  return { title, detail };
}

/** Equal plans go on, others ask again: what is compared is what the question said. */
export function samePlan(a: UndoPlan, b: UndoPlan): boolean {
  const key = (plan: UndoPlan): string =>
    JSON.stringify([
      plan.subject.branch,
      plan.commits,
      plan.files,
      plan.names,
      plan.paths,
      plan.registry.kind,
      plan.remote,
    ]);
  return key(a) === key(b);
}

async function registryPlan(
  context: RepoContext,
  subject: FeatureSubject,
  goal: string,
  status: readonly StatusEntry[],
): Promise<RegistryFate> {
  const { feature, head } = subject;
  const changed = status.some((entry) => entry.path === feature.registry && entry.index !== "!");
  if (!changed) return { kind: "none" };
  const at = async (commit: string): Promise<string | undefined> => {
    const bytes = await context.git.fileAt(commit, feature.registry);
    return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
  };
  const working = (await context.files.readText(inRoot(context.root, feature.registry))) ?? "{}";
  const texts = { working, head: await at(head.commit), goal: await at(goal) };
  return registryFate(texts, feature.target, feature.registry);
}

async function pathsOf(
  context: RepoContext,
  subject: FeatureSubject,
  facts: {
    readonly takesFiles: boolean;
    readonly held: boolean;
    readonly going: readonly StatusEntry[];
    readonly registry: RegistryFate;
  },
): Promise<readonly RepoPath[]> {
  if (!facts.takesFiles) return [];
  const { feature } = subject;
  const paths: RepoPath[] = [];
  // Main has no such slice: the whole folder goes, with the ignored files and empty folders in it.
  if (facts.held) paths.push(...facts.going.map((entry) => entry.path));
  else if ((await context.files.stat(inRoot(context.root, feature.dir))) !== undefined) paths.push(feature.dir);
  else paths.push(...facts.going.map((entry) => entry.path));
  if (facts.registry.kind === "reset" || facts.registry.kind === "remove") paths.push(feature.registry);
  return paths;
}

function numbersOf(entries: readonly StatusEntry[]): FileNumbers {
  const isLoose = (entry: StatusEntry): boolean => entry.index === "?" || entry.index === "!";
  return {
    staged: entries.filter((entry) => !isLoose(entry) && entry.index !== ".").length,
    unstaged: entries.filter((entry) => !isLoose(entry) && entry.index === ".").length,
    untracked: entries.filter((entry) => entry.index === "?").length,
    ignored: entries.filter((entry) => entry.index === "!").length,
  };
}

async function remoteFate(
  context: RepoContext,
  subject: FeatureSubject,
  line: MainLine,
  options: UndoOptions,
): Promise<RemoteFate> {
  const { git } = context;
  const { branch } = subject;
  // Its own: main may follow another one.
  const remote = await git.remote(branch.name);
  if (remote === undefined) {
    return line.unchosen.length === 0 ? { kind: "none" } : { kind: "unchosen", why: noRemoteText(line.unchosen) };
  }
  const there = await git.resolve(`refs/remotes/${remote}/${branch.name}`);
  if (there === undefined) return { kind: "none" };
  if (!options.push) return { kind: "kept", remote, why: "--no-push" };
  if (options.offline !== undefined) return { kind: "kept", remote, why: options.offline };
  if (there !== branch.commit && !(await git.isAncestor(there, branch.commit))) {
    return { kind: "newer", remote, commits: (await git.commitsOnly(there, branch.commit)).length };
  }
  return { kind: "delete", remote, expected: there };
}

async function refuseOthers(context: RepoContext, plan: UndoPlan, from: string): Promise<void> {
  const { feature } = plan.subject;
  const isOurs = (path: RepoPath): boolean =>
    isInside(path, feature.dir) || (path === feature.registry && plan.registry.kind !== "blocked");
  const paths = (await overwrittenBy(context, from, plan.goal)).filter((path) => !isOurs(path));
  const blocked = plan.registry.kind === "blocked" && !paths.includes(feature.registry);
  const all = blocked ? [...paths, feature.registry] : paths;
  if (all.length === 0) return;
  throw new OrchError("tree.dirty", `going to ${plan.line.branch} would overwrite ${nameSome(all)}`, {
    data: { paths: all },
  });
}
