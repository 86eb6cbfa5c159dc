// What a person reads: the help with a tag for everything, the health page; and how the Lua is written.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { commandTable } from "../../shared/app/commands.ts";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims, newest } from "./harness/neovims.ts";
import { Nvim, pluginFolder } from "./harness/nvim.ts";

const luaFiles = ["nvim-plugin/plugin", "nvim-plugin/lua/orch", "test/nvim/harness"].flatMap((folder) =>
  fs
    .readdirSync(path.join(sourceRoot, folder))
    .filter((name) => name.endsWith(".lua"))
    .map((name) => `${folder}/${name}`),
);
const read = (file: string): string => fs.readFileSync(path.join(sourceRoot, file), "utf8");

describe("the plugin's Lua and help", () => {
  it("is laid out by stylua", async () => {
    const style = pathToFileURL(path.join(sourceRoot, ".ci/lua-style.mjs")).href;
    const { formatLua } = (await import(style)) as { formatLua(text: string): string };
    assert.deepEqual(
      luaFiles.filter((file) => formatLua(read(file)) !== read(file)),
      [],
    );
  });

  it("has no warning of luacheck", function () {
    if (spawnSync("luacheck", ["--version"]).status !== 0) this.skip();
    const end = spawnSync("luacheck", ["--no-color", "-q", "nvim-plugin"], { cwd: sourceRoot, encoding: "utf8" });
    assert.equal(end.status, 0, end.stdout);
  });

  it("asks Node for nothing that the editor would wait for", () => {
    assert.deepEqual(
      luaFiles.filter((file) => read(file).includes("rpcrequest")),
      [],
    );
  });

  it("the help has a tag for every command, option, event and mapping, each once", () => {
    const help = read("nvim-plugin/doc/orch.txt");
    const tags = [...help.matchAll(/\*([^*\s]+)\*/g)].map(([, tag]) => tag ?? "");
    assert.deepEqual(
      tags.filter((tag, at) => tags.indexOf(tag) !== at),
      [],
    );
    const commands = commandTable.filter(({ terminal }) => terminal !== true).map(({ name }) => `:Orch-${name}`);
    const own = [...read("nvim-plugin/lua/orch/command.lua").matchAll(/^ {2}(\w+) = \{\n {4}summary/gm)];
    const config = read("nvim-plugin/lua/orch/config.lua");
    const defaults = /M\.defaults = \{([^}]*)\}/.exec(config)?.[1] ?? "";
    const options = [...defaults.matchAll(/^ {2}(\w+) =/gm)].map(([, name]) => `orch-option-${name}`);
    const events = [
      ...`${read("nvim-plugin/src/news.ts")}${read("nvim-plugin/src/repository.ts")}${read("nvim-plugin/lua/orch/status.lua")}`.matchAll(
        /["'](Orch[A-Z]\w+)["']/g,
      ),
    ];
    const maps = ["Do", "Modify", "Merge", "Undo", "Status", "Runs", "Log", "Diff", "Reply", "Qa", "Cancel"];
    assert.ok(own.length >= 7 && options.length >= 9 && events.length >= 6);
    const wanted = [
      ...commands,
      ...own.map(([, name]) => `:Orch-${name}`),
      ...options,
      ...events.map(([, name]) => name ?? ""),
      ...maps.map((name) => `<Plug>(Orch${name})`),
    ];
    assert.deepEqual(
      wanted.filter((tag) => !tags.includes(tag)),
      [],
    );
  });
});

for (const build of neovims) {
  describe(`help and health, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let nv: Nvim;
    before(async function () {
      if (build.version === undefined) this.skip();
      repo = await makeTempRepo();
    });
    after(() => repo?.cleanup());
    afterEach(() => nv?.close());

    it("is healthy, and names options that it does not know", async () => {
      nv = new Nvim(build, { cwd: repo.root, env: repo.env, before: "vim.g.orch = { notfy = 'all', restarts = 'x' }" });
      await nv.ex("Orch scan");
      await nv.saying(/features in/);
      await nv.ex("checkhealth orch");
      const page = await nv.text();
      assert.doesNotMatch(page, /ERROR/);
      assert.match(page, /unknown option: notfy/);
      assert.match(page, /option restarts is to be a number from 0, not "x"/);
      assert.match(page, /state: ready, pid \d+/);
      assert.match(page, /orch 0\.\d+\.\d+/);
      assert.match(page, /not trusted: its tests, hooks and settings have no effect before :Orch trust/);
      if (build === newest) {
        fs.mkdirSync(path.join(sourceRoot, "artifacts/nvim"), { recursive: true });
        fs.writeFileSync(path.join(sourceRoot, "artifacts/nvim/health.txt"), `${page}\n`);
      }
    });

    it("setup() equals vim.g.orch, and says what it cannot take", async () => {
      nv = new Nvim(build, { cwd: repo.root, env: repo.env });
      await nv.lua(`require('orch').setup({ notify = 'decisions' })`);
      assert.equal(await nv.lua(`return require('orch.config').get().notify`), "decisions");
      await nv.lua(`require('orch').setup({ notify = 'loud' })`);
      await nv.saying(/option notify is to be "all", "decisions" or "none", not "loud"; see :checkhealth orch/);
      assert.equal(await nv.lua(`return require('orch.config').get().notify`), "all");
    });

    it("opens its help by tag, and the tags can be made", async () => {
      nv = new Nvim(build, { cwd: repo.root, env: repo.env });
      const doc = path.join(repo.base, "doc-copy/doc");
      fs.cpSync(path.join(pluginFolder, "doc"), doc, { recursive: true });
      await nv.lua(`vim.cmd.helptags(...); vim.opt.rtp:append(vim.fs.dirname(...))`, doc);
      await nv.ex("help :Orch-modify");
      assert.match(await nv.lua(`return vim.api.nvim_get_current_line()`), /\*:Orch-modify\*/);
    });
  });
}
