import { type AbsPath, absPath, dirName, inRoot, isAbsolutePath, typedPath } from "../base/paths.ts";
import { gitDirBeside } from "../model/run-place.ts";
import type { ProcessSpec } from "../ports/process.ts";
import type { CheckPlaces, Confinement } from "../ports/sandbox.ts";
import type { RepoContext } from "./context.ts";
import { privatePlaces, toolPlaces } from "./private-places.ts";

type PlacesContext = Pick<RepoContext, "machine" | "files" | "root">;

/** Folders at the top of a tree that steer git, Orch and editors: no check has a reason to write there. */
const steering = [".git", ".orch", ".agents", ".vscode", ".idea", ".claude", ".codex", ".gemini", ".cursor", ".pi"];

/**
 * A check writes the tree, its attempt's folder and its own home; it reads what is no secret; it speaks to nobody. The
 * tree's `.git` and `.orch` are not its to write: a test that could would answer decisions and switch hooks.
 */
export async function checkConfinement(
  context: PlacesContext,
  spec: ProcessSpec,
  { tree, write, keep = [] }: CheckPlaces,
): Promise<Confinement> {
  const { machine, files, root } = context;
  const home = homeOf(machine.env);
  const entries = home === undefined ? [] : ((await files.list(home)) ?? []);
  const closed =
    home === undefined
      ? []
      : privatePlaces(
          home,
          entries.map(({ name }) => name),
        );
  const tools = toolPlaces(await programFolders(context, spec), home);
  return {
    write: [tree, ...write],
    denyWrite: [...steering.map((name) => inRoot(tree, name)), ...keep],
    denyRead: [...closed, machine.stateDir, machine.configDir].map((at) => absPath(at)),
    allowRead: [root, gitDirBeside(tree), ...[...tools, ...toolVariables(spec.env)].map((at) => absPath(at))],
    hosts: [],
  };
}

function homeOf(env: Readonly<Record<string, string>>): AbsPath | undefined {
  const home = env["HOME"] ?? env["USERPROFILE"];
  return home === undefined || !isAbsolutePath(home) || home === "/" ? undefined : absPath(home);
}

/** Those of PATH, and the one that the program's file really lies in: an environment's `python` is a link elsewhere. */
async function programFolders({ files }: PlacesContext, { argv, cwd, env }: ProcessSpec): Promise<string[]> {
  const [program] = argv;
  const named = /[\\/]/.test(program) ? typedPath(cwd, program) : undefined;
  const real = named === undefined ? undefined : await files.realPath(named);
  const search = (env["PATH"] ?? "").split(":").filter(isAbsolutePath);
  return [...search, ...(real === undefined ? [] : [dirName(real)])];
}

/** PYENV_ROOT, UV_PYTHON_INSTALL_DIR and the like: the check environment holds none that names a secret. */
function toolVariables(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    /^(?:PYENV|ASDF|MISE|VOLTA|FNM|NODENV|UV)_/.test(name) && isAbsolutePath(value) ? [value] : [],
  );
}
