// What the machine must offer beside Node, and the Debian package that brings it. Root on Debian gets it installed;
// anybody else is told what is missing and what to type. `wanted` things do not stop a task: the tests that need them
// skip by name.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { hasNeovim, installNeovim } from "./nvim/install.mjs";

const PYTHONS = ["python3", "/usr/bin/python3", "python"];

const NEEDS = {
  git: { what: "git 2.38 or newer", debian: "git", found: gitIsNew },
  python: { what: "python3", debian: "python3", found: () => somePython("pass") },
  pytest: {
    what: "a python3 that can import pytest",
    debian: "python3-pytest",
    found: () => somePython("import pytest"),
  },
  pycodestyle: {
    what: "a python3 that can import pycodestyle",
    debian: "python3-pycodestyle",
    wanted: true,
    found: () => somePython("import pycodestyle"),
  },
  chromium: {
    what: "chromium",
    debian: "chromium",
    wanted: true,
    found: () => succeeds(process.env.CHROMIUM ?? "/usr/bin/chromium", ["--version"]),
  },
  fonts: {
    what: "the DejaVu fonts",
    debian: "fonts-dejavu-core",
    wanted: true,
    found: () => fs.existsSync("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"),
  },
  terminal: { what: "tmux", debian: "tmux", wanted: true, found: () => succeeds("tmux", ["-V"]) },
  // Its own Debian package is too old: patchelf is what unpacking a newer one takes.
  neovim: {
    what: "Neovim 0.12 and 0.10",
    debian: "patchelf",
    wanted: true,
    found: hasNeovim,
    afterwards: installNeovim,
  },
  luacheck: { what: "luacheck", debian: "lua-check", wanted: true, found: () => succeeds("luacheck", ["--version"]) },
  zsh: { what: "zsh", debian: "zsh", wanted: true, found: () => succeeds("zsh", ["--version"]) },
  fish: { what: "fish", debian: "fish", wanted: true, found: () => succeeds("fish", ["--version"]) },
  sandbox: { what: "bwrap", debian: "bubblewrap", wanted: true, found: () => succeeds("bwrap", ["--version"]) },
  socat: { what: "socat", debian: "socat", wanted: true, found: () => succeeds("socat", ["-V"]) },
  ripgrep: { what: "rg", debian: "ripgrep", wanted: true, found: () => succeeds("rg", ["--version"]) },
};

/** True when the task may go on; it does without the `likes`, too. Installs at most once; never asks. */
export function provide(needs, likes = []) {
  const names = [...needs, ...likes];
  let missing = names.filter((name) => !NEEDS[name].found());
  if (missing.length > 0 && rootOnDebian()) {
    install(missing.map((name) => NEEDS[name].debian));
    for (const name of missing) NEEDS[name].afterwards?.();
    missing = missing.filter((name) => !NEEDS[name].found());
  }
  if (missing.length === 0) return true;
  for (const name of missing) {
    const tail = likes.includes(name)
      ? "; it goes on without"
      : NEEDS[name].wanted
        ? "; the tests that need it skip by name"
        : "";
    console.error(`Missing: ${NEEDS[name].what}${tail}.`);
  }
  console.error(`Next: ${command(missing.map((name) => NEEDS[name].debian))}`);
  return missing.every((name) => NEEDS[name].wanted || likes.includes(name));
}

function command(packages) {
  if (fs.existsSync("/etc/debian_version")) return `sudo apt-get install -y ${packages.join(" ")}`;
  return `install what Debian calls ${packages.join(", ")} with this system's package manager.`;
}

function install(packages) {
  console.log(`Installing ${packages.join(", ")}.`);
  const stamp = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache"), "orch-build", "apt-updated");
  if (!fresh(stamp) && apt(["update", "-qq"])) {
    fs.mkdirSync(path.dirname(stamp), { recursive: true });
    fs.writeFileSync(stamp, "");
  }
  if (!apt(["install", "-y", "-qq", "--no-install-recommends", ...packages])) {
    console.error(`apt-get install ${packages.join(" ")} failed; its message is above.`);
  }
}

function apt(args) {
  const result = spawnSync("apt-get", ["-o", "DPkg::Lock::Timeout=300", ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  return result.status === 0;
}

function fresh(stamp) {
  try {
    return Date.now() - fs.statSync(stamp).mtimeMs < 24 * 3600 * 1000;
  } catch {
    return false;
  }
}

function rootOnDebian() {
  return process.getuid?.() === 0 && fs.existsSync("/etc/debian_version");
}

function somePython(code) {
  return PYTHONS.some((python) => succeeds(python, ["-c", code]));
}

function gitIsNew() {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(output("git", ["--version"])) ?? [];
  return Number(major) > 2 || (Number(major) === 2 && Number(minor) >= 38);
}

function succeeds(name, args) {
  return spawnSync(name, args, { stdio: "ignore", timeout: 20_000 }).status === 0;
}

function output(name, args) {
  return spawnSync(name, args, { encoding: "utf8", timeout: 20_000 }).stdout ?? "";
}
