// Runs in real Neovims: started here, started elsewhere, outliving the editor, asking, and what they leave in it.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { demoRequest } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { readRun, runnerAlive } from "../../shared/runner/tail.ts";
import { type DemoModel, startDemoModel } from "../extension/harness/demo-model.ts";
import { beginDo, endDo, scriptedRun } from "../extension/host/scripted-run.ts";
import { orchJson } from "../support/orch-cli.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims } from "./harness/neovims.ts";
import { isAlive, Nvim, type NvimOptions, until } from "./harness/nvim.ts";

for (const build of neovims) {
  describe(`runs in nvim, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let model: DemoModel;
    let env: Readonly<Record<string, string>>;
    let python: string | undefined;
    const opened: Nvim[] = [];
    before(async function () {
      if (build.version === undefined) this.skip();
      model = await startDemoModel();
      python = await pythonWithPytest();
    });
    beforeEach(async () => {
      repo = await makeTempRepo({ files: sampleFiles });
      env = { ...repo.env, ORCH_DEMO_URL: model.url };
    });
    afterEach(async () => {
      for (const one of opened.splice(0)) await one.close();
      await endRuns(repo.root);
      await repo.cleanup();
    });
    after(() => model?.[Symbol.asyncDispose]());
    const open = (options: Partial<NvimOptions> = {}): Nvim => {
      const made = new Nvim(build, { cwd: repo.root, env, ...options });
      opened.push(made);
      return made;
    };
    const trust = async (): Promise<void> => {
      const place = { cwd: repo.root, env };
      const state = await orchJson(place, "trust");
      const hash = /[0-9a-f]{64}/.exec(state.error?.message ?? "")?.[0] ?? "";
      assert.equal((await orchJson(place, "trust", "--hash", hash)).ok, true);
    };

    it("does new and do to the end, with events, a status and findings on the way", async function () {
      if (python === undefined) this.skip();
      const nv = open();
      await nv.ex(`Orch new Billing/Invoice --model demo/invoice ${demoRequest}`);
      await nv.saying(/^orch new: Billing\/Invoice.* Next: /);
      await nv.lua(`_G.answers['^Trust '] = 'Trust it'`);
      await nv.ex("Orch trust");
      await nv.saying(/trusted/);
      await nv.ex("edit features/Billing/Invoice/Handler.py");
      await nv.ex("Orch do --model demo/invoice --no-push");
      assert.match(await nv.until<string>(`vim.g.orch_status ~= '' and vim.g.orch_status`), /^orch: do/);
      await nv.until(`vim.fn.getqflist({ title = 1 }).title == 'orch: orch do'`);
      const items = await nv.lua<readonly { text: string; lnum: number }[]>(`return vim.fn.getqflist()`);
      assert.ok(items.some(({ text, lnum }) => text.startsWith("py.unused-import: Any") && lnum === 3));
      await nv.saying(/^orch do: Billing\/Invoice.*Committed .*Next: :Orch merge/, 60_000);
      assert.match(await repo.git("log", "-1", "--format=%s"), /^feat: Invoice/);
      await nv.until(`vim.g.orch_status == ''`);
      // The buffer was read again, and the findings of the first attempt are gone with it.
      assert.match(await nv.text(), /ROUND_HALF_UP/);
      assert.equal(await nv.lua(`return #vim.fn.getqflist()`), 0);
      const events = await nv.lua<readonly [string, Record<string, unknown>][]>(`return _G.events`);
      const names = new Set(events.map(([name]) => name));
      for (const name of ["OrchRunStarted", "OrchRunUpdated", "OrchRunFinished", "OrchGateFailed", "OrchAttemptReady"])
        assert.ok(names.has(name), name);
      const finished = events.filter(([name]) => name === "OrchRunFinished").at(-1)?.[1];
      assert.deepEqual([finished?.["command"], finished?.["ok"], finished?.["own"]], ["do", true, true]);
    });

    it("shows findings of a failed do as quickfix and diagnostics, and its kept change as a diff", async function () {
      if (python === undefined) this.skip();
      const nv = open();
      await trust();
      await nv.ex("Orch new Greetings/Broken --model demo/invoice says hello");
      await nv.saying(/^orch new: .* Next: /);
      await nv.ex("edit features/Greetings/Broken/Handler.py");
      const before = await nv.text();
      await nv.ex("Orch do --model demo/invoice --no-push");
      await nv.until(`vim.tbl_contains(vim.tbl_map(function(e) return e[1] end, _G.events), 'OrchAttemptReady')`);
      await nv.until(`#vim.diagnostic.get(0) > 0`);
      const shown = await nv.lua<readonly { code: string; source: string; lnum: number }[]>(
        `return vim.tbl_map(function(d) return { code = d.code, source = d.source, lnum = d.lnum } end, vim.diagnostic.get(0))`,
      );
      assert.ok(shown.some(({ code, source, lnum }) => code === "pep8.E722" && source === "orch" && lnum === 6));
      await nv.until(
        `#vim.tbl_filter(function(e) return e[1] == 'OrchRunFinished' and e[2].command == 'do' end, _G.events) > 0`,
        60_000,
      );
      await nv.ex("Orch qf");
      assert.equal(await nv.lua(`return vim.bo.buftype`), "quickfix");
      await nv.ex("cclose");
      assert.equal(await nv.text(), before);
      await nv.ex("Orch diff");
      await nv.until(`vim.t.orch_diff and #vim.api.nvim_tabpage_list_wins(0) == 2`);
      const diff = `return vim.tbl_map(function(w) return vim.wo[w].diff end, vim.api.nvim_tabpage_list_wins(0))`;
      assert.deepEqual(await nv.lua(diff), [true, true]);
      await nv.ex("Orch keep file");
      await nv.saying(/kept in .*:w saves it/);
      const handler = `vim.fn.bufnr('features/Greetings/Broken/Handler.py')`;
      const kept = `table.concat(vim.api.nvim_buf_get_lines(${handler}, 0, -1, false), '\\n')`;
      assert.match(await nv.lua<string>(`return ${kept}`), /except:/);
      // One undo step brings everything back.
      await nv.lua(`vim.api.nvim_buf_call(${handler}, function() vim.cmd('undo') end)`);
      assert.equal(await nv.lua(`return ${kept}`), before);
    });

    it("asks before undo; a person's no leaves it pending, reply answers, a bang asks nothing", async () => {
      const nv = open();
      await nv.ex("Orch new Billing/Invoice --model builtin/template totals");
      await nv.saying(/Next: :edit features\/Billing\/Invoice\/spec\.md/);
      await nv.ex("Orch undo");
      await nv.saying(/left open; answer with :Orch reply/);
      assert.ok((await nv.lua<readonly string[]>(`return _G.asked`)).length > 0);
      assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
      await nv.until(`vim.tbl_contains(vim.tbl_map(function(e) return e[1] end, _G.events), 'OrchDecisionNeeded')`);
      assert.equal(await nv.lua(`return require('orch.status').waiting()`), 1);
      await nv.ex("Orch cancel");
      await nv.saying(/orch undo: cancelled/);
      await nv.ex("Orch! undo");
      await nv.saying(/^orch undo: .*(discard|Discard)/);
      assert.equal(await repo.git("branch", "--show-current"), "main");
    });

    it("takes the answer of :Orch reply, and of two Neovims the first one stands", async () => {
      const [one, two] = [open(), open()];
      await two.ex("Orch runs");
      await one.ex("Orch new Billing/Invoice --model builtin/template totals");
      await one.saying(/Next: :edit features\/Billing\/Invoice\/spec\.md/);
      await two.until(
        `vim.iter(vim.api.nvim_buf_get_lines(0, 0, -1, false)):any(function(l) return l:find('new Billing/Invoice.*ok') end)`,
      );
      await one.ex("Orch undo");
      await one.saying(/left open/);
      // The other Neovim sees it, asks nothing by itself, and answers when told to.
      await two.until(`require('orch.status').waiting() == 1`);
      assert.deepEqual(await two.lua(`return _G.asked`), []);
      await two.lua(`vim.ui.select = function(items, _, done) vim.schedule(function() done(items[1]) end) end`);
      await two.ex("Orch reply");
      await one.saying(/^orch undo: /);
      await two.until(`require('orch.status').waiting() == 0`);
      assert.equal(await repo.git("branch", "--show-current"), "main");
    });

    it("says that another host answered, where it cannot close the picker; that one's answer does not count", async () => {
      const [one, two] = [open(), open()];
      await one.ex("Orch new Billing/Invoice --model builtin/template totals");
      await one.saying(/^orch new: .* Next: /);
      await one.lua(`vim.ui.select = function(items, _, done) _G.pick = function() done(items[1]) end end`);
      await one.ex("Orch undo");
      await one.until(`_G.pick ~= nil`);
      await two.lua(
        `vim.ui.select = function(items, _, done) vim.schedule(function() done(items[#items]) end) end
        vim.cmd('Orch reply')`,
      );
      await one.saying(/answered elsewhere, .*; close its picker/);
      await one.lua(`_G.pick()`);
      await one.saying(/it was answered already; the first answer stands/);
      await one.saying(/^orch undo: /);
      assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
    });

    it("refuses over unsaved buffers, with and without the bang", async () => {
      const nv = open();
      await nv.ex("Orch new Billing/Invoice --model builtin/template totals");
      await nv.saying(/Next: :edit features\/Billing\/Invoice\/spec\.md/);
      await nv.ex("edit features/Billing/Invoice/spec.md");
      await nv.lua(`vim.api.nvim_buf_set_lines(0, 0, 1, false, { '# mine' })`);
      for (const command of ["Orch do", "Orch! undo", "Orch! merge"]) {
        await nv.lua(`require('orch.rpc').lines = {}`);
        await nv.ex(command);
        await nv.saying(/1 unsaved file is in the way: features\/Billing\/Invoice\/spec\.md\. Save with :wa/);
      }
      assert.equal((await nv.lines())[0], "# mine");
      assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
    });

    for (const [how, end] of [
      [":qa!", (one: Nvim) => void one.client.request("nvim_command", ["qa!"]).catch(() => {})],
      ["kill -9", (one: Nvim) => void one.proc.kill("SIGKILL")],
    ] as const) {
      it(`a run outlives ${how}; the next Neovim attaches to it and can end it`, async function () {
        if (python === undefined) this.skip();
        await trust();
        const nv = open();
        await nv.ex("Orch new Greetings/Slow --model demo/invoice says hello");
        await nv.saying(/^orch new: .* Next: /);
        await nv.ex("Orch do --model demo/invoice --no-push");
        await until("the model to be asked", () => model.hanging() > 0, 60_000);
        const host = await nv.hostPid();
        const run = newestRun(repo.root);
        end(nv);
        await nv.exited;
        await until("the co-process to end", () => !isAlive(host), 60_000);
        assert.equal(runnerAlive(run.dir), true);
        const next = open({ before: "vim.g.orch = { attach = true }" });
        await next.lua(`vim.api.nvim_exec_autocmds('UIEnter', {})`);
        assert.match(await next.until<string>(`vim.g.orch_status ~= '' and vim.g.orch_status`), /do Greetings\/Slow/);
        await next.ex("Orch cancel");
        await until("the runner to end", () => !runnerAlive(run.dir), 60_000);
        assert.equal(readRun(run.run, run.dir).phase, "cancelled");
        await next.until(`vim.g.orch_status == ''`);
      });
    }

    it("a burst of events never holds the editor, and is painted at most every 50 ms", async () => {
      const nv = open();
      await nv.ex("Orch runs");
      await nv.until(`vim.bo.filetype == 'orch-runs'`);
      const scripted = await scriptedRun(repo.root);
      beginDo(scripted.log);
      await nv.until(`vim.g.orch_status ~= ''`);
      await nv.ex("Orch log");
      await nv.until(`vim.bo.filetype == 'orch-log'`);
      await nv.lua(`_G.worst, _G.paints, _G.last = 0, 0, vim.uv.hrtime()
        _G.timer = vim.uv.new_timer()
        _G.timer:start(5, 5, function()
          local now = vim.uv.hrtime()
          _G.worst, _G.last = math.max(_G.worst, (now - _G.last) / 1e6), now
        end)
        local views = require('orch.views')
        local paint = views.paint_log
        views.paint_log = function(p) _G.paints = _G.paints + 1 return paint(p) end
        _G.began = vim.uv.hrtime()`);
      for (let n = 1; n <= 3000; n += 1) {
        scripted.log.append({ type: "progress.noted", text: `step ${n}` });
        if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      await nv.until(`vim.fn.search('step 3000$', 'nw') > 0`);
      const seen = await nv.lua<{ worst: number; paints: number; tookMs: number }>(
        `_G.timer:stop() return { worst = _G.worst, paints = _G.paints, tookMs = (vim.uv.hrtime() - _G.began) / 1e6 }`,
      );
      scripted.leave();
      assert.ok(seen.worst < 500, JSON.stringify(seen));
      assert.ok(seen.paints <= seen.tookMs / 50 + 2, JSON.stringify(seen));
    });

    it("a co-process that crashes loses no run: the next one takes it up as ours", async function () {
      if (python === undefined) this.skip();
      await trust();
      const nv = open();
      await nv.ex("Orch new Greetings/Slow --model demo/invoice says hello");
      await nv.saying(/^orch new: .* Next: /);
      await nv.ex("Orch do --model demo/invoice --no-push");
      await until("the model to be asked", () => model.hanging() > 0, 60_000);
      process.kill(await nv.hostPid(), "SIGKILL");
      await nv.saying(/the co-process ended with code \d+; it starts again with the next command/);
      assert.equal(await nv.lua(`return vim.g.orch_status`), "");
      await nv.ex("Orch runs");
      await nv.until(`vim.g.orch_status ~= ''`);
      await nv.ex("Orch cancel");
      await nv.saying(/^orch do: cancelled/);
    });

    it("shows runs of other hosts in :Orch runs and :Orch log, and tells them as events", async () => {
      const nv = open();
      await nv.ex("Orch runs");
      await nv.until(`vim.bo.filetype == 'orch-runs' and vim.fn.getline(1):find('No run in this repository yet')`);
      const scripted = await scriptedRun(repo.root);
      beginDo(scripted.log);
      await nv.until(`vim.fn.getline(1):find('do Billing/Invoice: running') and vim.fn.search('attempt 1', 'nw') > 0`);
      await nv.keys("g?");
      await nv.until(`vim.api.nvim_win_get_config(0).relative == 'editor'`);
      await nv.keys("q");
      await nv.until(`vim.bo.filetype == 'orch-runs'`);
      await nv.keys("<CR>");
      await nv.until(`vim.bo.filetype == 'orch-log' and vim.fn.search('attempt 1 starts with completion', 'nw') > 0`);
      endDo(scripted.log, false);
      scripted.leave();
      await nv.until(`vim.fn.search('Invoice failed after 1 attempt', 'nw') > 0`);
      const [name, data] = await nv.until<[string, Record<string, unknown>]>(
        `vim.iter(_G.events):find(function(e) return e[1] == 'OrchRunFinished' end)`,
      );
      assert.deepEqual([name, data["ok"], data["own"]], ["OrchRunFinished", false, false]);
      await nv.keys("q");
      await nv.until(`vim.bo.filetype == 'orch-runs'`);
      await nv.keys("q");
      await nv.until(`vim.bo.filetype ~= 'orch-runs'`);
    });
  });
}

function newestRun(root: string): { readonly run: string; readonly dir: string } {
  const runs = path.join(root, ".orch/runs");
  const names = fs.readdirSync(runs).filter((name) => name.startsWith("r-"));
  const run = names.toSorted().at(-1) ?? "";
  return { run, dir: path.join(runs, run) };
}

/** What a failed test left running. */
async function endRuns(root: string): Promise<void> {
  const runs = path.join(root, ".orch/runs");
  if (!fs.existsSync(runs)) return;
  for (const name of fs.readdirSync(runs).filter((one) => one.startsWith("r-"))) {
    const dir = path.join(runs, name);
    if (!runnerAlive(dir)) continue;
    const { pid } = JSON.parse(fs.readFileSync(path.join(dir, "runner.json"), "utf8")) as { readonly pid: number };
    if (pid !== process.pid) process.kill(pid, "SIGKILL");
  }
}
