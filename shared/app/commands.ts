/**
 * THE table of commands: it drives the CLI, the palette, `:Orch` completion, help and docs. Data only: no handler and no
 * package is imported here, because the extension's entry loads it at activation. Long because every command is a row.
 */
export interface CommandArgument {
  readonly name: string;
  readonly required: boolean;
  readonly many?: boolean;
  readonly summary: string;
  /** What a host may offer for it. */
  readonly completes?: Completes;
  /** The only words it takes. */
  readonly choices?: readonly string[];
}

export type Completes =
  | "feature"
  | "branch"
  | "run"
  | "attempt"
  | "trash"
  | "decision"
  /** Ids of .orch/contracts, and those that runs know. */
  | "contract"
  /** Paths of .orch/contracts. */
  | "contract-file"
  | "path"
  | "model"
  /** Ids of the table of workers. */
  | "worker"
  | "setting"
  | "app";

export interface CommandOption {
  /** Long name without dashes; `no-` options are booleans that turn something off. */
  readonly name: string;
  readonly short?: string;
  readonly value?: string;
  readonly summary: string;
  /** What may be offered for its value. */
  readonly completes?: Completes;
  readonly choices?: readonly string[];
  /** Its value names a file that is written. */
  readonly writes?: boolean;
  /** Where it is of use, if not everywhere: in a terminal, or wherever the command is typed and not picked. */
  readonly only?: "terminal" | "typed";
  /** What the command's words are with it, where no argument of the command says so. */
  readonly words?: string;
}

/**
 * `run`: an invocation with a run folder, carried out by the detached runner. `read`: answered in a short process,
 * changes nothing. `local`: changes only the user's own state, or talks to a run folder; no runner.
 */
export interface Command {
  readonly name: string;
  /** In an editor's palette, where `orch new` is `Orch: New Feature`; the name with a capital when absent. */
  readonly title?: string;
  readonly summary: string;
  readonly kind: "run" | "read" | "local";
  readonly args: readonly CommandArgument[];
  readonly options: readonly OptionName[];
  /** Works outside a repository. */
  readonly anywhere?: boolean;
  /** Of use in a terminal only: no editor offers it, and its plain form is printed alone, so that a shell can read it. */
  readonly terminal?: boolean;
  /** What goes, said in help; asked about first where it is not already in the default branch. */
  readonly danger?: string;
  /** What becomes of it, where it is not simply stored for `restore`. */
  readonly kept?: string;
  readonly next: readonly CommandName[];
  readonly example: string;
}

