import { lstat, statfs } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { abortError, throwIfAborted } from "../base/abort.ts";
import { nearlyFullBytes } from "../base/disk-full.ts";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { RepoPlace } from "../ports/git.ts";
import type { Process } from "../ports/process.ts";
import {
  type ConfigEntry,
  configStamp,
  type Defused,
  defuse,
  listConfigArgs,
  parseConfig,
  noFilters,
  plainMergeDrivers,
} from "./git-config.ts";
import { type GitAnswer, runAlone } from "./git-alone.ts";
import { gitEnvironment, noHooks } from "./git-environment.ts";
import { gitKeyMark } from "./trust-store.ts";

/**
 * The one way to git. Each call gets an environment of ours and, before it, the repository's configuration read anew
 * when any file of it changed, so that a program planted a moment ago does not run either. simple-git carries the calls
 * in which git runs alone; where git may start other programs (hooks, filters, transports) the Process port does, as it
 * ends the whole tree.
 */
export interface GitOptions {
  readonly stdin?: string | Uint8Array;
  readonly indexFile?: string;
  /** Git may start programs: run it where its whole tree can be ended. */
  readonly startsPrograms?: boolean;
  /** Hooks, signing: only in a trusted repository, only at commit and push. */
  readonly trusted?: boolean;
  /** No merge driver of anybody's. */
  readonly plainMerge?: boolean;
  readonly settings?: readonly (readonly [string, string])[];
  readonly extra?: Readonly<Record<string, string>>;
  readonly cwd?: AbsPath;
  readonly timeoutMs?: number;
  readonly maxOutputBytes?: number;
  /** False: a held lock is told at once; for calls whose hooks must not run twice. */
  readonly waitForLock?: boolean;
  readonly signal?: AbortSignal;
  /**
   * The network and hooks: the caller's stop ends it. Everything else is short and runs to its end, for a checkout that
   * is killed halfway leaves half a tree, and what must follow a push must not be refused.
   */
  readonly stoppable?: boolean;
}

export interface GitCall {
  readonly place: RepoPlace;
  /**
   * The same repository with another folder as its working tree, which git never searches for a repository. What lies
   * there may be a worker's, the program of a filter that is named by a relative path included: no filter runs.
   */
  at(root: AbsPath): GitCall;
  /** The repository's configuration as it is now. */
  config(): Promise<readonly ConfigEntry[]>;
  /** What of it is kept from running. */
  defused(): Promise<Defused>;
  /** The lock, when it is still there after the time that a verb would wait for it. */
  heldLock(at: AbsPath): Promise<AbsPath | undefined>;
  /** Any exit code is an answer. Refuses when git cannot be started, is stopped, or finds a lock or a full disk. */
  answer(args: readonly string[], options?: GitOptions): Promise<GitAnswer>;
  /** Refuses with `git.failed` for any exit code but 0. */
  bytes(args: readonly string[], options?: GitOptions): Promise<Uint8Array>;
  /** Text without its last line end. */
  text(args: readonly string[], options?: GitOptions): Promise<string>;
  /** Text, or undefined for any exit code but 0. */
  maybe(args: readonly string[], options?: GitOptions): Promise<string | undefined>;
}

export interface GitCallDeps {
  readonly binary: AbsPath;
  readonly place: RepoPlace;
  readonly process: Process;
  /** The user's environment, already reduced to what git may see. */
  readonly base: Readonly<Record<string, string>>;
  /** Approved keys, as `gitKeyMark` writes them; asked at each reading of the configuration. */
  readonly approvedKeys: () => Promise<readonly string[]>;
  /** True while a hook waits for a person: then none runs. Asked where hooks would run. */
  readonly hooksHeld?: () => Promise<boolean>;
  readonly lockWaitMs: number;
  readonly signal: AbortSignal;
  /** Files are taken and written as they are, but for git's own conversions. */
  readonly unfiltered?: boolean;
}

const localTimeoutMs = 10 * 60_000;
const maxOutput = 512 * 1024 * 1024;
const lockPollMs = 50;

