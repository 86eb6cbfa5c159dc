import path from "node:path";
import type { RepoPlace } from "../ports/git.ts";

/**
 * The whole environment of every git of ours, in one place. Nothing is inherited that is not named here; git's own
 * variables are gone but for those that say who the person is and where their configuration lies.
 */
const kept: ReadonlySet<string> = new Set([
  ...["HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TERM", "TZ", "EMAIL"],
  ...["XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "DBUS_SESSION_BUS_ADDRESS"],
  ...["DISPLAY", "WAYLAND_DISPLAY", "SSH_AUTH_SOCK", "SSH_AGENT_PID", "GNUPGHOME", "GPG_TTY"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERPROFILE", "HOMEDRIVE"],
  ...["HOMEPATH", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "USERNAME"],
  ...["GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"],
  ...["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"],
]);

/** Settings of every call. They win over every configuration file, and a program that git starts inherits them. */
const always: readonly (readonly [string, string])[] = [
  ["core.fsmonitor", "false"],
  ["protocol.ext.allow", "never"],
  ["safe.bareRepository", "explicit"],
  ["core.quotePath", "false"],
  ["core.pager", "cat"],
  ["color.ui", "false"],
  ["column.ui", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["submodule.recurse", "false"],
  ["fetch.recurseSubmodules", "false"],
  ["push.recurseSubmodules", "no"],
  ["merge.autoStash", "false"],
  ["merge.renormalize", "false"],
  ["merge.verifySignatures", "false"],
  ["log.showSignature", "false"],
  ["apply.ignoreWhitespace", "no"],
  ["i18n.commitEncoding", "UTF-8"],
  ["i18n.logOutputEncoding", "UTF-8"],
];

/** A folder that can hold no hook: below a device nothing can be planted, unlike in an empty folder. */
export const noHooks = "/dev/null";

export interface CallEnvironment {
  /** Absent only for finding the repository. */
  readonly place?: RepoPlace;
  readonly settings?: readonly (readonly [string, string])[];
  /** Where hooks may come from; absent: they are off, and so is signing. */
  readonly hooks?: { readonly path?: string };
  readonly indexFile?: string;
  /** More variables of git's own, e.g. GIT_OBJECT_DIRECTORY. */
  readonly extra?: Readonly<Record<string, string>>;
}

/** The base: what of the user's environment a git of ours may see. */
export function userEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const out: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && (kept.has(name) || kept.has(name.toUpperCase()))) out[name] = value;
  }
  const searchPath = Object.entries(env).find(([name]) => name.toUpperCase() === "PATH")?.[1] ?? "";
  // An empty or relative entry means the current folder: the repository could keep an `ssh` there.
  out["PATH"] = searchPath
    .split(path.delimiter)
    .filter((folder) => path.isAbsolute(folder))
    .join(path.delimiter);
  return out;
}

export function gitEnvironment(base: Readonly<Record<string, string>>, call: CallEnvironment): Record<string, string> {
  const env: Record<string, string> = {
    ...base,
    LC_ALL: "C",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_EDITOR: ":",
    GIT_SEQUENCE_EDITOR: ":",
    GIT_PAGER: "cat",
  };
  const settings: (readonly [string, string])[] = [...always, ...(call.settings ?? [])];
  if (call.hooks === undefined) {
    settings.push(["core.hooksPath", noHooks], ["commit.gpgSign", "false"], ["push.gpgSign", "false"]);
    env["GIT_LITERAL_PATHSPECS"] = "1";
  } else if (call.hooks.path !== undefined) settings.push(["core.hooksPath", call.hooks.path]);
  if (call.place !== undefined) {
    env["GIT_DIR"] = call.place.gitDir;
    env["GIT_WORK_TREE"] = call.place.root;
  }
  if (call.indexFile !== undefined) env["GIT_INDEX_FILE"] = call.indexFile;
  env["GIT_CONFIG_COUNT"] = String(settings.length);
  settings.forEach(([key, value], at) => {
    env[`GIT_CONFIG_KEY_${at}`] = key;
    env[`GIT_CONFIG_VALUE_${at}`] = value;
  });
  return { ...env, ...call.extra };
}
