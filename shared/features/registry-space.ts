import { type AbsPath, baseName, dirName, inRoot, isInside, type RepoPath, repoPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Feature } from "../model/feature.ts";
import { type Target, targetText } from "../model/target.ts";
import type { Files } from "../ports/files.ts";
import { readRegistry, type Registry, registryFolder, registryName, rootRegistry } from "./registry.ts";
import { knownTargets, type ResolveFacts } from "./resolve.ts";

/** A set of features whose names are unique: the project itself, or one of its apps. */
export interface Space {
  readonly app?: string;
  readonly featuresDir: RepoPath;
  /** Domains that belong to the app, as its entry lists them. */
  readonly domains: readonly string[];
  readonly registry: Registry;
  /** It is one of several apps with a file of its own, so another one may hold the same names. */
  readonly hasTwins: boolean;
}

/** The spaces of one registry, the project's own first. */
export interface Project {
  readonly root: AbsPath;
  readonly spaces: readonly [Space, ...Space[]];
}

/**
 * Reads the registry that holds for `from` (a folder of the repository; its root when absent): the nearest one upwards,
 * the root's in the end, there or not. An app whose `config` names a `.features.json` has its features in that file.
 *
 * @throws OrchError `registry.invalid`
 */
export async function openProject(files: Files, root: AbsPath, from?: RepoPath): Promise<Project> {
  const registry = await readRegistry(files, root, await nearestRegistry(files, root, from));
  const folder = registryFolder(registry.path);
  const spaces: [Space, ...Space[]] = [
    { featuresDir: joined(folder, registry.file.features_dir), domains: [], registry, hasTwins: false },
  ];
  const apps = Object.entries(registry.file.apps ?? {});
  for (const [app, entry] of apps) {
    const own =
      entry.config !== undefined && baseName(entry.config) === registryName ? joined(folder, entry.config) : undefined;
    spaces.push({
      app,
      featuresDir: joined(folder, entry.features_dir),
      domains: entry.domains ?? [],
      registry: own === undefined || own === registry.path ? registry : await readRegistry(files, root, own),
      // By what is set up and not by the names of the moment: an id must not change under a run that waits.
      hasTwins: apps.length > 1 && own !== undefined && own !== registry.path,
    });
  }
  return { root, spaces };
}

/**
 * The space a feature belongs to: `app` when it is named; else the app that lists the domain or has registered a feature
 * of it in a file of its own; else the project itself.
 *
 * @throws OrchError `usage.invalid` for an unknown app
 */
export function spaceFor(project: Project, want: { readonly app?: string; readonly domain?: string }): Space {
  const { spaces } = project;
  if (want.app !== undefined) {
    const named = spaces.find(({ app }) => app === want.app);
    if (named !== undefined) return named;
    const apps = spaces.flatMap(({ app }) => (app === undefined ? [] : [app]));
    throw new OrchError(
      "usage.invalid",
      apps.length === 0
        ? `There is no app ${want.app}: ${spaces[0].registry.path} defines no apps`
        : `There is no app ${want.app}: ${spaces[0].registry.path} defines ${apps.join(", ")}`,
    );
  }
  const { domain } = want;
  if (domain === undefined) return spaces[0];
  return (
    spaces.find(({ domains }) => domains.includes(domain)) ??
    spaces.find(
      ({ app, registry }) =>
        app !== undefined &&
        registry !== spaces[0].registry &&
        Object.values(registry.file.known_features).includes(domain),
    ) ??
    spaces[0]
  );
}

/**
 * What a target typed by a person is resolved against: one app's file when `app` is named, else all of them, the
 * project's own first. A name that several files hold is listed, so that nobody guesses between them.
 *
 * @throws OrchError `usage.invalid` for an unknown app
 */
