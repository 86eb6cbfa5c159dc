import { demoUrlVariable } from "../../adapters/model-demo.ts";
import { stripControls } from "../../base/lines.ts";
import { type AbsPath, absPath, inRoot } from "../../base/paths.ts";
import { OrchError } from "../../model/error.ts";
import type { MachineContext } from "../context.ts";
import { sampleName } from "./sample.ts";
import type { DemoStory } from "./story.ts";

/** The one model that the sample's settings name. */
export const demoModel = "invoice";

export async function makeDemoFolder({ files, machine }: MachineContext, name: string): Promise<AbsPath> {
  const { env, platform } = machine;
  const temp = absPath(
    env["TMPDIR"] ?? env["TEMP"] ?? env["TMP"] ?? (platform === "win32" ? "C:\\Windows\\Temp" : "/tmp"),
  );
  const base = inRoot((await files.realPath(temp)) ?? temp, `orch-demo-${name}`);
  await files.makeDir(base, { mode: 0o700 });
  return base;
}

/** What the demo's commands get: enough to run programs, nothing of the user's settings, logins or keys. */
const passed = [
  "PATH",
  "Path",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  "USERPROFILE",
  "SystemRoot",
  "ComSpec",
  "PATHEXT",
  "ELECTRON_RUN_AS_NODE",
  "NO_COLOR",
] as const;

export function demoEnvironment(
  env: Readonly<Record<string, string>>,
  base: AbsPath,
  demoUrl: string,
  bin: string,
  platform: "posix" | "win32",
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const name of passed) {
    const value = env[name];
    if (value !== undefined) kept[name] = value;
  }
  const state = inRoot(base, "state");
  const places =
    platform === "win32"
      ? { APPDATA: inRoot(state, "roaming"), LOCALAPPDATA: inRoot(state, "local") }
      : {
          XDG_CONFIG_HOME: inRoot(state, "config"),
          XDG_STATE_HOME: inRoot(state, "state"),
          XDG_CACHE_HOME: inRoot(state, "cache"),
        };
  const separator = platform === "win32" ? ";" : ":";
  return {
    ...kept,
    ...places,
    PATH: [bin, kept["PATH"] ?? kept["Path"] ?? ""].join(separator),
    [demoUrlVariable]: demoUrl,
  };
}

/**
 * A repository as a person would have it, with a bare one beside it as its remote, and only the demo's model to ask.
 */
export async function makeDemoProject(
  { files, process, machine }: MachineContext,
  { files: sample }: DemoStory,
  { base, env }: { readonly base: AbsPath; readonly env: Readonly<Record<string, string>> },
  signal: AbortSignal,
): Promise<AbsPath> {
  const root = inRoot(base, sampleName);
  const remote = inRoot(base, `${sampleName}.git`);
  const config =
    machine.platform === "win32" ? inRoot(base, "state", "roaming", "orch") : inRoot(base, "state", "config", "orch");
  for (const folder of [root, config]) await files.makeDir(folder, { mode: 0o700 });
  await files.write(inRoot(config, "model_chain.json"), `${JSON.stringify([`demo/${demoModel}`])}\n`);
  for (const [path, text] of Object.entries(sample)) await files.write(inRoot(root, path), text);
  const git = async (...words: readonly string[]): Promise<void> => {
    const spec = { argv: ["git", ...words] as const, cwd: root, env, timeoutMs: 30_000, maxOutputBytes: 1024 * 1024 };
    const done = await process.run(spec, signal);
    signal.throwIfAborted();
    if (done.kind === "exited" && done.code === 0) return;
    throw new OrchError(
      "git.failed",
      `git ${words[0]} failed in the sample: ${stripControls(new TextDecoder().decode(done.stderr)).trim()}`,
      { data: { argv: words.join(" ") } },
    );
  };
  await git("init", "--quiet", "--bare", "--initial-branch=main", remote);
  await git("init", "--quiet", "--initial-branch=main");
  await git("config", "user.name", "Demo");
  await git("config", "user.email", "demo@example.invalid");
  await git("config", "commit.gpgSign", "false");
  await git("remote", "add", "origin", remote);
  await git("add", "--all");
  await git("commit", "--quiet", "--no-verify", "--message", "chore: corner shop");
  await git("push", "--quiet", "--no-verify", "--set-upstream", "origin", "main");
  return root;
}
