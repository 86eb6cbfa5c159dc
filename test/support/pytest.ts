import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import path from "node:path";

/** A Python with pytest, or undefined: the same search as a person's PATH, every folder of it. */
export async function pythonWithPytest(): Promise<string | undefined> {
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const python = path.join(folder, "python3");
    if (folder !== "" && existsSync(python) && (await run(python, ["-B", "-c", "import pytest"], folder)).code === 0)
      return python;
  }
  return undefined;
}

export interface PytestEnd {
  readonly code: number;
  readonly output: string;
  /** From pytest's last line. */
  readonly passed: number;
  readonly failed: number;
}

/** Runs a slice's tests the way the Python pack does. `tests` is relative to `root`. */
export async function runPytest(python: string, root: string, tests: string): Promise<PytestEnd> {
  const { code, output } = await run(
    python,
    ["-B", "-m", "pytest", "-p", "no:cacheprovider", "--import-mode=importlib", "--rootdir=.", "-q", tests],
    root,
  );
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(output)?.[1] ?? 0);
  return { code, output, passed: count("passed"), failed: count("failed") };
}

/** What pycodestyle says about the folder; empty when it is clean, undefined where it is not installed. */
export async function pycodestyle(python: string, folder: string): Promise<string | undefined> {
  const { code, output } = await run(python, ["-B", "-m", "pycodestyle", "."], folder);
  return code !== 0 && /No module named/.test(output) ? undefined : output.trim();
}

function run(
  file: string,
  args: readonly string[],
  cwd: string,
): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    const env = { ...process.env, PYTHONPATH: cwd, PYTHONDONTWRITEBYTECODE: "1", PYTHONUTF8: "1" };
    execFile(file, [...args], { cwd, env, timeout: 60_000 }, (error, stdout, stderr) => {
      resolve({
        code: error === null ? 0 : typeof error.code === "number" ? error.code : 1,
        output: `${stdout}${stderr}`,
      });
    });
  });
}

/** The system's own Python first: it has few plugins of pytest, and these tests start it hundreds of times. */
export function leanPath(given = ""): string {
  const [node = "", ...rest] = given.split(path.delimiter);
  return [node, ...(existsSync("/usr/bin/python3") ? ["/usr/bin"] : []), ...rest].join(path.delimiter);
}
