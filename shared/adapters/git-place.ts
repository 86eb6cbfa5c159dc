import { realpath, stat } from "node:fs/promises";
import { absPath, type AbsPath, isInside } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { RepoPlace } from "../ports/git.ts";
import type { Process } from "../ports/process.ts";
import { type GitAnswer, runAlone } from "./git-alone.ts";
import { clean, decode } from "./git-call.ts";
import { gitEnvironment } from "./git-environment.ts";

const floor = [2, 38] as const;

/** Git's absolute path. Refuses `git.missing` and `git.too-old`. */
export async function findGit(
  process: Process,
  base: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<AbsPath> {
  const binary = await process.which("git", base["PATH"] ?? "");
  if (binary === undefined) throw new OrchError("git.missing", "git is not on the PATH");
  const answer = await runAlone(binary, "/", ["version"], gitEnvironment(base, {}), undefined, signal);
  const said = decode(answer.stdout).trim();
  const version = /^git version (\d+)\.(\d+)/.exec(said);
  if (answer.code !== 0 || version === null)
    throw new OrchError("git.missing", `${binary} is no git: ${said || answer.stderr.trim()}`);
  const [major, minor] = [Number(version[1]), Number(version[2])];
  if (major < floor[0] || (major === floor[0] && minor < floor[1])) {
    throw new OrchError("git.too-old", `${said} is older than ${floor.join(".")}`);
  }
  return binary;
}

/**
 * The checkout that holds `folder`: a subfolder gives its root, a linked worktree or a submodule itself. Found by git's
 * own search, the only one there is: it checks who owns the repository. Later calls name the git dir.
 */
export async function findPlace(
  binary: AbsPath,
  folder: AbsPath,
  base: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<RepoPlace> {
  const start = await realpath(folder).catch(() => {
    throw new OrchError("git.not-a-repository", `${folder} is not there`, { data: { missing: true } });
  });
  if (!(await stat(start)).isDirectory())
    throw new OrchError("git.not-a-repository", `${folder} is a file, and a folder is needed`, {
      data: { missing: true },
    });
  const env = gitEnvironment(base, {});
  const ask = (...what: readonly string[]): Promise<GitAnswer> =>
    runAlone(binary, start, ["rev-parse", "--path-format=absolute", ...what], env, undefined, signal);
  const facts = ["--is-bare-repository", "--is-inside-git-dir", "--is-shallow-repository"];
  const places = ["--show-toplevel", "--git-dir", "--git-common-dir"];
  // Where there is no working tree git stops at the first place; what it said before tells why.
  const answer = await ask(...facts, ...places);
  const [bare = "", inside, shallow, ...named] = withoutLineEnd(answer).split("\n");
  if (inside === "true") {
    throw bare === "true"
      ? new OrchError("git.bare", `${folder} is in a bare repository`)
      : new OrchError("git.not-a-repository", `${folder} is git's own folder`);
  }
  if (bare === "true") throw new OrchError("git.bare", `${folder} is in a bare repository`);
  if (answer.code !== 0) throw notFound(folder, answer.stderr);
  const alone = async (place: string): Promise<string> => {
    const said = await ask(place);
    if (said.code !== 0) throw notFound(folder, said.stderr);
    return withoutLineEnd(said);
  };
  // A folder's name may hold line ends: then each is asked for alone.
  const [root = "", gitDir = "", commonDir = ""] =
    named.length === places.length ? named : await Promise.all(places.map(alone));
  const top = await realpath(root);
  if (!isInside(slashes(start), slashes(top))) {
    throw new OrchError("git.unsafe-config", `${folder}: core.worktree points to ${top}`, {
      data: { keys: ["core.worktree"] },
    });
  }
  return {
    root: absPath(top),
    gitDir: absPath(await realpath(gitDir)),
    commonDir: absPath(await realpath(commonDir)),
    shallow: shallow === "true",
  };
}

const withoutLineEnd = ({ stdout }: GitAnswer): string => decode(stdout).replace(/\n$/, "");

function notFound(folder: AbsPath, stderr: string): OrchError {
  const bare = /cannot use bare repository '([^']*)'/.exec(stderr)?.[1];
  if (bare !== undefined) {
    return /(?:^|\/)\.git$/.test(slashes(bare))
      ? new OrchError("git.not-a-repository", `${folder} is git's own folder`)
      : new OrchError("git.bare", `${folder} is in a bare repository`);
  }
  if (/not a git repository/.test(stderr))
    return new OrchError("git.not-a-repository", `${folder} is in no git repository`);
  const said = clean(stderr)
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return new OrchError("git.failed", `git refuses to work in ${folder}: ${said.join(" ")}`, {
    data: { argv: "status" },
  });
}

const slashes = (path: string): string => path.replaceAll("\\", "/");
