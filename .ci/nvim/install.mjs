// Neovim of other Debian suites for the tests, in the build cache: forky has 0.12, trixie 0.10, which is the floor. The
// machine's own packages stay as they are: apt works on a state of its own with an EMPTY dpkg status, so that it resolves
// the whole closure, libc included (12 MB), and the packages are only unpacked.
//
// patchelf gives nvim an absolute interpreter and search path. Starting it through `ld.so` instead would make
// /proc/self/exe lie, and the terminal UI, which starts itself again, could not. So a copy cannot be moved.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const SUITES = ["forky", "trixie"];

function homeOf(suite) {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), ".cache");
  return path.join(cache, "orch-build", `neovim-${suite}`);
}

function binaryOf(suite) {
  return path.join(homeOf(suite), "usr/bin/nvim");
}

/** True when every suite's Neovim starts. */
export function hasNeovim() {
  return SUITES.every((suite) => starts(binaryOf(suite)));
}

/** Needs root, apt-get, dpkg and patchelf. Failures are printed, never thrown: the tests that need it skip by name. */
export function installNeovim() {
  for (const suite of SUITES) {
    if (starts(binaryOf(suite))) continue;
    try {
      install(suite, homeOf(suite));
    } catch (error) {
      console.error(`Neovim of ${suite} was not installed: ${error.message}`);
    }
  }
}

function install(suite, home) {
  const mirror = output("apt-get", [
    "indextargets",
    "--format",
    "$(REPO_URI)",
    "Created-By: Packages",
    "Origin: Debian",
  ])
    .split("\n")
    .find((line) => line !== "");
  if (mirror === undefined) throw new Error("apt has no Debian lists; run apt-get update first");
  const work = fs.mkdtempSync(path.join(os.tmpdir(), "orch-neovim-"));
  try {
    fs.chmodSync(work, 0o755); // apt fetches as another user
    for (const folder of ["state/lists/partial", "cache/archives/partial", "etc"])
      fs.mkdirSync(path.join(work, folder), { recursive: true });
    fs.writeFileSync(path.join(work, "status"), "");
    fs.writeFileSync(path.join(work, "etc/suite.list"), `deb [signed-by=${KEYRING}] ${mirror} ${suite} main\n`);
    const apt = (...args) => run("apt-get", [...options(work), ...args]);
    console.log(`Installing Neovim of Debian ${suite}.`);
    apt("update");
    apt("-y", "--no-install-recommends", "--download-only", "install", "neovim");
    // Made whole beside its place: another run may be starting the old one right now.
    const part = `${home}.${process.pid}.part`;
    unpack(path.join(work, "cache/archives"), part);
    link(part, home);
    fs.rmSync(home, { recursive: true, force: true });
    fs.renameSync(part, home);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  if (!starts(path.join(home, "usr/bin/nvim"))) throw new Error("it was unpacked and does not start");
}

function options(work) {
  const pairs = {
    "Dir::State": path.join(work, "state"),
    "Dir::State::status": path.join(work, "status"),
    "Dir::Cache": path.join(work, "cache"),
    "Dir::Etc::sourcelist": "/dev/null",
    "Dir::Etc::sourceparts": path.join(work, "etc"),
    "Dir::Etc::preferences": "/dev/null",
    "Dir::Etc::preferencesparts": path.join(work, "none"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "3",
    "DPkg::Lock::Timeout": "300",
  };
  return ["-qq", ...Object.entries(pairs).flatMap(([key, value]) => ["-o", `${key}=${value}`])];
}

function unpack(archives, home) {
  fs.rmSync(home, { recursive: true, force: true });
  fs.mkdirSync(home, { recursive: true });
  for (const name of fs.readdirSync(archives).filter((one) => one.endsWith(".deb")))
    run("dpkg", ["-x", path.join(archives, name), home]);
}

/** Prepares what lies in `part` for its life in `home`. */
function link(part, home) {
  const nvim = path.join(part, "usr/bin/nvim");
  const name = path.basename(output("patchelf", ["--print-interpreter", nvim]).trim());
  const libraries = ["usr/lib", "lib"].flatMap((folder) => triplets(path.join(part, folder)));
  const loader = libraries.map((folder) => path.join(folder, name)).find((at) => fs.existsSync(at));
  if (loader === undefined) throw new Error(`${name} is in none of the packages`);
  const there = (at) => path.join(home, path.relative(part, at));
  // DT_RPATH, unlike RUNPATH, also counts for the libraries' own libraries.
  const search = libraries.map(there).join(":");
  run("patchelf", ["--set-interpreter", there(loader), "--force-rpath", "--set-rpath", search, nvim]);
}

/** Before trixie libc is in /lib/<triplet>, everything else in /usr/lib/<triplet>. */
function triplets(folder) {
  if (!fs.existsSync(folder)) return [];
  return fs
    .readdirSync(folder)
    .filter((name) => name.endsWith("-linux-gnu"))
    .map((name) => path.join(folder, name));
}

function starts(nvim) {
  return fs.existsSync(nvim) && spawnSync(nvim, ["--version"], { stdio: "ignore", timeout: 20_000 }).status === 0;
}

function run(program, args) {
  const end = spawnSync(program, args, {
    stdio: ["ignore", "ignore", "pipe"],
    encoding: "utf8",
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (end.status !== 0) throw new Error(`${program} failed: ${(end.stderr ?? end.error?.message ?? "").trim()}`);
}

function output(program, args) {
  const end = spawnSync(program, args, { encoding: "utf8" });
  if (end.status !== 0) throw new Error(`${program} failed: ${(end.stderr ?? "").trim()}`);
  return end.stdout;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  installNeovim();
  for (const suite of SUITES) console.log(binaryOf(suite));
  process.exitCode = hasNeovim() ? 0 : 1;
}
