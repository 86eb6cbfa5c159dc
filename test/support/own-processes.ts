import fs from "node:fs";

/** Processes whose environment, folder or command line names `place`: everything that a test in that folder started. */
export interface FoundProcess {
  readonly pid: number;
  readonly command: string;
}

export function processesIn(place: string): readonly FoundProcess[] {
  if (process.platform !== "linux") return [];
  return pids().flatMap((pid) => {
    if (pid === process.pid || isZombie(pid)) return [];
    const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").trim();
    const named =
      command.includes(place) || read(`/proc/${pid}/environ`).includes(place) || folderOf(pid).startsWith(place);
    return named ? [{ pid, command }] : [];
  });
}

/** The runner of a run folder, also before it says so itself. */
export function runnerOf(dir: string): number | undefined {
  return pids().find((pid) => {
    const words = read(`/proc/${pid}/cmdline`).split("\0");
    return words.includes(dir) && words.includes("--detached");
  });
}

/** Command lines of what `pid` has started and what still runs. */
export function childrenOf(pid: number): readonly FoundProcess[] {
  return read(`/proc/${pid}/task/${pid}/children`)
    .split(" ")
    .filter((word) => word !== "")
    .map((word) => ({ pid: Number(word), command: read(`/proc/${word}/cmdline`).replaceAll("\0", " ").trim() }));
}

function pids(): number[] {
  return fs.readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function isZombie(pid: number): boolean {
  return /^\d+ \(.*\) Z/s.test(read(`/proc/${pid}/stat`));
}

function read(at: string): string {
  try {
    return fs.readFileSync(at, "utf8");
  } catch {
    return ""; // gone meanwhile
  }
}

function folderOf(pid: number): string {
  try {
    return fs.readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return "";
  }
}
