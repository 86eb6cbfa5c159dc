// Commits the built plugin as the ROOT of a branch, so that every plugin manager installs it without a build step:
//   node .ci/nvim/release-branch.mjs [--branch nvim] [--into <repository>]
// A private index and a folder of its own: neither the working tree nor the current branch is touched. Nothing is pushed.
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { ROOT } from "../shell.mjs";

const { values } = parseArgs({
  options: { branch: { type: "string", default: "nvim" }, into: { type: "string", default: ROOT } },
});
const ref = `refs/heads/${values.branch}`;
const work = fs.mkdtempSync(path.join(os.tmpdir(), "orch-release-"));
try {
  const tree = path.join(work, "tree");
  fs.mkdirSync(tree);
  assemble(tree);
  publish(tree);
} finally {
  fs.rmSync(work, { recursive: true, force: true });
}

/** What the plugin, the runner it starts and the command line need at run time, and nothing else. */
function assemble(to) {
  for (const folder of ["plugin", "lua", "doc"]) copy(`nvim-plugin/${folder}`, path.join(to, folder));
  for (const folder of ["rules", "personas", "dist/wasm"]) copy(folder, path.join(to, folder));
  for (const file of ["LICENSE", "CHANGELOG.md", "dist/cli/orch.cjs", ...bundled()]) copy(file, path.join(to, file));
  fs.rmSync(path.join(to, "doc/tags"), { force: true });
  // Managers make the tags in the clone, which must not look changed then.
  fs.writeFileSync(path.join(to, ".gitignore"), "doc/tags\n");
  const { name, version, license, type, engines, bin } = manifest();
  fs.writeFileSync(
    path.join(to, "package.json"),
    `${JSON.stringify({ name, version, license, type, engines: { node: engines.node }, bin }, null, 2)}\n`,
  );
}

/** The files of the last build: older chunks stay in dist/ for a while and are not wanted here. */
function bundled() {
  return ["core", "nvim"].flatMap((name) => {
    const meta = path.join(ROOT, "dist/meta", `${name}.json`);
    if (!fs.existsSync(meta)) throw new Error(`${meta} is missing; next: npm run build`);
    return Object.keys(JSON.parse(fs.readFileSync(meta, "utf8")).outputs).filter((file) => !file.endsWith(".map"));
  });
}

function manifest() {
  return JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
}

function copy(from, to) {
  fs.mkdirSync(path.dirname(to), { recursive: true });
  fs.cpSync(path.join(ROOT, from), to, { recursive: true });
}

function publish(tree) {
  const env = { ...process.env, GIT_INDEX_FILE: path.join(work, "index") };
  const git = (...args) => run(["-C", values.into, ...args], env);
  run(["-C", values.into, `--work-tree=${tree}`, "add", "--all", "--force", "."], env, tree);
  const made = git("write-tree");
  const parent = tip(git);
  if (parent !== undefined && git("rev-parse", `${parent}^{tree}`) === made) {
    console.log(`${values.branch} is up to date.`);
    return;
  }
  const source = run(["-C", ROOT, "rev-parse", "--short", "HEAD"], process.env);
  const message = `Neovim plugin ${manifest().version}, built from ${source}`;
  const commit = git("commit-tree", made, ...(parent === undefined ? [] : ["-p", parent]), "-m", message);
  git("update-ref", ref, commit, parent ?? "");
  const files = git("ls-tree", "-r", "--name-only", commit).split("\n").length;
  console.log(
    `${values.branch} is ${commit.slice(0, 10)} now, ${files} files.\nNext: git push origin ${values.branch}`,
  );
}

function tip(git) {
  try {
    return git("rev-parse", "--verify", "--quiet", ref);
  } catch {
    return undefined;
  }
}

function run(args, env, cwd) {
  const end = spawnSync("git", args, { encoding: "utf8", env, cwd });
  if (end.status !== 0) throw new Error(`git ${args.join(" ")} failed: ${(end.stderr ?? "").trim()}`);
  return end.stdout.trim();
}
