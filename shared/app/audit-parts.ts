import { createContentIds } from "../adapters/content-ids.ts";
import { createThreadPool } from "../adapters/pool-threads.ts";
import { createTreeSitterSyntax } from "../adapters/syntax-tree-sitter.ts";
import { checkEnvironment } from "../adapters/test-runner-env.ts";
import { typeStripVersion } from "../adapters/type-strip.ts";
import { inRoot } from "../base/paths.ts";
import type { LoadedPack } from "../features/packs.ts";
import { loadRules } from "../rulebook/load.ts";
import { createRuleRunner } from "../rulebook/run.ts";
import type { AuditDeps } from "./audit.ts";
import { hashOf, openAuditCache } from "./audit-cache.ts";
import type { RepoContext } from "./context.ts";
import { exactSyntaxOf } from "./exact-syntax.ts";
import { projectRules } from "./project-rules.ts";

export interface AuditParts extends AsyncDisposable {
  readonly deps: AuditDeps;
}

/** Raised when equal rules could give other findings than before. */
const engineVersion = "1";

/** Wires an audit of this repository. */
export async function openAudit(context: RepoContext, packs: readonly LoadedPack[]): Promise<AuditParts> {
  const { machine, root, files, process, runDir } = context;
  const settings = await projectRules(context);
  const book = loadRules(settings);
  const runner = createRuleRunner(book, createTreeSitterSyntax(machine.installRoot));
  const pool = createThreadPool({ installRoot: machine.installRoot });
  const env = checkEnvironment(machine, inRoot(runDir, "home"));
  const key = hashOf(
    engineVersion,
    machine.version,
    await builtWhen(context, packs),
    await interpreter(context),
    typeStripVersion,
    JSON.stringify(settings),
  );
  return {
    deps: {
      root,
      book,
      settings,
      pool,
      runner,
      ids: createContentIds(),
      cache: await openAuditCache(files, inRoot(machine.cacheDir, "audit"), root, key),
      exact: exactSyntaxOf(packs, { process, env, cwd: machine.installRoot }),
    },
    async [Symbol.asyncDispose]() {
      runner[Symbol.dispose]();
      await pool[Symbol.asyncDispose]();
    },
  };
}

/** A rebuilt engine or another grammar is another engine, whatever its version says. */
async function builtWhen({ files, machine }: RepoContext, packs: readonly LoadedPack[]): Promise<string> {
  const grammars = packs.map(({ pack }) => `dist/wasm/tree-sitter-${pack.grammar}.wasm`);
  const built = ["dist/pool/worker.mjs", "out/shared/rulebook/run.js", ...grammars];
  const stats = await Promise.all(built.map((path) => files.stat(inRoot(machine.installRoot, path))));
  return stats.map((stat) => (stat ? `${stat.sizeBytes}@${stat.mtimeMs}` : "-")).join();
}

/** What `python3` is may change under the same rules, and with it what is valid syntax. */
async function interpreter({ process, files, machine }: RepoContext): Promise<string> {
  const place = await process.which("python3", machine.env["PATH"] ?? "");
  if (place === undefined) return "none";
  const real = (await files.realPath(place)) ?? place;
  const stat = await files.stat(real);
  return `${real} ${stat?.sizeBytes ?? 0} ${stat?.mtimeMs ?? 0} ${machine.env["PYENV_VERSION"] ?? ""}`;
}
