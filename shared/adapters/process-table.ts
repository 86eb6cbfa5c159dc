import fs from "node:fs";
import os from "node:os";

/**
 * What the system says of its processes. Reads only; nothing here ends anything. On Linux it is /proc, elsewhere the
 * system's own tools, run through `tool` (process.ts owns child processes).
 */
export interface ProcessRow {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Gone but not yet reaped: holds nothing and cannot be ended. */
  readonly zombie: boolean;
  /** Belongs to a terminal: a person's shell or what they started in it. */
  readonly terminal: boolean;
  readonly mine: boolean;
}

export interface ProcessTable {
  readonly platform: "linux" | "posix" | "win32";
  rows(): readonly ProcessRow[];
  /** undefined when there is no such process, or only its zombie. */
  startTimeOf(pid: number): string | undefined;
  /** Pids among `rows` whose environment holds exactly `entry` (`NAME=value`), as far as the system tells us. */
  withEnvironment(rows: readonly ProcessRow[], entry: string): readonly number[];
  /** Pids among `rows` whose working directory is `folder` or in it; `folder` is a real path. */
  workingIn(rows: readonly ProcessRow[], folder: string): readonly number[];
}

/** Output of a system tool, or undefined when it failed or is not there. Takes at most some seconds. */
export type Tool = (argv: readonly [string, ...string[]]) => string | undefined;

export function createProcessTable(platform: NodeJS.Platform, tool: Tool): ProcessTable {
  if (platform === "linux") return linuxTable();
  return platform === "win32" ? windowsTable(tool) : posixTable(tool);
}

// --- Linux ---------------------------------------------------------------------------------------------------------

interface Stat {
  readonly state: string;
  readonly parent: number;
  readonly group: number;
  readonly terminal: number;
  readonly startTicks: string;
}

/** /proc/<pid>/stat; the program's name is in brackets and may itself hold brackets and spaces. */
export function parseStat(text: string): Stat | undefined {
  const rest = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const startTicks = rest[19];
  if (startTicks === undefined) return undefined;
  return {
    state: rest[0] ?? "",
    parent: Number(rest[1]),
    group: Number(rest[2]),
    terminal: Number(rest[4]),
    startTicks,
  };
}

function linuxTable(): ProcessTable {
  // Ticks count from boot, so the same number can come again after a restart: the boot's id tells them apart.
  const boot = (read("/proc/sys/kernel/random/boot_id") ?? "").slice(0, 8);
  const uid = process.getuid?.();
  const statOf = (pid: number | string): Stat | undefined => {
    const text = read(`/proc/${pid}/stat`);
    return text === undefined ? undefined : parseStat(text);
  };
  return {
    platform: "linux",
    rows() {
      return pidsOf("/proc").flatMap((pid) => {
        const stat = statOf(pid);
        if (stat === undefined) return [];
        return [
          {
            pid,
            parent: stat.parent,
            group: stat.group,
            zombie: isGone(stat.state),
            terminal: stat.terminal !== 0,
            mine: ownerOf(`/proc/${pid}`) === uid,
          },
        ];
      });
    },
    startTimeOf(pid) {
      const stat = statOf(pid);
      return stat === undefined || isGone(stat.state) ? undefined : `${boot}-${stat.startTicks}`;
    },
    withEnvironment(rows, entry) {
      return rows
        .map(({ pid }) => pid)
        .filter((pid) => (read(`/proc/${pid}/environ`) ?? "").split("\0").includes(entry));
    },
    workingIn(rows, folder) {
      return rows
        .map(({ pid }) => pid)
        .filter((pid) => {
          const cwd = linkOf(`/proc/${pid}/cwd`)?.replace(/ \(deleted\)$/, "");
          return cwd !== undefined && (cwd === folder || cwd.startsWith(`${folder}/`));
        });
    },
  };
}

const isGone = (state: string): boolean => state === "Z" || state === "X";

function pidsOf(proc: string): number[] {
  return fs
    .readdirSync(proc)
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number);
}

function read(path: string): string | undefined {
  try {
    return fs.readFileSync(path, "utf8");
  } catch {
    return undefined; // it ended meanwhile, or belongs to somebody else
  }
}

