import type { AbsPath, RepoPath } from "../base/paths.ts";
import type { WorkerReport } from "../model/attempt.ts";
import type { Change, ChangedFile } from "../model/change.ts";
import type { Contract } from "../model/contract.ts";
import type { Finding } from "../model/finding.ts";
import type { GateResult } from "../model/gate-result.ts";
import type { Observed } from "../model/observed.ts";
import type { Pack } from "../model/pack.ts";
import type { Target } from "../model/target.ts";
import type { EventSink } from "./event-sink.ts";

/** One row of a spec: a rule, an error case, an example, an input or an output. */
export interface SpecFact {
  readonly section: "Inputs" | "Outputs" | "Rules" | "Errors" | "Examples";
  /** Of spec.md. */
  readonly line: number;
  /** A rule has one cell. */
  readonly cells: readonly string[];
}

/** What the spec says that the slice is judged by. */
export interface SpecFacts {
  readonly rows: readonly SpecFact[];
  /** What it said when the Tests file was last written, and says no more. */
  readonly gone: readonly SpecFact[];
}

/** What a gate may know of the feature whose slice is judged; absent for contracts that are no feature. */
export interface SliceFacts {
  readonly target: Target;
  readonly dir: RepoPath;
  readonly pack: Pack;
  /** False with --no-controller. */
  readonly controller: boolean;
  readonly registry: RepoPath;
  /** Absent where nobody read it. */
  readonly spec?: SpecFacts;
}

export interface GateInput {
  readonly contract: Contract;
  readonly attempt: number;
  readonly root: AbsPath;
  readonly change: Change;
  readonly report?: WorkerReport;
  /** What Orch saw outside the diff; absent where nobody looked. */
  readonly observed?: Observed;
  readonly slice?: SliceFacts;
  /** Paths that the attempts before this one had changed; absent on the first. */
  readonly earlier?: readonly string[];
  /** Findings of the gates before this one, so that commands can be left out where running is unsafe or pointless. */
  readonly soFar: readonly Finding[];
  /** Folder for this attempt's logs and reports, relative to the run folder, and its absolute path. */
  readonly attemptDir: { readonly relative: string; readonly absolute: AbsPath };
  readonly sink: EventSink;
  read(path: RepoPath): Promise<Uint8Array | undefined>;
  readBase(path: RepoPath): Promise<Uint8Array | undefined>;
  /** What is not as the change has it, since the change was collected; absent where a person works in the same tree. */
  changedSince?(signal: AbortSignal): Promise<readonly ChangedFile[]>;
}

/** A gate finds; it does not judge the run. */
export interface Gate {
  readonly id: string;
  readonly phase: "readiness" | "change" | "judgement" | "final";
  /** Asked also about an attempt that said nothing about the work: it looks at the machine, not at the change. */
  readonly always?: true;
  run(input: GateInput, signal: AbortSignal): Promise<GateResult>;
}
