import * as z from "zod";
import { type AbsPath, absPath, dirName, extName, inRoot, isAbsolutePath } from "../base/paths.ts";
import type { Files } from "../ports/files.ts";
import type { Process } from "../ports/process.ts";
import type { Recipe } from "./recipes/recipe.ts";
import { isLower } from "./recipes/version.ts";

/** Is a client here, where, and which version? The answer is kept until the program's file changes. */
export type FoundClient =
  | {
      readonly kind: "found";
      /** How to start it; arguments follow. */
      readonly argv: readonly [string, ...string[]];
      /** Where it is installed: what a sandbox must leave readable. */
      readonly folders: readonly AbsPath[];
      readonly version?: string;
      /** Its version is lower than the stream that the recipe reads. */
      readonly tooOld?: string;
    }
  | { readonly kind: "missing"; readonly why: string };

export interface ClientProbeDeps {
  readonly files: Files;
  readonly process: Process;
  readonly env: Readonly<Record<string, string>>;
  /** A Node at or above the floor: npm's links lead to whatever node is first on PATH, which may be too old. */
  readonly nodePath: string;
  readonly cacheDir: AbsPath;
}

const versionMs = 20_000;
const CacheFile = z.record(z.string(), z.string());

export async function findClient(
  deps: ClientProbeDeps,
  recipe: Pick<Recipe, "program" | "version">,
  command: string | undefined,
): Promise<FoundClient> {
  const { files, process, env, nodePath } = deps;
  const named = command ?? recipe.program;
  const path = isAbsolutePath(named) ? absPath(named) : await process.which(named, env["PATH"] ?? env["Path"] ?? "");
  const real = path === undefined ? undefined : await files.realPath(path);
  const stat = real === undefined ? undefined : await files.stat(real);
  if (path === undefined || real === undefined || stat === undefined) {
    return { kind: "missing", why: isAbsolutePath(named) ? `there is no ${named}` : `${named} is not on the PATH` };
  }
  const script = await isNodeScript(files, real);
  const argv: readonly [string, ...string[]] = script ? [nodePath, real] : [path];
  const folders = [installOf(real), ...(script ? [absPath(dirName(dirName(nodePath)))] : [])];
  const key = `${real} ${stat.sizeBytes} ${stat.mtimeMs}`;
  const version = await versionOf(deps, recipe, real, argv, key);
  const floor = recipe.version?.floor;
  return {
    kind: "found",
    argv,
    folders,
    ...(version === undefined ? {} : { version }),
    ...(version !== undefined && floor !== undefined && isLower(version, floor) ? { tooOld: floor } : {}),
  };
}

/** The outermost `node_modules` the program lies in (its native parts are its neighbours), else its own folder. */
function installOf(real: AbsPath): AbsPath {
  const at = real.replaceAll("\\", "/").indexOf("/node_modules/");
  return at === -1 ? absPath(dirName(real)) : absPath(real.slice(0, at + "/node_modules".length));
}

/** Also by the first line: npm's links lead to a script. */
export async function isNodeScript(files: Files, path: AbsPath): Promise<boolean> {
  if ([".js", ".mjs", ".cjs"].includes(extName(path))) return true;
  if (((await files.stat(path))?.sizeBytes ?? 0) > 4_000_000) return false;
  const bytes = await files.read(path);
  const first = bytes === undefined ? "" : new TextDecoder().decode(bytes.subarray(0, 100)).split("\n")[0];
  return /^#!.*\bnode\b/.test(first ?? "");
}

/** npm's own word where there is one: starting a client only to ask takes up to ten seconds. */
async function versionOf(
  deps: ClientProbeDeps,
  recipe: Pick<Recipe, "program" | "version">,
  real: AbsPath,
  argv: readonly [string, ...string[]],
  key: string,
): Promise<string | undefined> {
  const packaged = await packageVersion(deps.files, real);
  if (packaged !== undefined) return packaged;
  if (recipe.version === undefined) return undefined;
  const cache = await readCache(deps);
  const known = cache[key];
  if (known !== undefined) return known === "" ? undefined : known;
  const asked = await askVersion(deps, argv, recipe.version.args);
  await deps.files.makeDir(deps.cacheDir, { mode: 0o700 });
  await deps.files.write(cachePath(deps), JSON.stringify({ ...cache, [key]: asked ?? "" }), { mode: 0o600 });
  return asked;
}

async function packageVersion(files: Files, real: AbsPath): Promise<string | undefined> {
  for (
    let folder = dirName(real), up = 0;
    up < 4 && folder.includes("node_modules");
    folder = dirName(folder), up += 1
  ) {
    const text = await files.readText(inRoot(absPath(folder), "package.json"));
    const version = text === undefined ? undefined : /"version"\s*:\s*"(\d+\.\d+\.\d+[^"]*)"/.exec(text)?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
}

/** In an empty environment: a question about its version is no reason to hand out keys. */
async function askVersion(
  { process, env, cacheDir, files }: ClientProbeDeps,
  argv: readonly [string, ...string[]],
  args: readonly string[],
): Promise<string | undefined> {
  const home = inRoot(cacheDir, "version-home");
  await files.makeDir(home, { mode: 0o700 });
  const done = await process.run(
    {
      argv: [...argv, ...args],
      cwd: home,
      env: { PATH: env["PATH"] ?? "", HOME: home, TERM: "dumb", NO_COLOR: "1" },
      timeoutMs: versionMs,
      maxOutputBytes: 64 * 1024,
    },
    new AbortController().signal,
  );
  const said = new TextDecoder().decode(done.stdout);
  return done.kind === "exited" ? /\d+\.\d+\.\d+/.exec(said)?.[0] : undefined;
}

const cachePath = ({ cacheDir }: ClientProbeDeps): AbsPath => inRoot(cacheDir, "client-versions.json");

async function readCache(deps: ClientProbeDeps): Promise<Readonly<Record<string, string>>> {
  try {
    return CacheFile.parse(JSON.parse((await deps.files.readText(cachePath(deps))) ?? "{}"));
  } catch {
    return {};
  }
}