function linkOf(path: string): string | undefined {
  try {
    return fs.readlinkSync(path);
  } catch {
    return undefined;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return fs.statSync(path).uid;
  } catch {
    return undefined;
  }
}

// --- macOS and other Unix ------------------------------------------------------------------------------------------

/** Rows of `ps -axo pid=,ppid=,pgid=,uid=,stat=,tty=`. */
export function parsePs(text: string, uid: number | undefined): ProcessRow[] {
  return text.split("\n").flatMap((line) => {
    const [pid, parent, group, owner, stat, tty] = line.trim().split(/\s+/);
    if (pid === undefined || tty === undefined) return [];
    return [
      {
        pid: Number(pid),
        parent: Number(parent),
        group: Number(group),
        zombie: (stat ?? "").startsWith("Z"),
        terminal: tty !== "??" && tty !== "?" && tty !== "-",
        mine: Number(owner) === uid,
      },
    ];
  });
}

/** Pid and folder pairs of `lsof -a -d cwd -Fpn`. */
export function parseLsof(text: string): { readonly pid: number; readonly folder: string }[] {
  const found: { pid: number; folder: string }[] = [];
  let pid = 0;
  for (const line of text.split("\n")) {
    if (line.startsWith("p")) pid = Number(line.slice(1));
    else if (line.startsWith("n")) found.push({ pid, folder: line.slice(1) });
  }
  return found;
}

function posixTable(tool: Tool): ProcessTable {
  const among = (rows: readonly ProcessRow[], pids: readonly number[]): number[] =>
    pids.filter((pid) => rows.some((row) => row.pid === pid));
  return {
    platform: "posix",
    rows: () => parsePs(tool(["ps", "-axo", "pid=,ppid=,pgid=,uid=,stat=,tty="]) ?? "", process.getuid?.()),
    startTimeOf(pid) {
      const [stat = "", ...start] = (tool(["ps", "-o", "stat=,lstart=", "-p", String(pid)]) ?? "").trim().split(/\s+/);
      return stat === "" || stat.startsWith("Z") ? undefined : start.join("-");
    },
    withEnvironment(rows, entry) {
      // `-E` appends the environment to the command, separated by spaces; a marker holds none.
      const lines = (tool(["ps", "-axEwwo", "pid=,command="]) ?? "").split("\n");
      return among(
        rows,
        lines.flatMap((line) => (` ${line} `.includes(` ${entry} `) ? [Number.parseInt(line.trim(), 10)] : [])),
      );
    },
    workingIn(rows, folder) {
      const found = parseLsof(tool(["lsof", "-a", "-d", "cwd", "-Fpn", "-u", os.userInfo().username]) ?? "");
      return among(
        rows,
        found.flatMap((row) => (row.folder === folder || row.folder.startsWith(`${folder}/`) ? [row.pid] : [])),
      );
    },
  };
}

// --- Windows -------------------------------------------------------------------------------------------------------

/** Lines `pid parent start` of the query below. */
export function parseCim(text: string): { readonly pid: number; readonly parent: number; readonly start: string }[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [pid, parent, start] = line.trim().split(" ");
    return pid === undefined || start === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), start }];
  });
}

const cimQuery = [
  "Get-CimInstance Win32_Process |",
  'ForEach-Object { "$($_.ProcessId) $($_.ParentProcessId) $($_.CreationDate.ToFileTimeUtc())" }',
].join(" ");

function windowsTable(tool: Tool): ProcessTable {
  const all = (filter = ""): ReturnType<typeof parseCim> =>
    parseCim(
      tool([
        "powershell.exe",
        "-NoProfile",
        "-NonInteractive",
        "-Command",
        cimQuery.replace("Win32_Process", `Win32_Process${filter}`),
      ]) ?? "",
    );
  return {
    platform: "win32",
    rows: () => all().map(({ pid, parent }) => ({ pid, parent, group: 0, zombie: false, terminal: false, mine: true })),
    startTimeOf: (pid) => all(` -Filter "ProcessId = ${Math.trunc(pid)}"`)[0]?.start,
    // Windows shows neither another process's environment nor its folder without a debugger's rights: `taskkill /T`
    // walks the tree instead, and what detaches from it is only caught by a job object.
    withEnvironment: () => [],
    workingIn: () => [],
  };
}
