import type { AbsPath } from "../base/paths.ts";
import type { ProcessSpec } from "./process.ts";

/** What a confined program may reach. Paths are folders or files; what is not named is readable and not writable. */
export interface Confinement {
  readonly write: readonly AbsPath[];
  /** Not writable although it lies below a folder of `write`: the worktree's `.git`. */
  readonly denyWrite: readonly AbsPath[];
  /** Not readable: the person's home, other worktrees, hidden files. */
  readonly denyRead: readonly AbsPath[];
  /** Readable although it lies below a folder of `denyRead`: the worker's own client. */
  readonly allowRead: readonly AbsPath[];
  /** Hosts (`api.example.org`, `127.0.0.1`) it may speak to; empty means no network. */
  readonly hosts: readonly string[];
}

export type SandboxState =
  | { readonly kind: "on"; readonly what: string }
  /** `why` names what the system lacks, `hint` the command that mends it. */
  | { readonly kind: "off"; readonly why: string; readonly hint: string };

/**
 * Confines programs where the system can. The state is found out once by running a probe; it is never guessed and there
 * is no silent fallback: callers look at `state()` and the setting `sandbox` (`required | preferred | off`).
 */
export interface Sandbox extends AsyncDisposable {
  state(signal: AbortSignal): Promise<SandboxState>;
  /** The same program inside. @throws OrchError `env.no-sandbox` where the state is off */
  wrap(spec: ProcessSpec, within: Confinement, signal: AbortSignal): Promise<ProcessSpec>;
}

/** Puts a program inside as the setting `sandbox` says; hands it back as it is where the person lets it run without. */
export type Confine = (spec: ProcessSpec, within: Confinement, signal: AbortSignal) => Promise<ProcessSpec>;

export interface CheckPlaces {
  /** Top of the tree that is checked. */
  readonly tree: AbsPath;
  /** What it may write beside that: the attempt's folder, a home of its own. */
  readonly write: readonly AbsPath[];
  /** What it must not write although it lies in the tree: files that are not its business. */
  readonly keep?: readonly AbsPath[];
}

/** The same for a check or a test program: it writes there and nowhere else, speaks to nobody, and reads no secrets. */
export type ConfineCheck = (spec: ProcessSpec, places: CheckPlaces, signal: AbortSignal) => Promise<ProcessSpec>;
