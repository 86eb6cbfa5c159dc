import { type AbsPath, baseName, dirName } from "../../base/paths.ts";
import type { Process } from "../../ports/process.ts";

const probeMs = 20_000;

/**
 * The folder of a `node` that runs TypeScript: the first on PATH, else the one that runs Orch where it goes by that
 * name (an editor's own does not). undefined when there is none.
 */
export async function findTypeNode(
  deps: {
    readonly process: Process;
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: AbsPath;
    readonly platform: "posix" | "win32";
    /** What runs Orch. */
    readonly nodePath?: string;
  },
  signal: AbortSignal,
): Promise<string | undefined> {
  const { env, platform, nodePath } = deps;
  const folders = (env["PATH"] ?? env["Path"] ?? "")
    .split(platform === "win32" ? ";" : ":")
    .filter((folder) => folder !== "");
  const seen = new Set<string>();
  for (const folder of new Set(folders)) {
    const place = await deps.process.which("node", folder);
    if (place !== undefined) seen.add(place);
  }
  if (nodePath !== undefined && /^node(?:\.exe)?$/i.test(baseName(nodePath.replaceAll("\\", "/")))) seen.add(nodePath);
  for (const path of seen) {
    const argv = [path, "-e", "process.exit(process.features.typescript ? 0 : 1)"] as const;
    const done = await deps.process.run(
      { argv, cwd: deps.cwd, env, timeoutMs: probeMs, maxOutputBytes: 64 * 1024 },
      signal,
    );
    signal.throwIfAborted();
    if (done.kind === "exited" && done.code === 0) return dirName(path);
  }
  return undefined;
}
