import assert from "node:assert/strict";
import { createProcessSweep } from "../../../shared/adapters/process-sweep.ts";
import {
  createProcessTable,
  parseCim,
  parseLsof,
  parsePs,
  parseStat,
  type ProcessRow,
  type ProcessTable,
  type Tool,
} from "../../../shared/adapters/process-table.ts";
import { absPath } from "../../../shared/base/paths.ts";

describe("process table", () => {
  it("reads /proc/<pid>/stat whatever the program is called", () => {
    const rest = "S 1 42 42 34816 42 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 1";
    for (const name of ["node", "a b", "x) R 1 (y", "((("]) {
      assert.deepEqual(parseStat(`42 (${name}) ${rest}`), {
        state: "S",
        parent: 1,
        group: 42,
        terminal: 34816,
        startTicks: "987654",
      });
    }
    assert.equal(parseStat("42 (x) S 1"), undefined);
  });

  it("reads ps, lsof and CIM output, odd lines left out", () => {
    assert.deepEqual(
      parsePs("  10     1    10   501 Ss   ??\n  11    10    10   501 Z+   ttys001\n\nnonsense\n", 501),
      [
        { pid: 10, parent: 1, group: 10, zombie: false, terminal: false, mine: true },
        { pid: 11, parent: 10, group: 10, zombie: true, terminal: true, mine: true },
      ],
    );
    assert.deepEqual(parseLsof("p10\nfcwd\nn/Users/kim/wt\np11\nfcwd\nn/\n"), [
      { pid: 10, folder: "/Users/kim/wt" },
      { pid: 11, folder: "/" },
    ]);
    assert.deepEqual(parseCim("4 0 133000000000000000\r\n812 4 133000000000000001\r\n\r\n"), [
      { pid: 4, parent: 0, start: "133000000000000000" },
      { pid: 812, parent: 4, start: "133000000000000001" },
    ]);
  });

  it("macOS: start times, markers and folders come from ps and lsof", () => {
    const asked: string[] = [];
    const tool: Tool = (argv) => {
      asked.push(argv.join(" "));
      if (argv[0] === "lsof") return "p10\nn/wt/a\np11\nn/wt-other\np12\nn/wt\n";
      if (argv.includes("stat=,lstart="))
        return argv.at(-1) === "10"
          ? "Ss   Sat Jan 31 10:15:00 2026\n"
          : argv.at(-1) === "13"
            ? "Z    Sat Jan 31 10:15:00 2026\n"
            : "";
      if (argv.includes("-axEwwo")) return "  10 node x ORCH_ATTEMPT=m-1 PATH=/bin\n  11 node y ORCH_ATTEMPT=m-12\n";
      return undefined;
    };
    const table = createProcessTable("darwin", tool);
    const rows = [10, 11, 12].map((pid): ProcessRow => ({
      pid,
      parent: 1,
      group: pid,
      zombie: false,
      terminal: false,
      mine: true,
    }));
    assert.deepEqual(
      [
        table.platform,
        table.startTimeOf(10),
        table.startTimeOf(13),
        table.startTimeOf(99),
        table.withEnvironment(rows, "ORCH_ATTEMPT=m-1"),
        table.workingIn(rows, "/wt"),
        table.rows(),
      ],
      ["posix", "Sat-Jan-31-10:15:00-2026", undefined, undefined, [10], [10, 12], []],
    );
  });

  it("Windows: a tree is ended with taskkill, once, and only while it is that process", async () => {
    const asked: string[][] = [];
    let alive = true;
    const tool: Tool = (argv) => {
      asked.push([...argv]);
      if (argv[0] === "taskkill") {
        alive = false;
        return "";
      }
      return alive ? "812 4 133000000000000001\r\n" : "";
    };
    const sweep = createProcessSweep(createProcessTable("win32", tool), tool);
    assert.deepEqual(
      [
        await sweep.endIfSame(812, "another"),
        await sweep.endIfSame(812, "133000000000000001"),
        sweep.isAlive(812, "133000000000000001"),
      ],
      [false, true, false],
    );
    assert.deepEqual(
      asked.filter(([name]) => name === "taskkill"),
      [["taskkill", "/pid", "812", "/T", "/F"]],
    );
    assert.deepEqual(await sweep.endLeftovers({ marker: "m-1", folder: absPath("C:/wt") }), []);
  });

  it("a child that is born while its parent ends is found by the next look, before nothing counts", async () => {
    // Pids of this test do not exist, so that a mistake here ends nothing.
    const child = 2 ** 30;
    const looks: number[][] = [[], [child], [], []];
    let at = -1;
    const ended: string[][] = [];
    const table: ProcessTable = {
      platform: "win32",
      rows() {
        at += 1;
        return (looks[at] ?? []).map((pid) => ({
          pid,
          parent: 1,
          group: pid,
          zombie: false,
          terminal: false,
          mine: true,
        }));
      },
      startTimeOf: () => undefined,
      withEnvironment: (of) => of.map(({ pid }) => pid),
      workingIn: () => [],
    };
    const sweep = createProcessSweep(table, (argv) => {
      ended.push([...argv]);
      return "";
    });
    assert.deepEqual(await sweep.endLeftovers({ marker: "m-1" }), [child]);
    assert.deepEqual(ended, [["taskkill", "/pid", String(child), "/T", "/F"]]);
    assert.equal(at, 3, "looked at twice more");
  });

  it("a sweep spares this process, its ancestors, other people's, zombies, and programs of a terminal", async () => {
    const row = (pid: number, more: Partial<ProcessRow> = {}): ProcessRow => ({
      pid,
      parent: 1,
      group: pid,
      zombie: false,
      terminal: false,
      mine: true,
      ...more,
    });
    const shown: number[][] = [];
    // Pids of this test do not exist, so that a mistake here ends nothing.
    const far = 2 ** 30;
    const rows = [
      row(process.pid, { parent: far + 1 }),
      row(far + 1, { parent: far + 2 }),
      row(far + 2),
      row(far + 3, { mine: false }),
      row(far + 4, { zombie: true }),
      row(far + 5, { terminal: true }),
      row(far + 6),
    ];
    const table: ProcessTable = {
      platform: "posix",
      rows: () => rows,
      startTimeOf: () => undefined,
      withEnvironment: (of) => {
        shown.push(of.map(({ pid }) => pid));
        return [];
      },
      workingIn: (of) => {
        shown.push(of.map(({ pid }) => pid));
        return [];
      },
    };
    await createProcessSweep(table, () => undefined).endLeftovers({
      marker: "m-1",
      folder: absPath("/nowhere/at/all"),
    });
    const each = [[far + 5, far + 6], [far + 6]];
    assert.deepEqual(shown, [...each, ...each], "nothing was found, twice");
  });
});
