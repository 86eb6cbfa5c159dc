import type { AbsPath } from "../base/paths.ts";
import type { CommandResult } from "../model/command-result.ts";
import type { Config } from "../model/config.ts";
import type { Clock } from "../ports/clock.ts";
import type { Editor } from "../ports/editor.ts";
import type { EventSink } from "../ports/event-sink.ts";
import type { Files } from "../ports/files.ts";
import type { Git } from "../ports/git.ts";
import type { Ids } from "../ports/ids.ts";
import type { Locks } from "../ports/lock.ts";
import type { Process, ProcessSweep } from "../ports/process.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { Trash } from "../ports/trash.ts";
import type { Trust } from "../ports/trust.ts";

/** A command's words, the same from every host. `words` are the positional arguments as typed. */
export interface CommandArgs {
  readonly words: readonly string[];
  readonly prompt?: string;
  readonly model?: string;
  /** False with --no-controller. */
  readonly controller: boolean;
  readonly app?: string;
  /** --file as typed. */
  readonly file?: string;
  readonly yes: boolean;
  readonly dryRun: boolean;
  readonly json: boolean | "events";
  /** False with --no-input, in CI and without a terminal or editor. */
  readonly input: boolean;
  readonly allowOpen: boolean;
  readonly maxAttempts?: number;
  /** False with --no-push. */
  readonly push: boolean;
  readonly update: boolean;
  /** `""` for --changed without a ref. */
  readonly changed?: string;
  readonly sarif?: string;
  readonly junit?: string;
  readonly hash?: string;
  readonly revoke: boolean;
  readonly choice?: string;
  readonly text?: string;
  readonly keep: boolean;
  readonly timeoutS?: number;
  readonly fix?: boolean;
  readonly list?: boolean;
  /** The words of --ask; a host has read standard input already where they are `-`. */
  readonly ask?: string;
  /** --title of a wave. */
  readonly title?: string;
  readonly parallel?: number;
  /** --budget in USD. */
  readonly budget?: number;
  readonly worker?: string;
  /** --feedback: a file with what is to be mended. */
  readonly feedback?: string;
  /** --reply: a worker's final JSON, or the file that holds it. */
  readonly reply?: string;
  /** What a host read from standard input where `reply` is `-`. */
  readonly replyText?: string;
  readonly accept?: boolean;
  /** --revise: a file of numbered items. */
  readonly revise?: string;
  readonly takeOver?: boolean;
  readonly html?: boolean;
  readonly template?: boolean;
  /** --all of `clean`. */
  readonly all?: boolean;
  readonly purge?: boolean;
}

/** What a command is told by a person who types its name and nothing else. */
export const plainArgs = {
  words: [],
  controller: true,
  yes: false,
  dryRun: false,
  json: false,
  input: true,
  allowOpen: false,
  push: true,
  update: false,
  revoke: false,
  keep: false,
} satisfies CommandArgs;

/** Where Orch itself and the user's own state live on this machine. */
export interface Machine {
  /** Folder that holds rules/, personas/ and package.json of the installed Orch. */
  readonly installRoot: AbsPath;
  readonly version: string;
  /** `orch/` in the user's config, state and cache folders (XDG; %APPDATA% and %LOCALAPPDATA% on Windows). */
  readonly configDir: AbsPath;
  readonly stateDir: AbsPath;
  readonly cacheDir: AbsPath;
  /** The environment this process was started with. */
  readonly env: Readonly<Record<string, string>>;
  readonly platform: "posix" | "win32";
}

/** What a handler may use outside a repository; wired by compose.ts alone. */
export interface MachineContext {
  readonly machine: Machine;
  readonly files: Files;
  readonly process: Process & ProcessSweep;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly locks: Locks;
  readonly editor: Editor;
}

export interface ConfigValue {
  readonly key: string;
  readonly value: unknown;
  /** `default`, or the file that set it. */
  readonly source: string;
}

/** What a handler may use in a repository. */
export interface RepoContext extends MachineContext {
  readonly root: AbsPath;
  readonly git: Git;
  readonly trash: Trash;
  readonly trust: Trust;
  readonly sandbox: Sandbox;
  /** Trusted project settings over the user's over the defaults. */
  readonly config: Config;
  readonly configSources: readonly ConfigValue[];
  /** Where this command says what happened. For `read` commands it goes to nobody. */
  readonly sink: EventSink;
  /** The run's id and folder; for `read` and `local` commands a private temporary folder. */
  readonly run: string;
  readonly runDir: AbsPath;
}

/** One use case. It refuses with an OrchError and rejects with an AbortError when `signal` aborts. */
export type Handler<C extends MachineContext = RepoContext> = (
  context: C,
  args: CommandArgs,
  signal: AbortSignal,
) => Promise<CommandResult>;
