// The release branch in a local remote, installed the three ways people install plugins: no build step, nothing of this
// checkout in reach.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims, newest } from "./harness/neovims.ts";

/** lazy.nvim is nobody's Debian or npm package: a clone of it, where somebody put one. */
const cache = process.env["XDG_CACHE_HOME"] ?? path.join(os.homedir(), ".cache");
const lazyNvim = process.env["LAZY_NVIM"] ?? path.join(cache, "orch-build", "lazy.nvim");

const probe = `
local function lines() return require('orch.rpc').lines end
vim.cmd('Orch scan')
vim.wait(20000, function()
  return vim.iter(lines()):any(function(line) return line:find('features in', 1, true) ~= nil end)
end, 20)
-- Without its file type: a manager may have taken the parsers of this Neovim off its path.
vim.cmd('noautocmd help :Orch-do')
io.stdout:write(vim.json.encode({
  said = lines(),
  bundle = require('orch.rpc').bundle(),
  help = vim.api.nvim_buf_get_name(0),
}), '\\n')
vim.cmd('qa!')
`;

describe("installing the release branch @slow", function () {
  this.timeout(600_000);
  let repo: TempRepo;
  let remote: string;
  before(async function () {
    if (newest.version === undefined) this.skip();
    repo = await makeTempRepo({ files: { ".features.json": `{ "known_features": {} }\n` } });
    remote = path.join(repo.base, "remote.git");
    // As the real one: main is its HEAD, the plugin's branch lies beside it.
    await repo.gitIn(repo.base, "clone", "-q", "--bare", repo.root, remote);
    const made = release();
    assert.match(made, /^nvim is [0-9a-f]{10} now, \d+ files\.\nNext: git push origin nvim$/);
  });
  after(() => repo?.cleanup());

  function release(): string {
    const script = path.join(sourceRoot, ".ci/nvim/release-branch.mjs");
    const end = spawnSync(process.execPath, [script, "--into", remote], { encoding: "utf8", env: { ...repo.env } });
    assert.equal(end.status, 0, end.stderr);
    return end.stdout.trim();
  }

  function run(program: string, name: string, init: string): { said: string[]; bundle: string; help: string } {
    const home = path.join(repo.base, name);
    fs.mkdirSync(home, { recursive: true });
    fs.writeFileSync(path.join(home, "init.lua"), init);
    fs.writeFileSync(path.join(home, "probe.lua"), probe);
    const end = spawnSync(
      program,
      [
        "--headless",
        "-n",
        "-i",
        "NONE",
        "-u",
        path.join(home, "init.lua"),
        "-c",
        `luafile ${path.join(home, "probe.lua")}`,
      ],
      {
        cwd: repo.root,
        encoding: "utf8",
        timeout: 80_000,
        env: {
          ...repo.env,
          XDG_DATA_HOME: path.join(home, "data"),
          XDG_CONFIG_HOME: path.join(home, "config"),
          XDG_CACHE_HOME: path.join(home, "cache"),
          ORCH_NODE: process.execPath,
        },
      },
    );
    const line = end.stdout.split("\n").find((one) => one.startsWith("{"));
    assert.ok(line !== undefined, `${end.stdout.slice(-500)}\n${end.stderr.slice(-1500)}`);
    return JSON.parse(line) as { said: string[]; bundle: string; help: string };
  }

  function works(seen: { said: string[]; bundle: string; help: string }, under: string): void {
    assert.ok(
      seen.said.some((line) => /0 features in/.test(line)),
      seen.said.join("\n"),
    );
    assert.ok(seen.bundle.startsWith(path.join(repo.base, under)), seen.bundle);
    assert.match(seen.help, /doc\/orch\.txt$/);
  }

  it("an unchanged build adds no commit", () => {
    assert.equal(release(), "nvim is up to date.");
  });

  for (const build of neovims) {
    it(`by hand into the packpath, ${build.version ?? build.name}`, async function () {
      if (build.version === undefined) this.skip();
      const name = `packpath-${build.name}`;
      const to = path.join(repo.base, name, "data/nvim/site/pack/orch/start/orch");
      fs.mkdirSync(path.dirname(to), { recursive: true });
      await repo.gitIn(repo.base, "clone", "-q", "-b", "nvim", remote, to);
      works(run(build.program, name, `vim.cmd('helptags ${to}/doc')`), name);
      assert.equal(await repo.gitIn(to, "status", "--porcelain"), "", "the clone stays clean");
    });
  }

  it("with vim.pack", () => {
    const init = `vim.pack.add({ { src = 'file://${remote}', version = 'nvim', name = 'orch' } }, { confirm = false })`;
    works(run(newest.program, "pack", init), "pack");
  });

  for (const build of neovims) {
    it(`with lazy.nvim, ${build.version ?? build.name} (skipped without a clone at $LAZY_NVIM)`, function () {
      if (build.version === undefined || !fs.existsSync(path.join(lazyNvim, "lua/lazy"))) this.skip();
      const name = `lazy-${build.name}`;
      const init = `vim.opt.rtp:prepend('${lazyNvim}')
        require('lazy').setup({ { url = 'file://${remote}', name = 'orch', branch = 'nvim', lazy = false } },
          { rocks = { enabled = false }, change_detection = { enabled = false }, git = { filter = false } })`;
      works(run(build.program, name, init), name);
    });
  }
});
