import { deepEqual, equal } from "node:assert/strict";
import { findMachine } from "../../../shared/adapters/machine.ts";

const here = import.meta.url;

describe("the machine's folders", () => {
  const rows = [
    [
      "XDG",
      { XDG_CONFIG_HOME: "/x/c", XDG_STATE_HOME: "/x/s", XDG_CACHE_HOME: "/x/k" },
      "linux",
      ["/x/c/orch", "/x/s/orch", "/x/k/orch"],
    ],
    ["no XDG", {}, "darwin", ["/home/u/.config/orch", "/home/u/.local/state/orch", "/home/u/.cache/orch"]],
    [
      "relative XDG, which must be ignored",
      { XDG_CONFIG_HOME: "c" },
      "linux",
      ["/home/u/.config/orch", "/home/u/.local/state/orch", "/home/u/.cache/orch"],
    ],
  ] as const;
  for (const [name, env, platform, expected] of rows) {
    it(`follow ${name}`, () => {
      const machine = findMachine({ env, platform, moduleUrl: here, home: "/home/u" });
      deepEqual([machine.configDir, machine.stateDir, machine.cacheDir, machine.platform], [...expected, "posix"]);
    });
  }

  it("find the installed rules, and the version", () => {
    const machine = findMachine({ env: {}, platform: "linux", moduleUrl: here, home: "/home/u" });
    equal(/^\d+\.\d+\.\d+/.test(machine.version), true);
  });
});
