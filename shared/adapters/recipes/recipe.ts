import type { AbsPath } from "../../base/paths.ts";
import type { Amount, Usage } from "../../model/usage.ts";
import type { FailureWhy, UnusableWhy } from "../../ports/model.ts";

/**
 * One client as data: how it is started, what its stream means, what it leaves behind. Everything here is pure; the
 * one caller is worker-cli.ts, which owns the process, the limits and the verdict. What each client does when a
 * provider fails was measured; a recipe says in its header which of its quirks it works around.
 */
export interface Recipe {
  /** `pi`, `codex`, ...; also the name of its entry in `workers` of config.json. */
  readonly client: string;
  /** Name on the PATH. */
  readonly program: string;
  readonly tier: "first class" | "supported" | "best effort" | "untested" | "yours";
  /** How to get it, for a person. */
  readonly install?: string;
  /** Arguments that print its version, and the lowest one whose stream is known. */
  readonly version?: { readonly args: readonly string[]; readonly floor: string; readonly tested: string };
  readonly can: RecipeAbility;
  /** Time to the first call, memory and first prompt of the tested version, offline on two cores. */
  readonly measured?: string;
  readonly persists?: Persistence;
  /** Environment variables of the user's that this client needs for this model: keys, endpoints, and no others. */
  env(model: string | undefined, endpoint: Endpoint | undefined): readonly string[];
  /** Files of the user's home that hold its logins, brought into the worker's own home. */
  readonly logins: readonly Login[];
  /** Files of the user's home whose text `command` and `hosts` look at: name -> relative path. */
  readonly reads?: Readonly<Record<string, string>>;
  /** Hosts of its providers, for a sandbox that closes the network; `userFiles` are the texts of `reads`. */
  hosts(
    model: string | undefined,
    endpoint: Endpoint | undefined,
    userFiles?: Readonly<Record<string, string>>,
  ): readonly string[];
  /** Paths in the tree that the client itself may write; removed after a run unless they were there before. */
  readonly stray: readonly string[];
  command(task: WorkerTask): WorkerCommand;
  parser(): StreamParser;
}

/**
 * What a client does by itself with a provider that answers with an error: how often it makes the same request, and the
 * seconds until it gives up. No setting changes it where it is `fixed`, so a failure is known only then. How long a
 * provider tells it to wait is another matter: the limit on silence ends that.
 */
export interface Persistence {
  readonly requests: number;
  readonly seconds: number;
  readonly fixed?: true;
}

export interface RecipeAbility {
  /** `cold`: the session can be resumed, but the whole prompt is paid for again, so a retry starts afresh. */
  readonly resume: "cache-warm" | "cold" | "none";
  /** It can go on in a session only with the right to write: a reading contract's retry starts afresh. */
  readonly resumesToWrite?: true;
  /** `tokens`: only tokens are told, money comes from prices; `file`: they stand in a file it writes. */
  readonly cost: "reported" | "tokens" | "file" | "none";
  readonly readOnly: boolean;
  /** It confines its own shell where the system can. */
  readonly ownSandbox: boolean;
  /** False: a reply that the token limit cut looks like success, so one without a final JSON is taken as cut. */
  readonly tellsTokenLimit: boolean;
}

export interface Login {
  /** Relative to the user's home; `env` names the variable that moves the folder. */
  readonly from: string;
  readonly env?: { readonly name: string; readonly file: string };
  /** Relative to the worker's home. */
  readonly to: string;
  /**
   * How the worker gets it. A worker may never write a file of the person's that can name a command, or that they and
   * their programs read for anything but a token:
   *
   *   copy    its changes are nobody's; made anew for each attempt
   *   tokens  a copy too, of a file of pi's and opencode's kind; tokens that were refreshed reach the other side
   *   link    the file holds the tokens of one login that refreshes itself, and nothing that runs
   */
  readonly as: "copy" | "tokens" | "link";
}

