// What meets the person's own text: diff windows, undo steps, unsaved buffers, large ones, the lines of a selection.
import assert from "node:assert/strict";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims } from "./harness/neovims.ts";
import { Nvim, type NvimOptions } from "./harness/nvim.ts";

const original = ["one", "two", "three", "four", "five", "six", "seven", ""].join("\n");
const changed = ["ONE", "two", "three", "four", "five", "SIX", "seven", "eight", ""].join("\n");

for (const build of neovims) {
  describe(`the person's text in nvim, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let nv: Nvim;
    before(function () {
      if (build.version === undefined) this.skip();
    });
    beforeEach(async () => {
      repo = await makeTempRepo({ files: { "a.txt": original, "b.txt": original, "c.txt": "old\n" } });
    });
    afterEach(async () => {
      await nv?.close();
      await repo.cleanup();
    });
    const open = (options: Partial<NvimOptions> = {}): Nvim =>
      (nv = new Nvim(build, { cwd: repo.root, env: repo.env, ...options }));
    const file = (name: string, old: string | undefined, made: string | undefined): object => ({
      path: name,
      file: repo.path(name),
      ...(old === undefined ? {} : { old }),
      ...(made === undefined ? {} : { new: made }),
    });
    const show = (...files: readonly object[]): Promise<unknown> =>
      nv.lua(`require('orch.diff').open({ root = vim.fn.getcwd(), title = 'sample', files = ..., left = {} })`, files);
    const textOf = (name: string): Promise<string> =>
      nv.lua(`return table.concat(vim.api.nvim_buf_get_lines(vim.fn.bufnr(...), 0, -1, false), '\\n') .. '\\n'`, name);
    /** Puts the cursor into the window of the read-only side, or of the file. */
    const side = (which: "own" | "other", line: number): Promise<unknown> =>
      nv.lua(
        `local own, line = ...
        for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
          if (vim.bo[vim.api.nvim_win_get_buf(win)].buftype == '') == own then
            vim.api.nvim_set_current_win(win)
            vim.api.nvim_win_set_cursor(win, { line, 0 })
          end
        end`,
        which === "own",
        line,
      );

    it("keeps hunks of a change that lies aside, each as one undo step, and marks stay", async () => {
      open({ args: ["a.txt"] });
      await nv.lua(
        `_G.ns = vim.api.nvim_create_namespace('t'); _G.mark = vim.api.nvim_buf_set_extmark(0, _G.ns, 3, 0, {})`,
      );
      await show(file("a.txt", original, changed));
      assert.deepEqual(
        await nv.lua(
          `return vim.tbl_map(function(w) return vim.wo[w].diff and vim.wo[w].winbar ~= '' end, vim.api.nvim_tabpage_list_wins(0))`,
        ),
        [true, true],
      );
      await side("own", 6);
      await nv.ex("Orch keep");
      assert.equal(await textOf("a.txt"), original.replace("six", "SIX"));
      await side("other", 1);
      await nv.keys("gk");
      await nv.until(`vim.fn.getbufline(vim.fn.bufnr('a.txt'), 1)[1] == 'ONE'`);
      await nv.ex("Orch keep file");
      assert.equal(await textOf("a.txt"), changed);
      const mark = `return vim.api.nvim_buf_get_extmark_by_id(vim.fn.bufnr('a.txt'), _G.ns, _G.mark, {})[1]`;
      assert.equal(await nv.lua(mark), 3);
      await side("own", 1);
      const steps = [];
      for (let n = 0; n < 3; n += 1) {
        await nv.ex("silent undo");
        steps.push(await textOf("a.txt"));
      }
      const six = original.replace("six", "SIX");
      assert.deepEqual(steps, [six.replace("one", "ONE"), six, original]);
      assert.equal(await repo.read("a.txt"), original, "nothing was written");
    });

    it("a whole file is one undo step; discard puts back what a command wrote", async () => {
      await repo.write("a.txt", changed);
      open();
      await show(file("a.txt", original, changed), file("b.txt", original, changed));
      await nv.until(`vim.fn.bufwinid('a.txt') ~= -1`);
      await nv.ex("Orch discard file");
      assert.equal(await textOf("a.txt"), original);
      await side("other", 1);
      await nv.keys("u");
      await nv.until(`vim.fn.getbufline(vim.fn.bufnr('a.txt'), 1)[1] == 'ONE'`);
      assert.equal(await textOf("a.txt"), changed);
      await nv.keys("]f");
      await nv.until(`vim.fn.bufwinid('b.txt') ~= -1`);
      await side("own", 1);
      await nv.ex("Orch keep all");
      assert.deepEqual([await textOf("a.txt"), await textOf("b.txt")], [changed, changed]);
      await side("other", 1);
      await nv.keys("q");
      await nv.until(`#vim.api.nvim_list_tabpages() == 1`);
      assert.equal(
        await nv.lua(
          `return #vim.tbl_filter(function(b) return vim.api.nvim_buf_get_name(b):find('^orch://') end, vim.api.nvim_list_bufs())`,
        ),
        0,
      );
    });

    it("new, deleted and moved-on files are told, not guessed", async () => {
      open();
      await show(file("new.txt", undefined, "fresh\n"));
      await nv.ex("Orch keep file");
      assert.equal(await textOf("new.txt"), "fresh\n");
      await nv.lua(`require('orch.diff').close()`);
      await nv.ex("silent! bwipeout! new.txt");
      await show(file("c.txt", "old\n", undefined));
      await nv.ex("Orch keep file");
      await nv.saying(/c\.txt is deleted by the change: run :Orch apply/);
      assert.equal(await textOf("c.txt"), "old\n");
    });

    it("never touches a buffer with unsaved text", async () => {
      open({ args: ["a.txt"] });
      await nv.lua(`vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'mine' })`);
      const mine = original.replace("two", "mine");
      await show(file("a.txt", original, changed));
      for (const command of ["Orch keep", "Orch keep file", "Orch! keep all"]) await nv.ex(command);
      await nv.saying(/a\.txt has unsaved text of yours: save it with :w/);
      assert.equal(await textOf("a.txt"), mine);
      // And what is typed while the diff is open is in the way of the next step, too.
      await nv.lua(`require('orch.diff').close()`);
      await nv.ex("silent edit!");
      await show(file("a.txt", original, changed));
      await side("own", 2);
      await nv.lua(`vim.api.nvim_buf_set_lines(0, 1, 2, false, { 'typed' })`);
      await nv.ex("Orch keep file");
      await nv.saying(/a\.txt changed since the diff was opened/);
      assert.equal(await textOf("a.txt"), original.replace("two", "typed"));
    });

    it("reads changed files again, but not under unsaved text", async () => {
      open({ args: ["a.txt"] });
      await nv.ex("edit b.txt");
      await nv.lua(`vim.api.nvim_buf_set_lines(0, 0, 1, false, { 'mine' })`);
      await nv.lua(`require('orch.buffers').remember()`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      await repo.write("a.txt", changed);
      await repo.write("b.txt", changed);
      await nv.lua(`require('orch.buffers').check(vim.fn.getcwd())`);
      await nv.until(`vim.fn.getbufline(vim.fn.bufnr('a.txt'), 1)[1] == 'ONE'`);
      await nv.saying(/b\.txt changed on disk; your unsaved text is kept/);
      assert.match(await textOf("b.txt"), /^mine\n/);
    });

    it("tells a command the buffer, its unsaved text and the selected lines", async () => {
      open({ args: ["a.txt"] });
      const active = (range: string): Promise<Record<string, unknown>> =>
        nv.lua(
          `local seen; local b = require('orch.buffers'); local real = b.active
          b.active = function(o) seen = real(o); return seen end
          require('orch.command').send = function() end
          vim.cmd(... .. 'Orch do')
          b.active = real
          assert(seen.buf == vim.api.nvim_get_current_buf() and seen.tick == vim.b.changedtick)
          seen.buf, seen.tick = nil, nil
          return seen`,
          range,
        );
      assert.deepEqual(await active(""), { path: repo.path("a.txt"), changed: false });
      assert.deepEqual(await active("2,4"), { path: repo.path("a.txt"), changed: false, first: 2, last: 4 });
      await nv.lua(`vim.bo.fileformat = 'dos'; vim.api.nvim_buf_set_lines(0, 0, -1, false, { 'x', 'y' })`);
      assert.deepEqual(await active("'<,'>".slice(0, 0) + "1"), {
        path: repo.path("a.txt"),
        changed: true,
        text: "x\r\ny\r\n",
        first: 1,
        last: 1,
      });
    });

    it("a Visual selection through the <Plug> map is the range", async () => {
      open({ args: ["a.txt"] });
      await nv.lua(`_G.sent = nil
        require('orch.command').start = function(name, o) _G.sent = { name, o.range, o.line1, o.line2 } end
        vim.keymap.set({ 'n', 'x' }, ',m', '<Plug>(OrchModify)')`);
      await nv.keys("2GVj,m");
      assert.deepEqual(await nv.until(`_G.sent`), ["modify", 2, 2, 3]);
      assert.equal(await nv.lua(`return #vim.api.nvim_get_keymap('n') > 0 and vim.fn.maparg('<leader>od', 'n')`), "");
    });

    it("a buffer of 100,000 unsaved lines holds the editor for less than a second", async () => {
      open({ args: ["a.txt"] });
      await nv.lua(`local lines = {}; for i = 1, 100000 do lines[i] = ('line %d of a large file, as long as they are'):format(i) end
        vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)`);
      await nv.ex("Orch restart");
      const tookMs = await nv.lua<number>(`local t = vim.uv.hrtime()
        vim.cmd('Orch new Billing/Large --model builtin/template --dry-run totals')
        return (vim.uv.hrtime() - t) / 1e6`);
      assert.ok(tookMs < 1000, `${tookMs} ms`);
      await nv.saying(/orch new: /);
    });
  });
}
