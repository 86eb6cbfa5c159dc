import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, sep } from "node:path";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";

/**
 * A real repository in a temporary folder, with a home and a global git configuration of its own: what the developer's
 * machine has configured neither helps nor hurts a test. `env` is the whole environment to start programs with.
 */
export interface TempRepo {
  /** Top of the working tree, symlinks resolved. */
  readonly root: AbsPath;
  /** Folder that holds everything of this repository; nothing else lives there. */
  readonly base: AbsPath;
  readonly home: AbsPath;
  /** The bare remote `origin`, with `remote: true`. */
  readonly remote: AbsPath | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Runs git in the root; stdout without its last line end. Throws with stderr when git fails. */
  git(...args: string[]): Promise<string>;
  /** Like `git`, never throws for git's own failure. */
  tryGit(...args: string[]): Promise<GitAnswer>;
  /** Runs git in another folder of this test, with the same environment. */
  gitIn(folder: string, ...args: string[]): Promise<string>;
  /** Writes a file below the root; folders are made; `mode` e.g. 0o755. */
  write(path: string, data: string | Uint8Array, mode?: number): Promise<void>;
  link(path: string, target: string): Promise<void>;
  /** UTF-8 text, or undefined when it is not there. */
  read(path: string): Promise<string | undefined>;
  bytes(path: string): Promise<Uint8Array | undefined>;
  path(...parts: string[]): AbsPath;
  /** Writes the files, adds everything, commits; the new commit's id. */
  commit(message: string, files?: Readonly<Record<string, string>>): Promise<string>;
  /** A second clone of the remote, to push from "somebody else". */
  clone(): Promise<AbsPath>;
  cleanup(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface GitAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface TempRepoOptions {
  /** A bare remote `origin`; main is pushed to it and tracks it. */
  readonly remote?: boolean;
  /** Files of the first commit. */
  readonly files?: Readonly<Record<string, string>>;
  /** False: `git init` only, HEAD on an unborn main. */
  readonly firstCommit?: boolean;
  /** Lines of the global configuration beside identity, e.g. `[core]\n\tautocrlf = true`. */
  readonly globalConfig?: string;
  readonly identity?: boolean;
  /** Name of the folder; may hold spaces and unicode. */
  readonly folder?: string;
}

export async function makeTempRepo(options: TempRepoOptions = {}): Promise<TempRepo> {
  const base = absPath(await realpath(await mkdtemp(join(tmpdir(), "orch-test-"))));
  const home = absPath(join(base, "home"));
  const root = absPath(join(base, options.folder ?? "repo"));
  await mkdir(home);
  await mkdir(root);
  const globalConfig = join(home, ".gitconfig");
  const who = options.identity === false ? "" : "[user]\n\tname = Test Person\n\temail = test@example.com\n";
  await writeFile(
    globalConfig,
    `${who}[init]\n\tdefaultBranch = main\n[gc]\n\tauto = 0\n${options.globalConfig ?? ""}`,
  );
  const env: Record<string, string> = {
    PATH: personsPath(),
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
    XDG_STATE_HOME: join(home, ".state"),
    XDG_CACHE_HOME: join(home, ".cache"),
    GIT_CONFIG_GLOBAL: globalConfig,
    GIT_CONFIG_NOSYSTEM: "1",
    LC_ALL: "C.UTF-8",
    TZ: "UTC",
    ...compileCache(),
  };

  const tryGitIn = (folder: string, args: readonly string[]): Promise<GitAnswer> => run(args, folder, env);
  const gitIn = async (folder: string, ...args: string[]): Promise<string> => {
    const answer = await tryGitIn(folder, args);
    if (answer.code !== 0)
      throw new Error(`git ${args.join(" ")} failed with ${answer.code}: ${answer.stderr}${answer.stdout}`);
    return answer.stdout.replace(/\n$/, "");
  };
  const path = (...parts: string[]): AbsPath => absPath(join(root, ...parts));
  const write = async (file: string, data: string | Uint8Array, mode?: number): Promise<void> => {
    await mkdir(dirname(path(file)), { recursive: true });
    await writeFile(path(file), data);
    if (mode !== undefined) await chmod(path(file), mode);
  };
  const bytes = async (file: string): Promise<Uint8Array | undefined> => {
    try {
      return await readFile(path(file));
    } catch (error) {
      if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
        return undefined;
      throw error;
    }
  };
  const commit = async (message: string, files: Readonly<Record<string, string>> = {}): Promise<string> => {
    for (const [file, text] of Object.entries(files)) await write(file, text);
    await gitIn(root, "add", "-A");
    await gitIn(root, "commit", "-q", "--allow-empty", "-m", message);
    return gitIn(root, "rev-parse", "HEAD");
  };
  const cleanup = async (): Promise<void> => {
    await rm(base, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  };

  const remote = options.remote === true ? absPath(join(base, "remote.git")) : undefined;
  await gitIn(root, "init", "-q", "-b", "main");
  if (remote !== undefined) {
    await gitIn(base, "init", "-q", "--bare", "-b", "main", remote);
    await gitIn(root, "remote", "add", "origin", remote);
  }
  if (options.firstCommit !== false) {
    await commit("first commit", options.files ?? { "README.md": "# sample\n" });
    if (remote !== undefined) await gitIn(root, "push", "-q", "-u", "origin", "main");
  } else {
    for (const [file, text] of Object.entries(options.files ?? {})) await write(file, text);
  }

  let clones = 0;
  return {
    root,
    base,
    home,
    remote,
    env,
    git: (...args) => gitIn(root, ...args),
    tryGit: (...args) => tryGitIn(root, args),
    gitIn,
    write,
    async link(file, target) {
      await mkdir(dirname(path(file)), { recursive: true });
      await symlink(target, path(file));
    },
    async read(file) {
      const data = await bytes(file);
      return data === undefined ? undefined : new TextDecoder().decode(data);
    },
    bytes,
    path,
    commit,
    async clone() {
      if (remote === undefined) throw new Error("this temporary repository has no remote");
      clones += 1;
      const to = absPath(join(base, `clone-${clones}`));
      await gitIn(base, "clone", "-q", remote, to);
      return to;
    },
    cleanup,
    [Symbol.asyncDispose]: cleanup,
  };
}

/** `npm test` puts this project's own tools on the PATH, pi among them; a person's has none of them. */
function personsPath(): string {
  const folders = (process.env["PATH"] ?? "/usr/bin:/bin").split(delimiter);
  return folders.filter((folder) => !folder.split(sep).includes("node_modules")).join(delimiter);
}

/** That of the suite's own process: it changes what a start costs and nothing else. */
function compileCache(): Readonly<Record<string, string>> {
  const folder = process.env["NODE_COMPILE_CACHE"];
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
}

function run(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>): Promise<GitAnswer> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: { ...env }, maxBuffer: 256 * 1024 * 1024 };
    const child = execFile("git", [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve({ code: 0, stdout, stderr });
      else if (typeof error.code === "number") resolve({ code: error.code, stdout, stderr });
      else reject(error);
    });
    child.stdin?.end(); // a hook that reads its input would wait for ever
  });
}
