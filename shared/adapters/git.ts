import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";
import type { Git } from "../ports/git.ts";
import type { Process } from "../ports/process.ts";
import { createGitBranches } from "./git-branches.ts";
import { createGitCall, type GitCall } from "./git-call.ts";
import { userEnvironment } from "./git-environment.ts";
import { findGit, findPlace } from "./git-place.ts";
import { createGitPublish } from "./git-publish.ts";
import { createGitRead } from "./git-read.ts";
import { createGitTrees } from "./git-trees.ts";
import { createGitUncommitted } from "./git-uncommitted.ts";
import { treeDisk, type TreeDisk } from "./tree-disk.ts";
import { createTreeWrites } from "./tree-writes.ts";
import { runName } from "./process-sweep.ts";

export interface GitDeps {
  /** A folder of the checkout; the repository's root is found from it. */
  readonly folder: AbsPath;
  readonly process: Process;
  /** The environment this process was started with; git sees the part that git-environment.ts names. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Program keys a person approved, as `gitKeyMark` writes them; asked whenever the configuration is read. */
  readonly approvedKeys?: () => Promise<readonly string[]>;
  /** True while a hook waits for a person: then none runs. */
  readonly hooksHeld?: () => Promise<boolean>;
  /** How long another git's lock is waited for; 3 s. */
  readonly lockWaitMs?: number;
  /** Fetch and push; 5 minutes. */
  readonly networkTimeoutMs?: number;
  /** Ends fetches, pushes and commit hooks; those verbs reject with an AbortError then. The others run to their end. */
  readonly signal?: AbortSignal;
  /** Carried by every git, and by what that starts: whoever follows a killed runner waits for them. */
  readonly run?: string;
  /** What writes into the working tree; tests stop it between two steps. */
  readonly disk?: TreeDisk;
}

/**
 * @throws OrchError `git.missing`, `git.too-old`, `git.not-a-repository`, `git.bare`, `git.unsafe-config` (the
 *   configuration moves the working tree elsewhere), `git.failed` (git does not trust the folder's owner)
 */
export async function createGit(deps: GitDeps): Promise<Git> {
  return (await openGit(deps)).git;
}

/** The port, and the calls underneath for what shares the repository with it (`createTrash`). */
export async function openGit(deps: GitDeps): Promise<{ readonly git: Git; readonly call: GitCall }> {
  const { call, openNested } = await openCalls(deps);
  return { call, git: portOn(call, openNested, deps) };
}

interface Calls {
  readonly call: GitCall;
  /** To a repository in a folder of the checkout: nothing that it configures is approved. */
  readonly openNested: (folder: AbsPath) => Promise<GitCall>;
}

async function openCalls(deps: GitDeps): Promise<Calls> {
  const base = { ...userEnvironment(deps.env), ...(deps.run === undefined ? {} : { [runName]: deps.run }) };
  const signal = deps.signal ?? new AbortController().signal;
  const binary = await findGit(deps.process, base, signal);
  const none = (): Promise<readonly string[]> => Promise.resolve([]);
  const parts = { binary, process: deps.process, base, lockWaitMs: deps.lockWaitMs ?? 3000, signal };
  return {
    call: createGitCall({
      ...parts,
      place: await findPlace(binary, deps.folder, base, signal),
      approvedKeys: deps.approvedKeys ?? none,
      ...(deps.hooksHeld === undefined ? {} : { hooksHeld: deps.hooksHeld }),
    }),
    openNested: async (folder) =>
      createGitCall({
        ...parts,
        place: await findPlace(binary, folder, base, signal),
        approvedKeys: none,
        unfiltered: true,
      }),
  };
}

function portOn(
  git: GitCall,
  openNested: Calls["openNested"],
  { env, networkTimeoutMs = 5 * 60_000, disk = treeDisk }: GitDeps,
): Git {
  const read = createGitRead(git, userEnvironment(env));
  const requireIdentity = async (): Promise<void> => {
    if ((await read.identity()) === undefined)
      throw new OrchError("git.no-identity", "git does not know who commits here");
  };
  return {
    ...read,
    ...createGitUncommitted(git, openNested),
    ...createGitTrees({ git, requireIdentity }),
    ...createGitBranches(git),
    ...createGitPublish({ git, read, requireIdentity, networkTimeoutMs, disk }),
    ...createTreeWrites({ place: git.place, disk }),
  };
}
