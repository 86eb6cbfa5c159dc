import type { AbsPath } from "../base/paths.ts";
import type { ParsedEvent } from "../model/event.ts";
import type { Bystanders } from "../ports/bystanders.ts";
import type { Gate } from "../ports/gate.ts";
import type { TestRunner } from "../ports/test-runner.ts";
import type { PromptRule } from "../prompts/sections.ts";
import type { Redact } from "../prompts/redact.ts";
import type { SpecContext } from "./spec-draft.ts";

/** The gates of a feature, the rules a model is told about, and what takes secrets out of prompts: one rulebook. */
export interface ProjectGates {
  readonly gates: readonly Gate[];
  /** What a model is told before it writes in this language. */
  readonly rules: (lang: string) => readonly PromptRule[];
  readonly redact: Redact;
  /** The files of a worktree are those of the commit that it was made of; what a change brings, the gates know. */
  madeOf(root: AbsPath, commit: string): void;
}

/** What `do` uses beside the repository; compose.ts wires it. */
export interface DoContext extends SpecContext {
  readonly testRunner: TestRunner;
  readonly bystanders: Bystanders;
  /** Loaded after trust was asked for, so that trusted additions of the project count. */
  projectGates(): Promise<ProjectGates>;
  /** Events of earlier runners of this run; empty in a new one. */
  readonly history: readonly ParsedEvent[];
  /** Makes `.orch/runs/<contract>` lead to this run's folder of it. */
  linkContract(contract: string): Promise<void>;
}
