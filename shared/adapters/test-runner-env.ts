import { type AbsPath, inRoot } from "../base/paths.ts";

/**
 * The check environment: what generated code and tests may know of the machine. Everything else (keys, tokens, agents,
 * the person's home) stays out. `home` is Orch's own folder for it; programs keep their caches there.
 */
const allowed = [
  "PATH",
  "LANG",
  "LANGUAGE",
  "TZ",
  "TMPDIR",
  "TMP",
  "TEMP",
  "CI",
  "PYENV_ROOT",
  "ASDF_DATA_DIR",
  "MISE_DATA_DIR",
  "VOLTA_HOME",
  "FNM_DIR",
  "NODENV_ROOT",
  "UV_CACHE_DIR",
  "UV_PYTHON_INSTALL_DIR",
  "SYSTEMROOT",
  "SYSTEMDRIVE",
  "WINDIR",
  "COMSPEC",
  "PATHEXT",
  "NUMBER_OF_PROCESSORS",
  "PROCESSOR_ARCHITECTURE",
  "PROGRAMFILES",
  "PROGRAMFILES(X86)",
  "PROGRAMDATA",
];

export function checkEnvironment(
  machine: { readonly env: Readonly<Record<string, string>>; readonly platform: "posix" | "win32" },
  home: AbsPath,
): Record<string, string> {
  const windows = machine.platform === "win32";
  const names = new Set(allowed);
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(machine.env)) {
    const known = windows ? name.toUpperCase() : name;
    if (names.has(known) || known.startsWith("LC_")) env[known] = value;
  }
  if (!windows && env["LC_ALL"] === undefined && env["LANG"] === undefined) env["LC_ALL"] = "C.UTF-8";
  const own = windows
    ? { USERPROFILE: home, APPDATA: inRoot(home, "AppData/Roaming"), LOCALAPPDATA: inRoot(home, "AppData/Local") }
    : {
        XDG_CONFIG_HOME: inRoot(home, ".config"),
        XDG_CACHE_HOME: inRoot(home, ".cache"),
        XDG_DATA_HOME: inRoot(home, ".local/share"),
        XDG_STATE_HOME: inRoot(home, ".local/state"),
      };
  return { ...env, ...own, HOME: home };
}
