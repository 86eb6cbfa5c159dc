import { linesOf } from "../base/lines.ts";
import { type AbsPath, inRoot } from "../base/paths.ts";
import { constitutionMark } from "../features/constitution.ts";
import { registryName } from "../features/registry.ts";
import { agentsFolder, agentsNames, pointAgentsHere, sameTarget } from "./agents-folder.ts";
import type { RepoContext } from "./context.ts";

/**
 * `.agents` of a project: one link where it is not there; in a folder that other tools keep things in, the three links.
 * They are for this machine, so git is told to ignore exactly them. Nothing that stands there is ever replaced but a
 * link of ours that leads nowhere any more.
 */
export interface AgentsLinks {
  /** Repository paths of the links that were made. */
  readonly made: readonly string[];
  /** Names in the way that are not ours. */
  readonly foreign: readonly string[];
}

type Parts = Pick<RepoContext, "files" | "ids" | "machine" | "root"> & {
  readonly git: Pick<RepoContext["git"], "place">;
};

/** `folder`: where in the repository, "" for its root. */
export async function linkAgents(context: Parts, folder: string): Promise<AgentsLinks> {
  const target = await pointAgentsHere(context);
  const links = await linksIn(context, folder, target);
  if (links.length === 1) return makeLinks(context, links);
  // Once it was our link; a folder's own files are for git to see.
  const name = folder === "" ? ".agents" : `${folder}/.agents`;
  await editExclude(context, (lines) => lines.filter((line) => line !== escaped(`/${name}`)));
  return makeLinks(context, links);
}

/** One link for the folder as a whole, or one for each name where the folder is somebody's. */
async function linksIn({ files, root }: Parts, folder: string, target: AbsPath): Promise<readonly Link[]> {
  const name = folder === "" ? ".agents" : `${folder}/.agents`;
  const at = inRoot(root, name);
  const stat = await files.stat(at);
  if (stat?.kind !== "directory") return [{ name, at, target }];
  return agentsNames.map((one) => ({ name: `${name}/${one}`, at: inRoot(at, one), target: inRoot(target, one) }));
}

/** How each link of this project stands; makes none. Empty where none belongs. */
export async function agentsStanding(
  context: Parts,
): Promise<
  readonly { readonly folder: string; readonly name: string; readonly state: "there" | "missing" | "foreign" }[]
> {
  const rows: Awaited<ReturnType<typeof agentsStanding>>[number][] = [];
  for (const folder of await foldersOf(context)) {
    for (const link of await linksIn(context, folder, agentsFolder(context.machine.stateDir)))
      rows.push({ folder, name: link.name, state: await standing(context, link) });
  }
  return rows;
}

/**
 * Before any command: links that are missing come back, in projects that are Orch's (registered features, a constitution
 * from `init`, links that were made before). A repository that cannot be written has none, which is no reason to fail.
 */
export async function restoreAgents(context: Parts): Promise<void> {
  try {
    for (const folder of await foldersOf(context)) await linkAgents(context, folder);
  } catch {
    // Told by `init`, which makes them; no other command depends on them.
  }
}

interface Link {
  readonly name: string;
  readonly at: AbsPath;
  readonly target: AbsPath;
}

async function makeLinks(context: Parts, links: readonly Link[]): Promise<AgentsLinks> {
  const made: string[] = [];
  const foreign: string[] = [];
  for (const link of links) {
    const how = await makeLink(context, link);
    if (how === "made") made.push(link.name);
    if (how === "foreign") foreign.push(link.name);
  }
  return { made, foreign };
}

async function makeLink(context: Parts, { name, at, target }: Link): Promise<"made" | "there" | "foreign"> {
  const { files, machine } = context;
  const now = await standing(context, { name, at, target });
  if (now !== "missing") return now;
  // A link of ours that leads nowhere counts as missing.
  if ((await files.stat(at)) !== undefined) await files.remove(at);
  await ignore(context, `/${name}`);
  if (!name.endsWith("/orch")) return (await files.linkFolder(target, at)) ? "made" : "there";
  if (machine.platform === "win32") {
    // A link to a file needs a right there that few have.
    const call = `@call "${inRoot(agentsFolder(machine.stateDir), "orch.cmd").replaceAll("/", "\\")}" %*\r\n`;
    await ignore(context, `/${name}.cmd`);
    return (await files.createOnce(inRoot(dirOf(at), "orch.cmd"), call)) ? "made" : "there";
  }
  await files.symlink(target, at);
  return "made";
}

async function standing(
  { files, machine }: Parts,
  { name, at, target }: Link,
): Promise<"there" | "missing" | "foreign"> {
  const stat = await files.stat(at);
  const link = stat?.kind === "symlink" ? await files.readLink(at) : undefined;
  if (sameTarget(link, target)) return "there";
  if (stat === undefined) {
    const instead = machine.platform === "win32" && name.endsWith("/orch");
    return instead && (await files.stat(inRoot(dirOf(at), "orch.cmd"))) !== undefined ? "there" : "missing";
  }
  return link === undefined || !looksOurs(link) || (await files.realPath(at)) !== undefined ? "foreign" : "missing";
}

const dirOf = (launcher: AbsPath): AbsPath => launcher.slice(0, -"/orch".length) as AbsPath;

/** A link that an Orch with another state folder made. */
const looksOurs = (link: string): boolean =>
  /(?:^|[\\/])orch[\\/](?:state[\\/])?agents(?:[\\/](?:orch|rules|personas))?[\\/]?$/.test(link);

/** Where links belong: at the root of a project of Orch's, and where they were made before. */
async function foldersOf({ files, root, git }: Parts): Promise<readonly string[]> {
  const excluded = (await files.readText(excludePath(git.place.commonDir))) ?? "";
  const folders = new Set<string>();
  for (const line of linesOf(excluded)) {
    const found = /^\/(?:(.*)\/)?\.agents(?:\/(?:orch|rules|personas))?$/.exec(line);
    const folder = found === null ? undefined : unescaped(found[1] ?? "");
    if (folder !== undefined && (await files.stat(inRoot(root, folder)))?.kind === "directory") folders.add(folder);
  }
  if (!folders.has("") && (await isProject({ files, root }))) folders.add("");
  return [...folders];
}

async function isProject({ files, root }: Pick<Parts, "files" | "root">): Promise<boolean> {
  if ((await files.stat(inRoot(root, registryName))) !== undefined) return true;
  const agents = inRoot(root, "AGENTS.md");
  return (
    (await files.stat(agents))?.kind === "file" && ((await files.readText(agents)) ?? "").includes(constitutionMark)
  );
}

async function ignore(context: Parts, path: string): Promise<void> {
  const pattern = escaped(path);
  await editExclude(context, (lines) => (lines.includes(pattern) ? lines : [...lines, pattern]));
}

/** Lines without their ends; the file is written only when they change. */
async function editExclude(
  { files, git }: Parts,
  edit: (lines: readonly string[]) => readonly string[],
): Promise<void> {
  const place = excludePath(git.place.commonDir);
  const before = linesOf((await files.readText(place)) ?? "");
  const after = edit(before);
  if (after.length === before.length) return;
  await files.makeDir(inRoot(git.place.commonDir, "info"));
  await files.write(place, after.map((line) => `${line}\n`).join(""));
}

const excludePath = (commonDir: AbsPath): AbsPath => inRoot(commonDir, "info/exclude");
const escaped = (path: string): string => path.replace(/[\\*?[\]]/g, "\\$&").replace(/ $/, "\\ ");
const unescaped = (pattern: string): string => pattern.replace(/\\(.)/g, "$1");