/** The configuration as it was read last; the same for every working tree of the repository. */
interface ReadConfig {
  known?: { readonly stamp: string; readonly entries: readonly ConfigEntry[]; readonly defused: Defused };
}

export function createGitCall(deps: GitCallDeps, shared: ReadConfig = {}): GitCall {
  const { place } = deps;

  async function read(): Promise<{ readonly entries: readonly ConfigEntry[]; readonly defused: Defused }> {
    const marks = (await deps.approvedKeys()).join("\0");
    const { known } = shared;
    if (known !== undefined && known.stamp === `${marks}\0${await configStamp(place, known.entries, deps.base)}`)
      return known;
    const env = gitEnvironment(deps.base, { place });
    const answer = await runAlone(deps.binary, place.root, listConfigArgs, env, undefined, never);
    if (answer.code !== 0) throw failed(listConfigArgs, answer);
    const entries = parseConfig(answer.stdout);
    const approved = new Set(await deps.approvedKeys());
    const defused = defuse(entries, ({ key, value }) => approved.has(gitKeyMark(key, value)));
    const fresh = { stamp: `${marks}\0${await configStamp(place, entries, deps.base)}`, entries, defused };
    shared.known = fresh;
    return fresh;
  }

  async function once(args: readonly string[], options: GitOptions): Promise<GitAnswer> {
    const { entries, defused } = await read();
    const trusted = options.trusted === true;
    const proxy = defused.unapproved.some(({ key }) => key === "core.gitproxy") ? { GIT_PROXY_COMMAND: "" } : {};
    const localHooks = defused.unapproved.some(({ key }) => key === "core.hookspath");
    const ownHooks = entries.findLast(
      (entry) => entry.key === "core.hookspath" && entry.scope !== "local" && entry.scope !== "worktree",
    );
    const held = trusted && (await deps.hooksHeld?.()) === true;
    const hooksPath = held ? noHooks : localHooks ? (ownHooks?.value ?? `${place.commonDir}/hooks`) : undefined;
    const env = gitEnvironment(deps.base, {
      // Hooks find the repository by their folder, as they do for a person's own commit.
      ...(trusted ? { hooks: hooksPath === undefined ? {} : { path: hooksPath } } : { place }),
      settings: [
        ...defused.settings,
        ...(deps.unfiltered === true ? noFilters(entries) : []),
        ...(options.plainMerge === true ? plainMergeDrivers(entries) : []),
        ...(options.settings ?? []),
      ],
      ...(options.indexFile === undefined ? {} : { indexFile: options.indexFile }),
      extra: { ...proxy, ...options.extra },
    });
    const cwd = options.cwd ?? place.root;
    const signal = stopOf(deps.signal, options);
    if (options.startsPrograms !== true && !trusted && alwaysPrints.has(args[0] ?? ""))
      return runAlone(deps.binary, cwd, args, env, options.stdin, signal);
    const result = await deps.process.run(
      {
        argv: [deps.binary, ...args],
        cwd,
        env,
        timeoutMs: options.timeoutMs ?? localTimeoutMs,
        maxOutputBytes: options.maxOutputBytes ?? maxOutput,
        ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
      },
      signal,
    );
    const stderr = decode(result.stderr);
    switch (result.kind) {
      case "exited":
        return { code: result.code, stdout: result.stdout, stderr };
      case "cancelled":
        throw abortError(signal);
      case "not-started":
        throw new OrchError("git.missing", `git could not be started: ${result.reason}`);
      case "timed-out":
        return { code: 124, stdout: result.stdout, stderr: `${stderr}git took too long and was ended\n` };
      case "signalled":
        return { code: 128, stdout: result.stdout, stderr: `${stderr}git was ended by ${result.signal}\n` };
      case "too-much-output":
        return {
          code: 128,
          stdout: result.stdout,
          stderr: `${stderr}git printed more than ${options.maxOutputBytes ?? maxOutput} bytes\n`,
        };
    }
  }

  async function answer(args: readonly string[], options: GitOptions = {}): Promise<GitAnswer> {
    const until = performance.now() + (options.waitForLock === false ? 0 : deps.lockWaitMs);
    const signal = stopOf(deps.signal, options);
    for (;;) {
      throwIfAborted(signal);
      const got = await once(args, options);
      if (got.code === 0) return got;
      if (await foundNoRoom(got, options.cwd ?? place.root, place.commonDir)) {
        throw new OrchError("env.disk-full", "git found no space left on the disk", { cause: new Error(got.stderr) });
      }
      const lock = lockOf(got.stderr);
      if (lock === undefined) return got;
      if (performance.now() >= until) {
        throw new OrchError("git.locked", `another git holds ${lock}`, {
          data: { path: lock },
          cause: new Error(got.stderr),
        });
      }
      await delay(lockPollMs, undefined, { signal }).catch(() => throwIfAborted(signal));
    }
  }

  const bytes = async (args: readonly string[], options?: GitOptions): Promise<Uint8Array> => {
    const got = await answer(args, options);
    if (got.code !== 0) throw failed(args, got);
    return got.stdout;
  };

  return {
    place,
    at: (root) => createGitCall({ ...deps, place: { ...place, root }, unfiltered: true }, shared),
    config: async () => (await read()).entries,
    defused: async () => (await read()).defused,
    async heldLock(at) {
      const until = performance.now() + deps.lockWaitMs;
      while ((await lstat(at).catch(() => undefined)) !== undefined) {
        if (performance.now() >= until) return at;
        await delay(lockPollMs, undefined, { signal: deps.signal }).catch(() => throwIfAborted(deps.signal));
      }
      return undefined;
    },
    answer,
    bytes,
    text: async (args, options) => decode(await bytes(args, options)).replace(/\n$/, ""),
    async maybe(args, options) {
      const got = await answer(args, options);
      return got.code === 0 ? decode(got.stdout).replace(/\n$/, "") : undefined;
    },
  };
}

