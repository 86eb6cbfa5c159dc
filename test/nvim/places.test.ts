// Odd places and bad moments: strange windows and buffers, paths and folders, somebody who goes on typing, two of
// everything, and a Node that is none.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { beginDo, scriptedRun } from "../extension/host/scripted-run.ts";
import { neovims } from "./harness/neovims.ts";
import { Nvim, type NvimOptions, until } from "./harness/nvim.ts";

const files = {
  ".features.json": `{ "known_features": { "Invoice": "Billing" } }\n`,
  "features/Billing/Invoice/spec.md": "# Invoice\n\n## Overview\n\nTotals.\n",
  "features/Billing/Invoice/Handler.py": "def total(lines):\n    return sum(lines)\n",
};

for (const build of neovims) {
  describe(`odd places in nvim, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let nv: Nvim;
    before(function () {
      if (build.version === undefined) this.skip();
    });
    const open = async (options: Partial<NvimOptions> = {}, folder = "repo"): Promise<Nvim> => {
      repo = await makeTempRepo({ files, folder });
      return (nv = new Nvim(build, { cwd: repo.root, env: repo.env, ...options }));
    };
    afterEach(async () => {
      await nv?.close();
      await repo?.cleanup();
    });
    const noFault = async (): Promise<void> =>
      assert.deepEqual(
        (await nv.said()).filter((line) => /fault of its own|traceback|E\d+:/.test(line)),
        [],
      );
    const filetypes = (): Promise<readonly string[]> =>
      nv.lua(
        `return vim.tbl_map(function(w) return vim.bo[vim.api.nvim_win_get_buf(w)].filetype end, vim.api.nvim_list_wins())`,
      );

    it("a path with blanks, quotes, wildcards, a percent sign and other scripts", async () => {
      await open({ args: ["features/Billing/Invoice/Handler.py"] }, "a b 'c' %d #e [f] $g ünï 日本");
      await repo.git("switch", "-q", "-c", "Billing/Invoice");
      await nv.ex("Orch runs");
      await nv.until(`vim.bo.filetype == 'orch-runs'`);
      await nv.ex("wincmd p");
      await nv.ex("Orch modify --model builtin/template round the total");
      await nv.saying(/^orch modify: .*amendment 1/);
      await nv.until(`vim.t.orch_diff ~= nil`);
      assert.equal(
        await nv.lua(`return vim.fn.bufwinid(...) ~= -1`, repo.path("features/Billing/Invoice/spec.md")),
        true,
      );
      await nv.ex("Orch discard file");
      await nv.lua(`require('orch.diff').close()`);
      await nv.until(
        `vim.iter(vim.api.nvim_list_bufs()):any(function(b)
          return vim.bo[b].filetype == 'orch-runs' and vim.api.nvim_buf_get_lines(b, 0, 1, false)[1]:find('modify') ~= nil
        end)`,
      );
      await nv.ex("Orch log");
      await nv.until(`vim.bo.filetype == 'orch-log' and vim.fn.search('amendment 1', 'nw') > 0`);
      await nv.ex("checkhealth orch");
      assert.match(await nv.text(), /OK .*日本/);
      await noFault();
    });

    it("a buffer without a name, and those that are no files, are not taken for the one that is meant", async () => {
      await open();
      for (const before of [
        "enew",
        "help",
        "copen",
        "terminal",
        "edit oil://somewhere/",
        "new | setlocal buftype=acwrite",
      ]) {
        await nv.lua(`require('orch.rpc').lines = {}`);
        await nv.ex(`silent! ${before}`);
        await nv.ex("Orch modify --dry-run --model builtin/template round it");
        await nv.saying(/no file is looked at: name the feature, or one of its files with --file|is in no feature/);
      }
      await noFault();
    });

    const windows: Readonly<Record<string, string>> = {
      "a floating window": `vim.api.nvim_open_win(0, true, { relative = 'editor', width = 20, height = 3, row = 1, col = 1 })`,
      "a window that keeps its buffer": `vim.wo.winfixbuf = true`,
      "the quickfix window": `vim.cmd('copen')`,
      "a preview window": `vim.cmd('pedit | wincmd P')`,
      "a terminal": `vim.cmd('terminal')`,
    };
    for (const [name, enter] of Object.entries(windows)) {
      it(`opens its buffers and diffs from ${name}`, async () => {
        await open({ args: ["features/Billing/Invoice/Handler.py"] });
        await nv.lua(enter);
        await nv.ex("Orch runs");
        await nv.until(`vim.bo.filetype == 'orch-runs'`);
        await nv.keys("q");
        await nv.until(`vim.bo.filetype ~= 'orch-runs'`);
        await nv.lua(`require('orch.views').text('orch://sample', { 'a line' })`);
        await nv.until(
          `vim.iter(vim.api.nvim_list_wins()):any(function(w) return vim.bo[vim.api.nvim_win_get_buf(w)].filetype == 'orch-text' end)`,
        );
        await nv.lua(
          `require('orch.diff').open({ root = vim.fn.getcwd(), title = 't', left = {},
            files = { { path = 'x', file = ..., old = 'a', new = 'b' } } })`,
          repo.path("features/Billing/Invoice/Handler.py"),
        );
        assert.equal(await nv.lua(`return #vim.api.nvim_tabpage_list_wins(0)`), 2);
        await nv.lua(`require('orch.diff').close()`);
        assert.equal(await nv.lua(`return #vim.api.nvim_list_tabpages()`), 1);
        await noFault();
      });
    }

    it("the command-line window: a command says how to leave it, and what arrives meanwhile waits", async () => {
      await open();
      await nv.lua(`local real = vim.ui.select
        vim.ui.select = function(...) _G.window = vim.fn.getcmdwintype(); return real(...) end`);
      await nv.keys("q:");
      await nv.until(`vim.fn.getcmdwintype() == ':'`);
      await nv.lua(`require('orch.ask').take({ root = vim.fn.getcwd(), run = 'r-1', id = 'q-1', kind = 'pick',
        title = 'Sure?', detail = 'It goes; orch restore brings it back', choices = { { id = 'yes', label = 'Yes' } } })`);
      await nv.lua(`require('orch.command').run({ args = 'runs', bang = false, range = 0 })`);
      await nv.saying(/not from the command-line window\. Close it with :q/);
      assert.deepEqual(await nv.lua(`return _G.asked`), []);
      await nv.keys(":q<CR>");
      await nv.until(`#_G.asked == 1`);
      assert.deepEqual(await nv.lua(`return { _G.window, _G.asked[1] }`), [
        "",
        "Sure? (It goes; :Orch restore brings it back)",
      ]);
      await noFault();
    });

    it("a last window is left, too", async () => {
      await open();
      await nv.ex("Orch runs");
      await nv.until(`vim.bo.filetype == 'orch-runs'`);
      await nv.ex("only");
      await nv.keys("q");
      await nv.until(`vim.bo.filetype == '' and vim.bo.buftype == ''`);
      assert.equal(await nv.lua(`return vim.v.errmsg`), "");
      assert.deepEqual(await filetypes(), [""]);
    });

    it("a question is answered in its repository, wherever the person has gone meanwhile", async () => {
      await open({ before: "vim.o.autochdir = true", args: ["features/Billing/Invoice/Handler.py"] });
      await nv.ex("Orch new Billing/Other --model builtin/template totals");
      await nv.saying(/^orch new: .* Next: /);
      await nv.lua(`vim.ui.select = function(items, _, done) _G.pick = function() done(items[1]) end end`);
      await nv.ex("Orch undo");
      await nv.until(`_G.pick ~= nil`);
      await nv.ex("set noautochdir | cd /");
      await nv.lua(`_G.pick()`);
      await nv.saying(/^orch undo: .*[Dd]iscard/);
      await noFault();
    });

    it("what an answer shows does not take the cursor of somebody who went on", async () => {
      await open({ args: ["features/Billing/Invoice/Handler.py"] });
      await nv.ex("Orch scan");
      await nv.saying(/features? in/);
      await nv.ex("drop features/Billing/Invoice/Handler.py | silent! only");
      const run = await scriptedRun(repo.root);
      beginDo(run.log);
      // In one go: what is typed ahead is taken before the answer is.
      await nv.keys(":Orch status<CR>itext");
      await nv.until(`vim.api.nvim_get_current_line():find('^text') ~= nil`);
      await nv.until(`require('orch.rpc').info().pending == 0`);
      run.leave();
      // While somebody inserts nothing opens at all.
      assert.equal(await nv.lua(`return #vim.api.nvim_list_wins()`), 1);
      await nv.keys("<Esc>");
      await nv.until(`#vim.api.nvim_list_wins() == 2`);
      assert.match(await nv.lua<string>(`return vim.api.nvim_buf_get_name(0)`), /Handler\.py$/);
      assert.ok((await filetypes()).includes("orch-text"));
    });

    it("two tabs with two repositories: each shows its own runs and logs", async () => {
      await open();
      const other = await makeTempRepo({ files });
      try {
        const [here, there] = [await scriptedRun(repo.root), await scriptedRun(other.root)];
        beginDo(here.log, "Here");
        beginDo(there.log, "There");
        await nv.ex("Orch runs");
        await nv.ex(`tabnew | tcd ${other.root}`);
        await nv.ex("Orch runs");
        const text = (name: string): string =>
          `(function()
            for _, b in ipairs(vim.api.nvim_list_bufs()) do
              if vim.api.nvim_buf_get_name(b) == '${name}' then
                return table.concat(vim.api.nvim_buf_get_lines(b, 0, -1, false), '\\n')
              end
            end
          end)()`;
        const runs = (root: string): string => text(`orch://runs${root}`);
        await nv.until(
          `(${runs(repo.root)} or ''):find('attempt 1') and (${runs(other.root)} or ''):find('attempt 1')`,
        );
        await nv.keys("<CR>");
        await nv.until(`vim.api.nvim_buf_get_name(0) == 'orch://log/${there.run}'`);
        await nv.ex("close");
        await nv.ex(`Orch log ${there.run}`);
        await nv.until(`vim.bo.filetype == 'orch-log'`);
        await nv.ex("tabfirst");
        await nv.ex(`Orch log ${here.run}`);
        for (const one of [here, there])
          for (let n = 1; n <= 200; n += 1) one.log.append({ type: "progress.noted", text: `${one.run} step ${n}` });
        for (const one of [here, there]) await nv.until(`(${text(`orch://log/${one.run}`)} or ''):find('step 200')`);
        for (const [one, not] of [
          [here, there],
          [there, here],
        ] as const) {
          const lines = (await nv.lua<string>(`return ${text(`orch://log/${one.run}`)}`)).split("\n");
          const steps = lines.filter((line) => line.includes(`${one.run} step`)).map((line) => line.split(" ").at(-1));
          assert.deepEqual(
            steps,
            Array.from({ length: 200 }, (_, n) => String(n + 1)),
          );
          assert.ok(!lines.some((line) => line.includes(not.run)));
          one.leave();
        }
        await noFault();
      } finally {
        await other.cleanup();
      }
    });

    it("hunks are taken where the diff is, and a window of it that was closed is told", async () => {
      await open({ before: "vim.o.hidden = false" });
      await repo.write("a.txt", "one\n");
      await repo.write("b.txt", "one\n");
      const change = (name: string): object => ({ path: name, file: repo.path(name), old: "one\n", new: "two\n" });
      const show = (): Promise<unknown> =>
        nv.lua(`require('orch.diff').open({ root = vim.fn.getcwd(), title = 't', files = ..., left = {} })`, [
          change("a.txt"),
          change("b.txt"),
        ]);
      await show();
      await nv.ex("tabfirst");
      await nv.ex("Orch keep");
      await nv.saying(/the diff is in another tab; go there with :tabnext 2/);
      await nv.ex("tabnext 2");
      // Without 'hidden' a buffer with changes must be hidden all the same.
      await nv.ex("Orch keep all");
      await nv.saying(/2 hunks kept in a\.txt, b\.txt/);
      await nv.lua(`require('orch.diff').close()`);
      const now = `vim.tbl_map(function(n) return vim.fn.getbufline(vim.fn.bufnr(n), 1)[1] end, { 'a.txt', 'b.txt' })`;
      assert.deepEqual(await nv.lua(`return ${now}`), ["two", "two"]);
      await nv.ex("silent! edit! a.txt | edit! b.txt");
      await show();
      await nv.lua(`for _, w in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
        if vim.bo[vim.api.nvim_win_get_buf(w)].buftype ~= '' then vim.api.nvim_win_close(w, true) end end`);
      await nv.ex("Orch keep");
      await nv.saying(/a\.txt is not shown as a diff any more: run :Orch diff/);
      await noFault();
    });

    it("a program that never answers is given up, and one that is no Node is told", async () => {
      await open({ before: `vim.g.orch = { node = { 'sh', '-c', 'sleep 60' }, timeout_ms = 300 }` });
      await nv.ex("Orch scan");
      await nv.saying(/the co-process was not ready within 300 ms; see :Orch log host, then :Orch restart/);
      await nv.lua(`vim.g.orch = { node = '/bin/true' }`);
      await nv.ex("Orch restart");
      await nv.ex("Orch scan");
      await nv.saying(/the channel to the co-process broke; see :Orch log host, then :Orch restart/);
      await nv.ex("checkhealth orch");
      assert.match(await nv.text(), /\/bin\/true is .*22\.19 or newer is needed/);
      await nv.lua(`vim.g.orch = nil`);
      await nv.ex("Orch restart");
      await nv.ex("Orch scan");
      await nv.saying(/features? in/);
    });

    it("a restart holds nobody up, even when the co-process hangs", async () => {
      await open();
      await nv.ex("Orch scan");
      const pid = await nv.hostPid();
      process.kill(pid, "SIGSTOP");
      const heldMs = await nv.lua<number>(`local t = vim.uv.hrtime()
        vim.cmd('Orch restart')
        return (vim.uv.hrtime() - t) / 1e6`);
      assert.ok(heldMs < 500, `${heldMs} ms`);
      await nv.lua(`require('orch.rpc').lines = {}`);
      await nv.ex("Orch scan");
      await nv.saying(/features? in/);
      await until("the old one to be killed", () => !fs.existsSync(`/proc/${pid}`), 60_000);
    });

    it("a home that is not there, a plugin on a relative path, a folder that is gone", async () => {
      await open({ before: `vim.env.HOME = '/nowhere'; vim.opt.rtp:prepend('plug')` });
      fs.symlinkSync(path.join(sourceRoot, "nvim-plugin"), repo.path("plug"));
      await nv.lua(`package.loaded['orch.rpc'] = nil`);
      fs.mkdirSync(repo.path("gone"));
      await nv.ex(`Orch scan`);
      await nv.saying(/features? in/);
      await nv.ex(`cd ${repo.path("gone")}`);
      fs.rmdirSync(repo.path("gone"));
      for (const command of ["scan", "runs", "modify round it"]) {
        await nv.lua(`require('orch.rpc').lines = {}`);
        await nv.ex(`Orch ${command}`);
        await nv.saying(/the current folder is gone\. Go to another one with :cd/);
      }
      assert.deepEqual(await nv.complete("Orch do "), []);
      await nv.ex("checkhealth orch");
      assert.match(await nv.text(), /the current folder is gone/);
      await noFault();
    });

    it("a very long prompt arrives whole", async () => {
      await open();
      await nv.lua(`vim.cmd('Orch new Billing/Other --model builtin/template ' .. ('word '):rep(40000) .. 'end')`);
      await nv.saying(/^orch new: Billing\/Other/);
      assert.match((await repo.read("features/Billing/Other/spec.md")) ?? "", /word end/);
      await noFault();
    });

    it("a mistake in somebody's autocommand stops nothing and is not taken for one of ours", async () => {
      await open();
      await nv.lua(
        `vim.api.nvim_create_autocmd('User', { pattern = 'OrchRunUpdated', callback = function() error('mine') end })`,
      );
      await nv.ex("Orch runs");
      const run = await scriptedRun(repo.root);
      beginDo(run.log);
      await nv.until(`vim.g.orch_status ~= ''`);
      await nv.ex("Orch log");
      await nv.until(`vim.bo.filetype == 'orch-log'`);
      run.leave();
      assert.deepEqual(
        (await nv.said()).filter((line) => /fault of its own/.test(line)),
        [],
      );
    });

    it("no message is wider than the line, in any script", async () => {
      await open();
      await nv.lua(`_G.wide = {}
        vim.notify = function(text) table.insert(_G.wide, { vim.api.nvim_strwidth(text), vim.v.echospace, text }) end`);
      const texts = ["日本語".repeat(60), `é${"é".repeat(300)}`, `tab\tand\u001b[31mcolour\nsecond line`];
      for (const [n, text] of texts.entries()) {
        await nv.lua(`require('orch.ui').notify(..., 'warning', { tail = '. Next: :Orch do' })`, text);
        await nv.until(`#_G.wide == ${n + 1}`);
      }
      const seen = await nv.lua<readonly [number, number, string][]>(`return _G.wide`);
      for (const [cells, room, text] of seen) {
        assert.ok(cells <= room, `${cells} cells in ${room}: ${text}`);
        assert.doesNotMatch(text, /\p{Cc}/u);
        assert.match(text, /Next: :Orch do$/);
      }
    });

    it("help of a subcommand, by name and by --help", async () => {
      await open();
      const doc = path.join(repo.base, "doc-copy/doc");
      fs.cpSync(path.join(sourceRoot, "nvim-plugin/doc"), doc, { recursive: true });
      await nv.ex("Orch help merge");
      await nv.saying(/no help for :Orch-merge \(E149\).*:helptags ALL/);
      await nv.lua(`vim.cmd.helptags(...); vim.opt.rtp:append(vim.fs.dirname(...))`, doc);
      for (const typed of ["Orch help merge", "Orch merge --help", "Orch merge -h"]) {
        await nv.ex(typed);
        assert.match(await nv.lua(`return vim.api.nvim_get_current_line()`), /\*:Orch-merge\*/);
        await nv.ex("helpclose");
      }
    });
  });
}
