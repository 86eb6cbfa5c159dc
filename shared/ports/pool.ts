import type { AbsPath } from "../base/paths.ts";
import type { Finding } from "../model/finding.ts";
import type { BrokenRule } from "../model/rule.ts";

/** A rule file as read by the caller; `project`: a trusted addition, merged over the installed set of its language. */
export interface RuleSource {
  readonly path: string;
  readonly text: string;
  readonly project: boolean;
}

/** What the rules of a run are made of; equal settings give equal findings. */
export interface RuleSettings {
  readonly sources: readonly RuleSource[];
  /** Rule id -> switch, from trusted configuration. */
  readonly switches: Readonly<Record<string, "off" | "warn" | "fail">>;
}

export interface AuditFile {
  /** Repository path. */
  readonly path: string;
  readonly at: AbsPath;
  readonly role?: string;
  /** What it holds, when the asker has read it; threads read for themselves. */
  readonly text?: string;
}

/** Which of an `agree` rule's choices a file uses, and where first. */
export interface Fact {
  readonly rule: string;
  readonly choice: string;
  readonly line: number;
}

/** Every file gets exactly one answer. */
export type FileAnswer =
  | {
      readonly kind: "audited";
      readonly path: string;
      readonly findings: readonly Finding[];
      readonly facts: readonly Fact[];
    }
  | { readonly kind: "skipped"; readonly path: string; readonly why: string };

/**
 * CPU-heavy work off the calling thread: at most two threads, started on first use, ended when idle. A file that kills
 * or stalls its thread is answered as skipped and the others go on. An abort ends the threads and rejects.
 */
export interface Pool extends AsyncDisposable {
  /** Rules that the threads had to leave out under these settings, queries that do not compile among them: known once a file was judged. */
  broken(settings: RuleSettings): readonly BrokenRule[];
  audit(settings: RuleSettings, files: readonly AuditFile[], signal: AbortSignal): Promise<readonly FileAnswer[]>;
}