export const options = {
  prompt: {
    name: "prompt",
    short: "p",
    value: "text or .md path",
    summary: "What is wanted; an existing .md path is read from disk",
    completes: "path",
  },
  model: {
    name: "model",
    short: "m",
    value: "id",
    summary: "Model to lead this run and later ones",
    completes: "model",
  },
  controller: { name: "no-controller", summary: "No Controller file: a background worker" },
  file: {
    name: "file",
    value: "path",
    summary: "A file of the feature, where the feature is not named",
    completes: "path",
  },
  app: { name: "app", short: "a", value: "key", summary: "App of .features.json to work in", completes: "app" },
  yes: { name: "yes", short: "y", summary: "Answer the confirmation with yes; never grants trust", only: "typed" },
  "dry-run": { name: "dry-run", summary: "Say what would happen and change nothing" },
  json: {
    name: "json",
    value: "[events]",
    summary: "One JSON document; --json=events prints the event lines",
    choices: ["events"],
    only: "terminal",
  },
  "no-input": { name: "no-input", summary: "Never ask; refuse where an answer is needed", only: "terminal" },
  "no-wait": { name: "no-wait", summary: "Start the run and return its id", only: "terminal" },
  "allow-open": { name: "allow-open", summary: "Start although another feature branch is open" },
  "max-attempts": { name: "max-attempts", value: "n", summary: "Attempts before a person decides" },
  "no-push": { name: "no-push", summary: "Keep everything on this machine" },
  update: { name: "update", summary: "Merge main into the feature first and run the gates again" },
  changed: {
    name: "changed",
    value: "[ref]",
    summary: "Only files that differ from ref (default: the default branch)",
    completes: "branch",
  },
  sarif: {
    name: "sarif",
    value: "file",
    summary: "Also write the findings as SARIF 2.1.0",
    completes: "path",
    writes: true,
  },
  junit: {
    name: "junit",
    value: "file",
    summary: "Also write the results as JUnit XML",
    completes: "path",
    writes: true,
  },
  hash: {
    name: "hash",
    value: "sha256",
    summary: "Trust exactly this content, without a question (for CI)",
    only: "typed",
  },
  revoke: { name: "revoke", summary: "Forget that this repository is trusted" },
  choice: { name: "choice", value: "id", summary: "The choice to answer with", only: "typed" },
  text: { name: "text", value: "words", summary: "Words to answer with" },
  keep: { name: "keep", summary: "Keep the demo's folder", only: "typed" },
  timeout: { name: "timeout", value: "seconds", summary: "Give up waiting after this long" },
  fix: { name: "fix", summary: "Mend what is safe and can be undone; ask about the rest" },
  list: { name: "list", summary: "Ask every lane which models it offers, for a few seconds at most" },
  ask: {
    name: "ask",
    value: "words or -",
    summary: "Ask them once, in their order, and print the reply; - reads the words from standard input",
  },
  title: { name: "title", value: "words", summary: "What the run is called" },
  parallel: { name: "parallel", value: "n", summary: "Contracts at once; 3 workers live on a machine in any case" },
  budget: { name: "budget", value: "usd", summary: "What all contracts of the run may cost together" },
  worker: {
    name: "worker",
    value: "id",
    summary: "This worker and no other; provider/model is one completion",
    completes: "worker",
  },
  feedback: {
    name: "feedback",
    value: "file",
    summary: "What is to be mended: goes on from the last change",
    completes: "path",
  },
  reply: {
    name: "reply",
    value: "file or -",
    summary: "The worker's final JSON; - reads it from stdin",
    completes: "path",
  },
  accept: { name: "accept", summary: "Accept exactly this change" },
  revise: { name: "revise", value: "file", summary: "Send it back with numbered items", completes: "path" },
  "take-over": { name: "take-over", summary: "Close the task as yours; its last change is kept" },
  all: { name: "all", summary: "Also pooled worktrees, those of interrupted runs, and every run that is over" },
  purge: { name: "purge", summary: "Also forget what is stored for restore, for good" },
  html: { name: "html", summary: "Write the report as a page" },
  template: {
    name: "template",
    summary: "Write a new contract with every field, a comment each: [kind] ID",
    words: "[kind] ID",
  },
} as const satisfies Record<string, CommandOption>;
export type OptionName = keyof typeof options;

/** Every command takes these, before or after its name. */
export const globalOptions = [
  { name: "C", value: "dir", summary: "Work in this folder", completes: "path" },
  { name: "verbose", summary: "Every event as a line" },
  { name: "quiet", summary: "Only the outcome" },
] as const satisfies readonly CommandOption[];

const common = ["json", "no-input"] as const;

