import { type AbsPath, absPath, below, dirName, inRoot } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Files } from "../ports/files.ts";
import { shareTokens, type SharedLogin } from "./login-tokens.ts";
import type { Login, Recipe, WorkerCommand } from "./recipes/recipe.ts";

/**
 * A worker's own home, one for all attempts of its contract so that a session can be gone on in. Nothing of the person's
 * home is in it but the client's logins (see `Login.as`). Its folder for temporary files lies beside it. What lies in it is
 * the worker's, links that it made included: nothing of ours is written or read through one.
 */
export interface WorkerHome {
  readonly home: AbsPath;
  readonly tmp: AbsPath;
  /** Real files of the person's that links lead to: the worker may write them. */
  readonly logins: readonly AbsPath[];
  /** Copies whose refreshed tokens the person's file gets, and the other way round. */
  readonly shared: readonly SharedLogin[];
  readonly userFiles: Readonly<Record<string, string>>;
}

export interface WorkerHomeOrder {
  readonly at: AbsPath;
  readonly userHome: AbsPath | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** False with an endpoint of the person's own: its key is all the client needs. */
  readonly withLogins: boolean;
}

export async function makeWorkerHome(
  files: Files,
  recipe: Pick<Recipe, "logins" | "reads">,
  order: WorkerHomeOrder,
): Promise<WorkerHome> {
  const home = inRoot(order.at, "home");
  const tmp = inRoot(order.at, "tmp");
  for (const folder of [order.at, home, tmp]) await makePlainDir(files, order.at, folder);
  const logins: AbsPath[] = [];
  const shared: SharedLogin[] = [];
  for (const login of order.withLogins ? recipe.logins : []) {
    const real = await realLogin(files, login, order);
    if (real === undefined) continue;
    const at = inRoot(home, login.to);
    await makePlainDir(files, home, absPath(dirName(at)));
    if (login.as === "link") {
      await link(files, real, at);
      logins.push(real);
      continue;
    }
    // What an attempt refreshed whose runner was killed.
    const both: SharedLogin = { real, copy: login.to, home };
    if (login.as === "tokens") await shareTokens(files, both);
    await copy(files, real, at);
    if (login.as === "tokens") shared.push(both);
  }
  const texts = await Promise.all(
    Object.entries(recipe.reads ?? {}).map(async ([name, path]) => {
      const text = order.userHome === undefined ? undefined : await files.readText(inRoot(order.userHome, path));
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
  return { home, tmp, logins, shared, userFiles: Object.fromEntries(texts.flat()) };
}

async function realLogin(files: Files, login: Login, { userHome, env }: WorkerHomeOrder): Promise<AbsPath | undefined> {
  const moved = login.env === undefined ? undefined : env[login.env.name];
  if (moved !== undefined && login.env !== undefined && /^(?:\/|[A-Za-z]:[\\/])/.test(moved)) {
    return files.realPath(inRoot(absPath(moved), login.env.file));
  }
  return userHome === undefined ? undefined : files.realPath(inRoot(userHome, login.from));
}

/** One of its own that a client put in the link's place holds the newest tokens; a link elsewhere is none of ours. */
async function link(files: Files, real: AbsPath, at: AbsPath): Promise<void> {
  const there = await files.stat(at);
  if (there?.kind === "symlink" && (await files.readLink(at)) !== real) await files.remove(at);
  else if (there !== undefined) return;
  try {
    await files.symlink(real, at);
  } catch (error) {
    throw new OrchError(
      "path.refused",
      `${real} holds a login that only a link can share, and links are not allowed here`,
      {
        cause: error,
      },
    );
  }
}

async function copy(files: Files, real: AbsPath, at: AbsPath): Promise<void> {
  const bytes = await files.read(real);
  if (bytes === undefined) return;
  await unlink(files, at);
  await files.write(at, bytes, { mode: 0o600 });
}

/** The folders from `top` on, as folders: a link that the worker put in place of one would lead our writes elsewhere. */
async function makePlainDir(files: Files, top: AbsPath, folder: AbsPath): Promise<void> {
  const parts = below(folder, top)?.split("/") ?? [];
  for (let count = 1; count <= parts.length; count += 1) await unlink(files, inRoot(top, ...parts.slice(0, count)));
  await files.makeDir(folder, { mode: 0o700 });
}

async function unlink(files: Files, at: AbsPath): Promise<void> {
  if ((await files.stat(at))?.kind === "symlink") await files.remove(at);
}

/** What the client finds at its start. */
export async function furnish(
  files: Files,
  home: AbsPath,
  command: Pick<WorkerCommand, "files" | "links">,
): Promise<void> {
  for (const { path, text } of command.files) {
    await makePlainDir(files, home, absPath(dirName(path)));
    await unlink(files, path);
    await files.write(path, text, { mode: 0o600 });
  }
  for (const { at, to } of command.links ?? []) {
    await files.makeDir(to, { mode: 0o700 });
    await makePlainDir(files, home, absPath(dirName(at)));
    // Also of an attempt with another sandbox, or of the worker's own making.
    if ((await files.stat(at)) !== undefined && (await files.realPath(at)) !== (await files.realPath(to)))
      await files.remove(at);
    await files.linkFolder(to, at);
  }
}
