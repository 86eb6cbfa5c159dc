import { spawnSync } from "node:child_process";

/** CPU and wall seconds of a whole process with its children, and its peak memory. */
export interface Measured {
  readonly cpuS: number;
  readonly wallS: number;
  readonly peakMiB: number;
  readonly code: number;
  readonly stdout: string;
}

/** Node cannot tell what its children used; Python's `resource` can. */
const wrapper = `
import json, os, resource, subprocess, sys, time
began = time.monotonic()
with open(sys.argv[1], "wb") as out:
    code = subprocess.call(sys.argv[2:], stdout=out, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps({"cpuS": used.ru_utime + used.ru_stime, "wallS": time.monotonic() - began, "peakMiB": used.ru_maxrss / 1024, "code": code}))
`;

export function measure(
  argv: readonly string[],
  options: {
    readonly cwd: string;
    readonly env: Readonly<Record<string, string>>;
    readonly out: string;
    readonly read: (file: string) => string;
  },
): Measured {
  const run = spawnSync("/usr/bin/python3", ["-c", wrapper, options.out, ...argv], {
    cwd: options.cwd,
    env: { ...options.env },
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (run.status !== 0) throw new Error(`${argv.join(" ")}: ${run.stderr}`);
  return { ...(JSON.parse(run.stdout) as Omit<Measured, "stdout">), stdout: options.read(options.out) };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
