import { privateTemp, type SandboxMount } from "./sandbox-mounts.ts";

export interface BwrapCall {
  readonly bwrap: string;
  readonly cwd: string;
  readonly mounts: readonly SandboxMount[];
  /** The program by its absolute path, and its arguments. */
  readonly argv: readonly string[];
}

/**
 * No network, no sight of other programs, no rights over mounts, and the end of the first program ends all that it
 * started: a namespace of processes dies with its first.
 */
export function bwrapArgv({ bwrap, cwd, mounts, argv }: BwrapCall): [string, ...string[]] {
  return [
    bwrap,
    "--die-with-parent",
    ...["user", "ipc", "pid", "net", "uts", "cgroup-try"].map((what) => `--unshare-${what}`),
    ...["--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev", "--proc", "/proc"],
    ...mounts.flatMap(mountArgs),
    // What a program writes where it must not is refused, not swallowed.
    ...mounts.flatMap(({ path, as }) => (as === "empty" && path !== privateTemp ? ["--remount-ro", path] : [])),
    ...["--chdir", cwd, "--setenv", "TMPDIR", privateTemp, "--"],
    ...argv,
  ];
}

function mountArgs({ path, as }: SandboxMount): string[] {
  switch (as) {
    case "empty":
      return ["--tmpfs", path];
    case "hidden":
      return ["--ro-bind", "/dev/null", path];
    case "readable":
      return ["--ro-bind", path, path];
    case "writable":
      return ["--bind", path, path];
  }
}
