import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { openGit } from "../../shared/adapters/git.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createLocks } from "../../shared/adapters/lock.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { createTrash } from "../../shared/adapters/trash.ts";
import { createTrustStore } from "../../shared/adapters/trust-store.ts";
import { openHookWatch } from "../../shared/app/hook-watch.ts";
import { type CommandArgs, plainArgs, type RepoContext } from "../../shared/app/context.ts";
import { openSandbox } from "../../shared/app/open-sandbox.ts";
import { repositoryLockPath } from "../../shared/app/repository-lock.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { Config } from "../../shared/model/config.ts";
import { isOrchError, type OrchError } from "../../shared/model/error.ts";
import type { Answer, Editor, Question } from "../../shared/ports/editor.ts";
import type { HeldLock } from "../../shared/ports/lock.ts";
import { RecordingSink } from "./recording-sink.ts";
import { makeTempRepo, type TempRepo, type TempRepoOptions } from "./temp-repo.ts";

/** A handler's context over the real adapters and a real repository, with an editor that answers what a test says. */
export interface Bench extends AsyncDisposable {
  readonly repo: TempRepo;
  readonly context: RepoContext;
  readonly sink: RecordingSink;
  readonly asked: Question[];
  answer(answer: Answer | undefined): void;
  /** Everything of the person's: refs here and there, HEAD, index, changes, files. */
  state(): Promise<BenchState>;
  /** Somebody else holds the repository's lock. */
  occupy(): void;
  distrust(): Promise<void>;
  /** A context whose signal is aborted right before the `at`-th step that changes something. */
  stopping(at: number, controller: AbortController): Promise<{ readonly context: RepoContext; calls(): number }>;
  shallowClone(branch: string): Promise<Bench>;
}

export interface BenchState {
  readonly refs: string;
  readonly head: string;
  readonly status: string;
  readonly index: string;
  readonly unstaged: string;
  readonly there: string;
  readonly lines: string;
}

const steps = new Set<PropertyKey>([
  "fetch",
  "commitPaths",
  "mergeTree",
  "commitTree",
  "checkoutTo",
  "push",
  "updateRef",
  "fastForward",
  "switch",
  "discard",
  "create",
  "delete",
  "deleteRemote",
  "store",
  "removeStored",
  "restore",
]);

export async function makeBench(options: TempRepoOptions = {}): Promise<Bench> {
  return await benchOn(await makeTempRepo(options));
}

async function benchOn(repo: TempRepo, root = repo.root): Promise<Bench> {
  const files = createFiles();
  const process = createProcess();
  const clock = createClock();
  const ids = createIds(clock);
  const locks = createLocks(process);
  const stateDir = absPath(join(repo.base, "state"));
  await mkdir(stateDir, { recursive: true });
  const { git, call } = await openGit({ folder: root, process, env: repo.env });
  const trash = createTrash({ call, clock, ids });
  const trust = createTrustStore({
    files,
    place: git.place,
    programKeys: git.programKeys,
    hooks: openHookWatch(files, stateDir, git),
    locks,
    stateDir,
    now: () => clock.now(),
  });
  await trust.grant(await trust.state());
  const sink = new RecordingSink();
  const asked: Question[] = [];
  let answer: Answer | undefined;
  let interactive = false;
  const editor: Editor = {
    host: "cli",
    get interactive() {
      return interactive;
    },
    activeFile: async () => undefined,
    ask: async (question) => {
      asked.push(question);
      return answer;
    },
    notify: () => undefined,
    progress: () => undefined,
    showDiff: async () => undefined,
    showFindings: () => undefined,
    open: async () => undefined,
  };
  const run = ids.next("run");
  const context: RepoContext = {
    machine: {
      installRoot: absPath(repo.base),
      version: "0.0.0",
      configDir: absPath(join(repo.base, "config")),
      stateDir,
      cacheDir: absPath(join(repo.base, "cache")),
      env: repo.env,
      platform: "posix",
    },
    files,
    process,
    clock,
    ids,
    locks,
    editor,
    root,
    git,
    trash,
    trust,
    sandbox: openSandbox({ process, places: { installRoot: absPath(repo.base), stateDir }, env: repo.env }),
    config: Config.parse({}),
    configSources: [],
    sink,
    run,
    runDir: inRoot(absPath(repo.base), "runs", run),
  };
  let held: HeldLock | undefined;
  const inHere = (...args: string[]): Promise<string> => repo.gitIn(root, ...args);

  return {
    repo,
    context,
    sink,
    asked,
    answer(next) {
      answer = next;
      interactive = true;
    },
    async state() {
      const format = "--format=%(refname) %(objectname)";
      const refs = await inHere("for-each-ref", format);
      return {
        refs: refs
          .split("\n")
          .filter((line) => !line.startsWith("refs/orch/"))
          .join("\n"),
        head: (await inHere("symbolic-ref", "-q", "HEAD").catch(() => "detached")).trim(),
        status: await inHere("status", "--porcelain", "--ignored", "--untracked-files=all"),
        index: await inHere("ls-files", "-s"),
        unstaged: await inHere("diff", "--binary"),
        there: repo.remote === undefined ? "" : await repo.gitIn(repo.remote, "for-each-ref", format),
        lines: await inHere("config", "--local", "--list"),
      };
    },
    occupy() {
      const path = repositoryLockPath(stateDir, git.place.commonDir);
      const other = createLocks(process);
      const taken = other.try(path, { run: "r-20260101-000000-other", host: "nvim", what: "do" });
      assert.equal(taken.kind, "held");
      held = taken.lock;
    },
    distrust: () => trust.revoke(),
    async stopping(at, controller) {
      const tied = await openGit({ folder: root, process, env: repo.env, signal: controller.signal });
      let calls = 0;
      const wrap = <T extends object>(target: T): T =>
        new Proxy(target, {
          get: (object, key, receiver) => {
            const value: unknown = Reflect.get(object, key, receiver);
            if (typeof value !== "function" || !steps.has(key)) return value;
            return (...given: readonly unknown[]) => {
              calls += 1;
              if (calls === at) controller.abort();
              return Reflect.apply(value, object, given) as unknown;
            };
          },
        });
      return {
        context: { ...context, git: wrap(tied.git), trash: wrap(createTrash({ call: tied.call, clock, ids })) },
        calls: () => calls,
      };
    },
    async shallowClone(branch) {
      const to = absPath(join(repo.base, "shallow"));
      await repo.gitIn(
        repo.base,
        "clone",
        "-q",
        "--depth",
        "1",
        "--no-single-branch",
        "--branch",
        branch,
        `file://${repo.remote}`,
        to,
      );
      await repo.gitIn(to, "branch", "-q", "--track", "main", "origin/main");
      await repo.gitIn(to, "config", `branch.${branch}.orch`, branch);
      return await benchOn(repo, to);
    },
    async [Symbol.asyncDispose]() {
      held?.[Symbol.dispose]();
      await context.sandbox[Symbol.asyncDispose]();
      await repo.cleanup();
    },
  };
}

/** Arguments as a host passes them; everything off but what is named. */
export function args(given: Partial<CommandArgs> = {}): CommandArgs {
  return { ...plainArgs, input: false, ...given };
}

/** The refusal that `work` ends with. */
export async function refused(work: Promise<unknown>): Promise<OrchError> {
  try {
    const result = await work;
    assert.fail(`not refused: ${JSON.stringify(result)}`);
  } catch (error) {
    if (isOrchError(error)) return error;
    throw error;
  }
}
