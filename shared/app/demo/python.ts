import { type AbsPath, dirName } from "../../base/paths.ts";
import type { Process } from "../../ports/process.ts";

/**
 * The first Python on PATH that has pytest. A version manager may put one without it first, so every folder of PATH is
 * looked at; what is found goes to the front of the demo's own PATH.
 */
export type FoundPython =
  | { readonly kind: "found"; readonly path: AbsPath; readonly bin: string }
  | { readonly kind: "no-python" }
  | { readonly kind: "no-pytest"; readonly path: AbsPath };

const probeMs = 20_000;

export async function findPytest(
  deps: {
    readonly process: Process;
    readonly env: Readonly<Record<string, string>>;
    readonly cwd: AbsPath;
    readonly platform: "posix" | "win32";
  },
  signal: AbortSignal,
): Promise<FoundPython> {
  const { env, platform } = deps;
  const names = platform === "win32" ? ["python"] : ["python3", "python"];
  const folders = (env["PATH"] ?? env["Path"] ?? "")
    .split(platform === "win32" ? ";" : ":")
    .filter((folder) => folder !== "");
  const seen = new Set<AbsPath>();
  for (const folder of new Set(folders)) {
    for (const name of names) {
      const path = await deps.process.which(name, folder);
      if (path === undefined || seen.has(path)) continue;
      seen.add(path);
      const spec = {
        argv: [path, "-B", "-c", "import pytest"] as const,
        cwd: deps.cwd,
        env,
        timeoutMs: probeMs,
        maxOutputBytes: 64 * 1024,
      };
      const done = await deps.process.run(spec, signal);
      signal.throwIfAborted();
      if (done.kind === "exited" && done.code === 0) return { kind: "found", path, bin: dirName(path) };
    }
  }
  const [first] = seen;
  return first === undefined ? { kind: "no-python" } : { kind: "no-pytest", path: first };
}
