import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { absPath, type AbsPath } from "../base/paths.ts";
import { OrchError } from "../model/error.ts";

/** Where Orch is installed and where the user's own folders are on this machine. */
export interface MachinePlaces {
  readonly installRoot: AbsPath;
  readonly version: string;
  readonly configDir: AbsPath;
  readonly stateDir: AbsPath;
  readonly cacheDir: AbsPath;
  readonly platform: "posix" | "win32";
}

export interface MachineFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  /** URL of a module of this installation: a bundle in dist/, or compiled output in out/. */
  readonly moduleUrl: string;
  readonly home?: string;
}

/** @throws OrchError `env.no-runner` when the folder that holds rules/ and personas/ cannot be found. */
export function findMachine(facts: MachineFacts): MachinePlaces {
  const install = findInstall(dirname(fileURLToPath(facts.moduleUrl)));
  const home = facts.home ?? facts.env["HOME"] ?? homedir();
  const windows = facts.platform === "win32";
  const folder = (variable: string, ...otherwise: string[]): AbsPath => {
    const value = facts.env[variable];
    // XDG says that a relative value is to be ignored.
    const base = value !== undefined && isAbsolute(value, windows) ? value : join(home, ...otherwise);
    return absPath(join(base, "orch"));
  };
  return {
    installRoot: absPath(install.root),
    version: install.version,
    configDir: windows ? folder("APPDATA", "AppData", "Roaming") : folder("XDG_CONFIG_HOME", ".config"),
    stateDir: windows
      ? inLocal(folder("LOCALAPPDATA", "AppData", "Local"), "state")
      : folder("XDG_STATE_HOME", ".local", "state"),
    cacheDir: windows
      ? inLocal(folder("LOCALAPPDATA", "AppData", "Local"), "cache")
      : folder("XDG_CACHE_HOME", ".cache"),
    platform: windows ? "win32" : "posix",
  };
}

function inLocal(folder: AbsPath, name: string): AbsPath {
  return absPath(join(folder, name));
}

function isAbsolute(path: string, windows: boolean): boolean {
  return windows ? /^[A-Za-z]:[\\/]/.test(path) : path.startsWith("/");
}

function findInstall(start: string): { readonly root: string; readonly version: string } {
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = join(folder, "package.json");
    if (existsSync(manifest) && existsSync(join(folder, "rules")) && existsSync(join(folder, "personas"))) {
      const read: unknown = JSON.parse(readFileSync(manifest, "utf8"));
      const version = typeof read === "object" && read !== null && "version" in read ? String(read.version) : "unknown";
      return { root: folder, version };
    }
    if (dirname(folder) === folder)
      throw new OrchError("env.no-runner", `Orch's rules and personas are not above ${start}`);
  }
}
