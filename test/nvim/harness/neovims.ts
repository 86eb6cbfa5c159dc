import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";

/** A Neovim that .ci/nvim/install.mjs put into the build cache. */
export interface NeovimBuild {
  readonly name: string;
  readonly program: string;
  /** `NVIM v0.12.4`; undefined when it is not installed here. */
  readonly version: string | undefined;
}

const cache = process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache");

function build(name: string, suite: string): NeovimBuild {
  const program = path.join(cache, "orch-build", `neovim-${suite}`, "usr/bin/nvim");
  const version = fs.existsSync(program)
    ? spawnSync(program, ["--version"], { encoding: "utf8" }).stdout.split("\n")[0]
    : undefined;
  return { name, program, version };
}

/** The newest that is to be had, and the floor. */
export const newest = build("0.12", "forky");
const oldest = build("0.10", "trixie");
export const neovims = [newest, oldest];