export function resolveFacts(project: Project, app?: string): ResolveFacts {
  const featuresDirs = project.spaces.map((space) => space.featuresDir);
  if (app !== undefined) return { file: spaceFor(project, { app }).registry.file, featuresDirs };
  const owners = new Map<Registry, Space>(project.spaces.toReversed().map((space) => [space.registry, space]));
  const known = new Map<string, string>();
  const keywords = new Map<string, [string, string]>();
  const several = new Map<string, string[]>();
  for (const [{ file, path }, space] of [...owners].toReversed()) {
    const owner = space.app ?? path;
    for (const [name, domain] of Object.entries(file.known_features)) {
      if (!known.has(name)) known.set(name, domain);
      several.set(name, [...(several.get(name) ?? []), owner]);
    }
    for (const [keyword, entry] of Object.entries(file.domain_keywords)) {
      if (!keywords.has(keyword)) keywords.set(keyword, entry);
    }
  }
  const shared = new Map([...several].filter(([, apps]) => apps.length > 1));
  const merged = { known_features: Object.fromEntries(known), domain_keywords: Object.fromEntries(keywords) };
  return { file: merged, featuresDirs, several: shared };
}

/** The places that follow from a target in a space. */
export function featureIn(space: Space, target: Target): Feature {
  const dir = joined(space.featuresDir, targetText(target));
  return {
    target,
    ...(space.app === undefined ? {} : { app: space.app }),
    id: idIn(space, target),
    dir,
    spec: joined(dir, "spec.md"),
    branch: targetText(target),
    registry: space.registry.path,
  };
}

/** A name holds no dot, so what follows one is the app, whose key may be any text. Ids that begin with `r-` are runs. */
function idIn({ app, hasTwins }: Space, { name }: Target): string {
  if (app === undefined || !hasTwins) return name;
  const plain = app.replace(/[^A-Za-z0-9_-]/gu, (char) => `_${char.codePointAt(0)?.toString(16) ?? ""}`);
  return `${name}.${plain}`.slice(0, 80);
}

/** Every registered feature of the space. A registry that apps share is told apart by the apps' domains. */
export function featuresIn(project: Project, space: Space): readonly Feature[] {
  return knownTargets(space.registry.file)
    .filter(({ domain }) => spaceFor(project, { domain }) === space || space.registry !== project.spaces[0].registry)
    .map((target) => featureIn(space, target));
}

/**
 * Refuses a folder that a symbolic link leads out of the repository. The nearest existing folder upwards decides, so it
 * also holds for what is about to be made.
 *
 * @throws OrchError `path.refused`
 */
export async function requireInside(files: Files, root: AbsPath, dir: RepoPath): Promise<void> {
  const realRoot = await files.realPath(root);
  if (realRoot === undefined) throw new OrchError("path.refused", `${root} is not there`, { data: { path: root } });
  for (let at: string = dir; at !== "."; at = dirName(at)) {
    const real = await files.realPath(inRoot(root, at));
    if (real === undefined) {
      if ((await files.stat(inRoot(root, at))) === undefined) continue;
      throw new OrchError("path.refused", `${at} is a symbolic link that leads nowhere`, { data: { path: at } });
    }
    if (isInside(slashed(real), slashed(realRoot))) return;
    throw new OrchError("path.refused", `${at} is a symbolic link that leads out of the repository`, {
      data: { path: at },
    });
  }
}

async function nearestRegistry(files: Files, root: AbsPath, from: RepoPath | undefined): Promise<RepoPath> {
  for (let at: string = from ?? "."; at !== "."; at = dirName(at)) {
    const path = joined(at, registryName);
    if ((await files.stat(inRoot(root, path)))?.kind === "file") return path;
  }
  return rootRegistry;
}

/** Both parts were checked by the registry's reader or are names. */
function joined(folder: string, path: string): RepoPath {
  const whole = repoPath(folder === "" ? path : `${folder}/${path}`);
  if (whole === undefined) throw new OrchError("path.refused", `${path} leaves the repository`, { data: { path } });
  return whole;
}

const slashed = (path: string): string => path.replaceAll("\\", "/");
