import assert from "node:assert/strict";
import { checkEnvironment } from "../../../shared/adapters/test-runner-env.ts";
import { absPath } from "../../../shared/base/paths.ts";

describe("checkEnvironment", () => {
  it("lets only the listed variables through, and gives a home of its own", () => {
    const env = {
      PATH: "/bin",
      HOME: "/home/ann",
      LC_TIME: "C",
      OPENAI_API_KEY: "sk",
      GIT_DIR: "/x",
      XDG_CONFIG_HOME: "/home/ann/.config",
      SSH_AUTH_SOCK: "/s",
      LANG: "C",
    };
    assert.deepEqual(checkEnvironment({ env, platform: "posix" }, absPath("/state/home")), {
      PATH: "/bin",
      LC_TIME: "C",
      LANG: "C",
      XDG_CONFIG_HOME: "/state/home/.config",
      XDG_CACHE_HOME: "/state/home/.cache",
      XDG_DATA_HOME: "/state/home/.local/share",
      XDG_STATE_HOME: "/state/home/.local/state",
      HOME: "/state/home",
    });
  });

  it("reads the names of Windows in any case", () => {
    const env = { Path: "C:\\bin", SystemRoot: "C:\\Windows", UserProfile: "C:\\Users\\ann", Token: "x" };
    const made = checkEnvironment({ env, platform: "win32" }, absPath("C:\\home"));
    assert.deepEqual(
      [made["PATH"], made["SYSTEMROOT"], made["USERPROFILE"], made["HOME"], "Token" in made || "TOKEN" in made],
      ["C:\\bin", "C:\\Windows", "C:\\home", "C:\\home", false],
    );
  });

  it("speaks UTF-8 where no language is set", () => {
    assert.equal(checkEnvironment({ env: {}, platform: "posix" }, absPath("/h"))["LC_ALL"], "C.UTF-8");
  });
});