const never = new AbortController().signal;

/** Git does not always say why it could not write; then the disks are asked. */
async function foundNoRoom({ stderr }: GitAnswer, ...places: readonly AbsPath[]): Promise<boolean> {
  if (/No space left on device|Disk quota exceeded/.test(stderr)) return true;
  if (!/(?:unable|failed|could not|cannot|can't) (?:to )?(?:write|create|add)|write error|short write/i.test(stderr))
    return false;
  for (const at of places) {
    const room = await statfs(at).catch(() => undefined);
    if (room !== undefined && room.bavail * room.bsize < nearlyFullBytes) return true;
  }
  return false;
}

function stopOf(callers: AbortSignal, options: GitOptions): AbortSignal {
  const own = options.signal ?? never;
  return options.stoppable === true ? AbortSignal.any([callers, own]) : own;
}

/**
 * Verbs that print whenever they succeed. simple-git waits 50 ms after a git that printed nothing (its completion plugin,
 * not to be configured away), which would be most of the time of a command; silent verbs take the Process port.
 */
const alwaysPrints: ReadonlySet<string> = new Set([
  "rev-parse",
  "cat-file",
  "write-tree",
  "hash-object",
  "commit-tree",
  "merge-tree",
  "merge-base",
  "log",
]);

function lockOf(stderr: string): string | undefined {
  const found = /Unable to create '([^\n]+\.lock)': File exists|could not lock config file ([^\n]+): File exists/.exec(
    stderr,
  );
  if (found === null) return undefined;
  return found[1] ?? `${found[2]}.lock`;
}

export function failed(args: readonly string[], { code, stderr }: GitAnswer): OrchError {
  const verb = args.find((arg) => !arg.startsWith("-")) ?? "git";
  const said = clean(stderr).trim().split("\n").slice(0, 6).join("; ");
  return new OrchError("git.failed", `git ${verb} failed (${code})${said === "" ? "" : `: ${said}`}`, {
    data: { argv: verb },
  });
}

/** Git prints URLs with whatever they hold. */
export function clean(text: string): string {
  return text.replace(/(\w+:\/\/)[^\s/@:]+(?::[^\s/@]*)?@/g, "$1");
}

export function decode(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}
