import { below, dirName, isInside } from "../base/paths.ts";

/**
 * Hidden entries of a home that hold tools, not secrets: what a check's interpreter is made of. Every other hidden entry
 * is closed to checks, known or not, for that is where credentials, histories and other agents' sessions are.
 */
const toolFolders = new Set([
  ".asdf",
  ".bun",
  ".cargo",
  ".conda",
  ".deno",
  ".dotnet",
  ".fnm",
  ".ghcup",
  ".goenv",
  ".jenv",
  ".juliaup",
  ".local",
  ".mise",
  ".nix-profile",
  ".nodenv",
  ".nvm",
  ".pyenv",
  ".rbenv",
  ".rustup",
  ".rye",
  ".sdkman",
  ".venv",
  ".venvs",
  ".virtualenvs",
  ".volta",
]);

/** Secrets inside those, and the open folders of macOS that hold some. */
const insideOthers = [
  ".cargo/credentials",
  ".cargo/credentials.toml",
  ".local/share/keyrings",
  ".local/share/kwalletd",
  ".local/state",
  "Library/Application Support",
  "Library/Cookies",
  "Library/Keychains",
  "Library/Mail",
  "Library/Messages",
  "Library/Safari",
];

/** What a check may not read of a home. `names` are its entries. */
export function privatePlaces(home: string, names: readonly string[]): string[] {
  const hidden = names.filter((name) => name.startsWith(".") && !toolFolders.has(name));
  return [...hidden, ...insideOthers].map((name) => `${home}/${name}`);
}

const programFolders = new Set(["bin", "sbin", "shims", "Scripts", "condabin"]);
/** Folders that hold many things: a program folder in one is shown without the rest of it. */
const shared = new Set(["", ".local", ".cache", ".config"]);

/**
 * The installations that the folders of PATH belong to (`<place>/bin` belongs to `<place>`), so that a tool in a closed
 * place can be read all the same. Never a home or a temporary folder whole.
 */
export function toolPlaces(programFolderPaths: readonly string[], home: string | undefined): string[] {
  return programFolderPaths.map((folder) => {
    const place = dirName(folder);
    if (!programFolders.has(folder.slice(place.length + 1)) || place === "/" || place === ".") return folder;
    if (["/tmp", "/var/tmp", "/run"].includes(place)) return folder;
    if (home === undefined) return place;
    const inHome = place === home ? "" : below(place, home);
    return isInside(home, place) || (inHome !== undefined && shared.has(inHome)) ? folder : place;
  });
}
