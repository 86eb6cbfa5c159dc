import { simpleGit } from "simple-git";
import { throwIfAborted } from "../base/abort.ts";
import type { AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";

export interface GitAnswer {
  readonly code: number;
  readonly stdout: Uint8Array;
  readonly stderr: string;
}

/** One git without helpers of its own. Rejects only for an abort or when it cannot be started. */
export async function runAlone(
  binary: AbsPath,
  cwd: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  stdin: string | Uint8Array | undefined,
  signal: AbortSignal,
): Promise<GitAnswer> {
  throwIfAborted(signal);
  let got: GitAnswer | undefined;
  const git = simpleGit({
    baseDir: cwd,
    binary,
    abort: signal,
    trimmed: false,
    completion: { onClose: true, onExit: false },
    // The environment is built by gitEnvironment alone; simple-git's guards are for callers that pass on their own.
    allowEnvironment: Object.keys(env),
    unsafe: everything,
    ...(stdin === undefined ? {} : { input: () => (typeof stdin === "string" ? stdin : Buffer.from(stdin)) }),
    errors(_error, { exitCode, stdOut, stdErr }) {
      got = {
        code: exitCode,
        stdout: new Uint8Array(Buffer.concat(stdOut)),
        stderr: Buffer.concat(stdErr).toString("utf8"),
      };
      return undefined;
    },
  }).env({ ...env });
  try {
    await git.raw([...args]);
  } catch (error) {
    throwIfAborted(signal);
    // Only a git that never ran is left: exit codes are answers.
    if (got === undefined || got.code < 0)
      throw new OrchError("git.missing", "git could not be started", { cause: error });
  }
  throwIfAborted(signal);
  if (got === undefined) throw new TypeError(`no answer from git ${args[0]}`);
  return got;
}

const everything = {
  allowUnsafeCustomBinary: true,
  allowUnsafeAlias: true,
  allowUnsafeAskPass: true,
  allowUnsafeCommandBinaries: true,
  allowUnsafeConfigEnvCount: true,
  allowUnsafeConfigPaths: true,
  allowUnsafeCredentialHelper: true,
  allowUnsafeDiffExternal: true,
  allowUnsafeDiffTextConv: true,
  allowUnsafeEditor: true,
  allowUnsafeExec: true,
  allowUnsafeFilter: true,
  allowUnsafeFsMonitor: true,
  allowUnsafeGitProxy: true,
  allowUnsafeGpgProgram: true,
  allowUnsafeHooksPath: true,
  allowUnsafeInclude: true,
  allowUnsafeMergeDriver: true,
  allowUnsafePack: true,
  allowUnsafePager: true,
  allowUnsafeProtocolOverride: true,
  allowUnsafeSshCommand: true,
  allowUnsafeSubmodule: true,
  allowUnsafeTemplateDir: true,
  allowUnsafeUrlRewrite: true,
} as const;