export const commands = {
  demo: {
    name: "demo",
    title: "Run the Demo",
    summary: "Run the whole flow on a sample project, offline",
    kind: "local",
    anywhere: true,
    args: [],
    options: ["keep", "json"],
    next: ["new"],
    example: "orch demo",
  },
  init: {
    name: "init",
    title: "Set Up a Project",
    summary: "Make a project, or add what is missing to the one here: repository, constitution, links",
    kind: "run",
    anywhere: true,
    args: [
      {
        name: "path/name",
        required: true,
        summary: "Folder to make; . adopts the folder you are in",
        completes: "path",
      },
      {
        name: "prompt",
        required: false,
        many: true,
        summary: "For the next command: a project begins without a feature",
      },
    ],
    options: ["prompt", "dry-run", "no-wait", "yes", ...common],
    next: ["new"],
    example: "orch init work/shop",
  },
  new: {
    name: "new",
    title: "New Feature",
    summary: "Start a feature: branch, spec.md and the slice's files",
    kind: "run",
    args: [
      { name: "domain/Feature", required: true, summary: "Where the feature lives", completes: "feature" },
      { name: "prompt", required: false, many: true, summary: "What it does" },
    ],
    options: ["prompt", "model", "controller", "app", "dry-run", "allow-open", "no-wait", "yes", ...common],
    next: ["do"],
    example: 'orch new Billing/Invoice "Totals with tax per line"',
  },
  modify: {
    name: "modify",
    title: "Modify Feature",
    summary: "Amend a feature's spec.md: a numbered, dated amendment with your words",
    kind: "run",
    args: [
      {
        name: "domain/Feature",
        required: false,
        summary: "The feature; the file you look at decides when absent",
        completes: "feature",
      },
      { name: "prompt", required: false, many: true, summary: "What changes" },
    ],
    options: ["prompt", "model", "file", "app", "dry-run", "allow-open", "no-wait", "yes", ...common],
    next: ["do"],
    example: 'orch modify Billing/Invoice "Round each line, not the total"',
  },
  do: {
    name: "do",
    summary: "Implement the feature's spec.md; commit and push when every gate passes",
    kind: "run",
    args: [
      { name: "Feature", required: false, summary: "The feature; inferred from the branch", completes: "feature" },
      { name: "prompt", required: false, many: true, summary: "More about what is wanted" },
    ],
    options: [
      "prompt",
      "model",
      "worker",
      "controller",
      "app",
      "dry-run",
      "allow-open",
      "max-attempts",
      "no-push",
      "no-wait",
      "yes",
      ...common,
    ],
    next: ["merge"],
    example: "orch do",
  },
  move: {
    name: "move",
    title: "Move Feature",
    summary: "Rename a feature: folder, registration, branch; put back when a test goes red",
    kind: "run",
    args: [
      { name: "Old/Old", required: true, summary: "The feature", completes: "feature" },
      { name: "New/New", required: true, summary: "Its new domain and name" },
    ],
    options: ["app", "allow-open", "no-push", "dry-run", "no-wait", "yes", ...common],
    next: ["merge"],
    example: "orch move Billing/Invoice Sales/Bill",
  },
  delete: {
    name: "delete",
    title: "Delete Feature",
    summary: "Remove a feature: slice, registration, local branches; everything can be restored",
    kind: "run",
    args: [
      { name: "Feature", required: false, summary: "The feature; inferred from the branch", completes: "feature" },
    ],
    options: ["app", "dry-run", "no-wait", "yes", ...common],
    danger: "removes the feature's folder, its registration and its local branches",
    next: ["scan", "new"],
    example: "orch delete Billing/Invoice",
  },
  merge: {
    name: "merge",
    summary:
      "Merge the feature branch after the gates pass on the result; or accepted contracts into the tree, unstaged",
    kind: "run",
    args: [
      {
        name: "Feature or ID",
        required: false,
        many: true,
        summary: "The feature, inferred from the branch; or contracts that a review accepted",
        completes: "feature",
      },
    ],
    options: ["app", "update", "no-push", "dry-run", "no-wait", "yes", ...common],
    danger: "deletes the feature branch here and on the remote, once main holds it",
    kept: "The work is in main by then; a branch that main took in as other commits can be restored",
    next: ["scan", "new"],
    example: "orch merge",
  },
  undo: {
    name: "undo",
    summary: "Discard the feature branch; everything that goes can be restored",
    kind: "run",
    args: [
      { name: "Feature", required: false, summary: "The feature; inferred from the branch", completes: "feature" },
    ],
    options: ["app", "no-push", "dry-run", "no-wait", "yes", ...common],
    danger: "removes the feature's branch and uncommitted work in the slice",
    next: ["new", "scan"],
    example: "orch undo",
  },
  restore: {
    name: "restore",
    title: "Restore Removed Work",
    summary: "List what was removed, or bring it back byte for byte",
    kind: "run",
    args: [{ name: "id", required: false, summary: "The entry to bring back", completes: "trash" }],
    options: ["dry-run", "no-wait", "yes", ...common],
    next: ["do"],
    example: "orch restore",
  },
  clean: {
    name: "clean",
    title: "Clean Up",
    summary: "Remove worktrees and old runs; what is in no commit can be restored",
    kind: "run",
    args: [],
    options: ["all", "purge", "dry-run", "no-wait", "yes", ...common],
    danger:
      "removes worktrees nobody works in and runs beyond keep_runs; with --purge also what restore could bring back",
    next: ["restore", "status"],
    example: "orch clean --dry-run",
  },
  apply: {
    name: "apply",
    title: "Apply a Kept Change",
    summary: "Apply a kept change of a failed attempt to the tree",
    kind: "run",
    args: [
      {
        name: "run/ID/attempt-N",
        required: true,
        summary: "The attempt whose change to apply",
        completes: "attempt",
      },
    ],
    options: ["dry-run", "no-wait", "yes", ...common],
    next: ["do", "status"],
    example: "orch apply r-20260131-101500-ab12/Invoice/attempt-2",
  },
  run: {
    name: "run",
    title: "Run Contracts",
    summary: "Carry out contracts: worktree, worker, gates, feedback, held for review",
    kind: "run",
    args: [
      { name: "files", required: true, many: true, summary: "Contracts: paths or ids", completes: "contract-file" },
    ],
    options: ["title", "parallel", "budget", "dry-run", "no-wait", ...common],
    next: ["review", "status"],
    example: 'orch run --title "Slugs" .orch/contracts/T1.json .orch/contracts/T2.json',
  },
  dispatch: {
    name: "dispatch",
    title: "Dispatch One Attempt",
    summary: "One attempt at a contract, for debugging or after a review sent it back",
    kind: "run",
    args: [{ name: "file", required: true, summary: "The contract: path or id", completes: "contract-file" }],
    options: ["feedback", "worker", "budget", "no-wait", ...common],
    next: ["review"],
    example: "orch dispatch T1 --feedback .orch/runs/T1/feedback.md",
  },
  prepare: {
    name: "prepare",
    title: "Prepare a Place for a Worker",
    summary: "A worktree and a prompt for a worker that Orch does not start",
    kind: "run",
    args: [{ name: "file", required: true, summary: "The contract: path or id", completes: "contract-file" }],
    options: ["no-wait", ...common],
    next: ["guard"],
    example: "orch prepare T1",
  },
  guard: {
    name: "guard",
    title: "Guard What a Prepared Worker Left",
    summary: "Gate 1 on what a prepared worker left",
    kind: "run",
    args: [{ name: "file", required: true, summary: "The contract: path or id", completes: "contract-file" }],
    options: ["reply", "no-wait", ...common],
    next: ["review"],
    example: "orch guard T1 --reply -",
  },
  review: {
    name: "review",
    title: "Review a Contract",
    summary: "Look at a contract's change, its gates and the checklist; accept it, send it back, or take it over",
    kind: "run",
    args: [{ name: "ID", required: true, summary: "The contract", completes: "contract" }],
    options: ["accept", "revise", "take-over", "text", "no-wait", ...common],
    next: ["merge"],
    example: "orch review T1 --accept",
  },
  final: {
    name: "final",
    title: "Run the Final Checks",
    summary: "Project-wide checks once over everything that was merged, and the combined diff",
    kind: "run",
    args: [],
    options: ["no-wait", ...common],
    next: ["report"],
    example: "orch final",
  },
  check: {
    name: "check",
    title: "Check Contracts",
    summary: "Is a contract fit to be handed out? Every fault with its line and what mends it",
    kind: "local",
    args: [
      {
        name: "contract",
        required: false,
        many: true,
        summary: "Files or ids; all of .orch/contracts",
        completes: "contract-file",
      },
    ],
    options: ["template", ...common],
    next: ["run"],
    example: "orch check .orch/contracts/T1.json",
  },
  route: {
    name: "route",
    title: "Route a Task",
    summary: "Suggest who should do a task: you, an analysis first, or contracts",
    kind: "read",
    args: [{ name: "task", required: true, many: true, summary: "The task in words" }],
    options: [...common],
    next: ["run"],
    example: 'orch route "add tests for the parser and the lexer"',
  },
  scan: {
    name: "scan",
    title: "Scan Features",
    summary: "Find slices by structure, grouped by domain",
    kind: "read",
    args: [],
    options: ["app", ...common],
    next: ["new", "modify"],
    example: "orch scan",
  },
  qa: {
    name: "qa",
    title: "QA: Audit and Test",
    summary: "Audit every source file and run every feature's tests; no model",
    kind: "read",
    args: [{ name: "path", required: false, many: true, summary: "Files or folders to audit", completes: "path" }],
    options: ["changed", "sarif", "junit", "app", ...common],
    next: ["scan", "new"],
    example: "orch qa --changed",
  },
  status: {
    name: "status",
    title: "Show Status",
    summary: "What runs, what waits for you, what it cost",
    kind: "read",
    args: [{ name: "run", required: false, summary: "One run", completes: "run" }],
    options: [...common],
    next: ["runs"],
    example: "orch status",
  },
  runs: {
    name: "runs",
    title: "List Runs",
    summary: "List the runs of this repository",
    kind: "read",
    args: [],
    options: [...common],
    next: ["status"],
    example: "orch runs",
  },
  log: {
    name: "log",
    title: "Show a Run's Log",
    summary: "What happened in a run, in order, a line each",
    kind: "read",
    args: [
      { name: "run", required: true, summary: "The run, or a contract of which it is the newest", completes: "run" },
    ],
    options: [...common],
    next: ["status"],
    example: "orch log r-20260131-101500-ab12",
  },
  report: {
    name: "report",
    title: "Report on the Contracts",
    summary: "What was done, by whom, what was rejected and why, checks run, what is left",
    kind: "local",
    args: [],
    options: ["html", ...common],
    next: ["status"],
    example: "orch report --html",
  },
  wait: {
    name: "wait",
    title: "Wait for a Run",
    summary: "Block until a decision is pending or the run ends",
    kind: "read",
    args: [{ name: "run", required: false, summary: "The run; the newest", completes: "run" }],
    options: ["timeout", ...common],
    next: ["reply"],
    example: "orch wait",
  },
  reply: {
    name: "reply",
    title: "Reply to a Decision",
    summary: "Answer a pending question or decision; the first answer stands",
    kind: "local",
    args: [{ name: "id", required: true, summary: "The question's id", completes: "decision" }],
    options: ["choice", "text", ...common],
    next: ["status"],
    example: "orch reply q-1 --choice yes",
  },
  resume: {
    name: "resume",
    title: "Resume a Run",
    summary: "Continue an interrupted or parked run",
    kind: "local",
    args: [{ name: "run", required: false, summary: "The run; the newest that can", completes: "run" }],
    options: ["no-wait", ...common],
    next: ["status"],
    example: "orch resume",
  },
  cancel: {
    name: "cancel",
    title: "Cancel a Run",
    summary: "End a run with its whole process tree",
    kind: "local",
    args: [{ name: "run", required: false, summary: "The run; the one that is alive", completes: "run" }],
    options: [...common],
    next: ["status"],
    example: "orch cancel",
  },
  trust: {
    name: "trust",
    title: "Trust This Repository",
    summary: "Look at what this repository would run or change, and decide",
    kind: "local",
    args: [],
    options: ["hash", "revoke", "dry-run", ...common],
    next: ["do"],
    example: "orch trust",
  },
  doctor: {
    name: "doctor",
    title: "Doctor",
    summary: "Check this machine, this repository and Orch's own state; --fix mends what is safe",
    kind: "local",
    anywhere: true,
    args: [],
    options: ["fix", ...common],
    next: [],
    example: "orch doctor --fix",
  },
  model: {
    name: "model",
    title: "Models: Order and Reasons",
    summary: "Which models are tried, in which order and why; with an id, which one leads",
    kind: "local",
    anywhere: true,
    args: [{ name: "id", required: false, summary: "The model to lead from now on, or auto", completes: "model" }],
    options: ["list", "ask", "yes", ...common],
    next: ["do"],
    example: "orch model openrouter/poolside/laguna-s-2.1:free",
  },
  config: {
    name: "config",
    title: "Explain the Settings",
    summary: "Every setting with its value and the file that set it",
    kind: "read",
    anywhere: true,
    args: [
      { name: "action", required: false, summary: "What to do; explain when absent", choices: ["explain"] },
      { name: "key", required: false, summary: "One setting, or the beginning of several", completes: "setting" },
    ],
    options: [...common],
    next: ["doctor"],
    example: "orch config explain features.max_attempts",
  },
  completion: {
    name: "completion",
    summary: "Print what makes a shell complete orch's words",
    kind: "read",
    anywhere: true,
    terminal: true,
    args: [{ name: "shell", required: true, summary: "Your shell", choices: ["bash", "zsh", "fish", "pwsh"] }],
    options: ["json"],
    next: [],
    example: "orch completion bash",
  },
} as const satisfies Record<
  string,
  Omit<Command, "options" | "next"> & { readonly options: readonly string[]; readonly next: readonly string[] }
>;

export type CommandName = keyof typeof commands;

export const commandTable: readonly Command[] = Object.values(commands);

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(commands, name);
}