/** An OpenAI-compatible or native endpoint of `models.providers`. */
export interface Endpoint {
  /** As written, usually with `/v1`. */
  readonly baseUrl: string;
  readonly keyEnv?: string;
  readonly provider: string;
}

export interface WorkerTask {
  readonly prompt: string;
  /** The worktree; the only folder of the repository's that it may write. */
  readonly dir: AbsPath;
  /** The worker's own home. Its TMPDIR lies beside it, never above it: codex cannot patch with a home under it. */
  readonly home: AbsPath;
  readonly tmp: AbsPath;
  /** Of the client, where it is known. */
  readonly version?: string;
  /** As the client names it; absent: the client's own default. */
  readonly model?: string;
  /** Session to go on in. */
  readonly session?: string;
  readonly access: "read" | "edit";
  readonly endpoint?: Endpoint;
  /** USD per million tokens; some clients compute the cost themselves when told. */
  readonly prices?: { readonly input: number; readonly output: number; readonly cacheRead?: number };
  /** Longer prompts than this go through a file or stdin where a client takes them as an argument. */
  readonly maxArgumentBytes: number;
  readonly wallMs: number;
  /** For clients that hold themselves to it; the others are ended when their stream says that it is reached. */
  readonly maxCostUsd?: number;
  /** Arguments of the user's. */
  readonly extraArgs: readonly string[];
  /** The endpoint's key, for clients that want it under a name of their own. */
  readonly key?: string;
  /** What the client is started with, before the recipe adds to it. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder that all homes share, for what a client unpacks once. */
  readonly shared: AbsPath;
  /** Texts of the user's own files that the recipe asks for by `reads`. */
  readonly userFiles: Readonly<Record<string, string>>;
  /** A sandbox of ours is around it: the client's own, which cannot be set up inside another, stays off. */
  readonly confined: boolean;
}

export interface WorkerCommand {
  /** Follows the program. */
  readonly args: readonly string[];
  /** Added to the base of every worker (PATH, HOME, TMPDIR, ...). */
  readonly env: Readonly<Record<string, string>>;
  /** Written into the home first, mode 0600. */
  readonly files: readonly { readonly path: AbsPath; readonly text: string }[];
  /** Absolute path -> shared folder it leads to. */
  readonly links?: readonly { readonly at: AbsPath; readonly to: AbsPath }[];
  /** The prompt, where the client reads it there. stdin is closed after it, at once when absent. */
  readonly stdin?: string;
  /** Read when the program has ended, for clients that tell usage in a file. */
  readonly afterwards?: AbsPath;
}

/** Reads a client's stdout line by line. Never throws on what it does not know. */
export interface StreamParser {
  line(text: string): void;
  /** Text of `WorkerCommand.afterwards`. */
  file?(text: string): void;
  /** What is known so far; asked after every line for the limits. */
  look(): StreamLook;
  /** Everything, when the program has ended. */
  end(stderr: string): StreamEnd;
  /** Lines that say nothing a person needs: deltas. They are left out of the transcript. */
  isNoise(text: string): boolean;
}

export interface StreamLook {
  readonly calls: number;
  /** Uses of tools that ended: many calls without any are a client that asks the same again. `unknown`: never told. */
  readonly tools: number | "unknown";
  readonly costUsd: Amount;
  /** A tool runs right now: silence is then the worker's own doing. `unknown`: one may run, or the model be waited for. */
  readonly inTool: boolean | "unknown";
}

export interface StreamEnd {
  /** The stream's own word that the run came to its end: not the program's. */
  readonly ended: boolean;
  /** Last text of the model. */
  readonly text: string;
  readonly session?: string;
  readonly model?: string;
  readonly usage: Usage;
  readonly calls: number;
  /** The provider or the client failed. */
  readonly failure?: { readonly why: FailureWhy; readonly message: string };
  /** It ended itself at `maxCostUsd`. */
  readonly overCost?: true;
  /** The model's last reply cannot be used. */
  readonly unusable?: UnusableWhy;
  readonly denied: readonly string[];
}
