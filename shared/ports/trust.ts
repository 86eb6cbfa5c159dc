import type { RepoPath } from "../base/paths.ts";
import type { TrustState } from "../model/trust.ts";

/** The trust store of this machine, for one repository. Reading it runs nothing of the repository. */
export interface Trust {
  state(): Promise<TrustState>;
  /** May this repository's code (tests, checks, hooks, filters, signing) run? */
  mayRunCode(): Promise<boolean>;
  /** The bytes of a project file if exactly these bytes are trusted, else undefined. */
  trustedFile(path: RepoPath): Promise<Uint8Array | undefined>;
  /** The bytes trusted for this path before, to show what changed; undefined when there are none. */
  formerBytes(path: string): Promise<Uint8Array | undefined>;
  /** Records what the person saw: code, the files' hashes and git keys of `seen`. A file that changed since `seen` stays untrusted, one that is not in it as it was. */
  grant(seen: TrustState): Promise<void>;
  /** What Orch wrote, or the person saved through a host: trusted by its new bytes. */
  noteWritten(path: RepoPath, sha256: string): Promise<void>;
  revoke(): Promise<void>;
  /** Marks of the git keys a person approved, as `gitKeyMark` writes them. */
  approvedGitKeys(): Promise<readonly string[]>;
  /** Before a program starts that could write hooks: what they are now. `id` names the place that it works in. */
  watchHooks(id: string): Promise<void>;
  /** It ended. A hook that is another one now stays watched, until a person decides about it with `grant`. */
  hooksWatched(id: string): Promise<void>;
  /** A hook changed since a watch began, and no person decided about it: none may run. */
  hooksHeld(): Promise<boolean>;
}
