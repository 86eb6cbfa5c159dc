// The plugin in real Neovims: what loads when, the command, completion, refusals, the co-process and its ends.
import assert from "node:assert/strict";
import fs from "node:fs/promises";
import path from "node:path";
import { offerFor } from "../../shared/app/completion/offer.ts";
import { fixture } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims } from "./harness/neovims.ts";
import { isAlive, Nvim, type NvimOptions, until } from "./harness/nvim.ts";

for (const build of neovims) {
  describe(`nvim plugin, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let nv: Nvim;
    before(async function () {
      if (build.version === undefined) this.skip();
      repo = await makeTempRepo({
        files: {
          ".features.json": `{ "known_features": { "Invoice": "Billing", "Login": "Auth" } }\n`,
          "features/Billing/Invoice/Handler.py": "def total(lines):\n    return sum(lines)\n",
          "features/Billing/Invoice/spec.md": "# Invoice\n",
        },
      });
    });
    after(() => repo?.cleanup());
    afterEach(() => nv?.close());
    const open = (options: Partial<NvimOptions> = {}): Nvim =>
      (nv = new Nvim(build, { cwd: repo.root, env: repo.env, ...options }));

    it("loads nothing and starts nothing before it is used", async () => {
      open();
      assert.equal(await nv.lua(`return vim.fn.exists(':Orch')`), 2);
      const loaded = `return vim.tbl_filter(function(k) return vim.startswith(k, 'orch') end, vim.tbl_keys(package.loaded))`;
      assert.deepEqual(await nv.lua(loaded), []);
      assert.equal(await nv.lua(`return require('orch').status()`), "");
      assert.deepEqual(await nv.lua(loaded), ["orch"]);
    });

    it("completes subcommands, options and values, also after a range and for a shortened command", async () => {
      open();
      await repo.git("branch", "Billing/Invoice");
      const wanted: Readonly<Record<string, readonly string[]>> = {
        "Orch me": ["merge"],
        "%Orch un": ["undo"],
        "'<,'>Orch! un": ["undo"],
        "silent Orc mo": ["model", "modify", "move"],
        "Orch nothing ": [],
        "Orch do ": ["Auth/Login", "Billing/Invoice"],
        "Orch do Bi": ["Billing/Invoice"],
        "Orch do inv": ["Billing/Invoice"],
        "Orch! do --yes --max-attempts 2 Bi": ["Billing/Invoice"],
        "Orch new ": ["Auth/", "Billing/"],
        "Orch do --max": ["--max-attempts"],
        "Orch do --model x --mo": [],
        "Orch do --model built": ["builtin/template"],
        "Orch do --model=built": ["--model=builtin/template"],
        "Orch do --model builtin/template Inv": ["Billing/Invoice"],
        "Orch do -- --mo": [],
        "Orch qa --changed=Bill": ["--changed=Billing/Invoice"],
        "Orch config explain judge.": ["judge.accept_revise", "judge.accept_warn"],
        "Orch keep ": ["all", "file", "hunk"],
        "Orch log h": ["host"],
        "Orch help mer": ["merge"],
        "Orch help merge ": [],
      };
      const seen: Record<string, readonly string[]> = {};
      for (const line of Object.keys(wanted)) seen[line] = (await nv.complete(line)).toSorted();
      assert.deepEqual(seen, wanted);
    });

    it("completes models as the command line does: chosen, chain, offered, familiar", async () => {
      const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
      const cache = path.join(repo.env["XDG_CACHE_HOME"] ?? "", "orch");
      for (const [folder, name, value] of [
        [config, "model_config.json", { model: "mine/chosen" }],
        [config, "model_chain.json", ["mine/chain"]],
        [cache, "offered-models.json", ["mine/offered"]],
      ] as const) {
        await fs.mkdir(folder, { recursive: true });
        await fs.writeFile(path.join(folder, name), JSON.stringify(value));
      }
      open();
      const place = { env: repo.env, platform: process.platform, moduleUrl: import.meta.url, cwd: repo.root };
      for (const line of ["model ", "model laguna", "do --model open", "do --model=mine/"]) {
        const offer = await offerFor(line.split(" "), place);
        const theirs = offer.kind === "words" ? offer.words.map(({ value }) => value) : [];
        assert.ok(theirs.length > 0, line);
        assert.deepEqual((await nv.complete(`Orch ${line}`)).toSorted(), theirs.toSorted(), line);
      }
      await fs.rm(config, { recursive: true });
    });

    it("completes workers as the command line does: the table's, mine, the project's", async () => {
      const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
      await fs.mkdir(config, { recursive: true });
      await fs.writeFile(path.join(config, "config.json"), '{"workers": {"mine": {}, "sonnet": {}}}');
      open();
      const place = { env: repo.env, platform: process.platform, moduleUrl: import.meta.url, cwd: repo.root };
      for (const line of ["do --worker ", "do --worker=rx", "dispatch T1 --worker m"]) {
        const offer = await offerFor(line.split(" "), place);
        const theirs = offer.kind === "words" ? offer.words.map(({ value }) => value) : [];
        assert.ok(theirs.length > 0, line);
        assert.deepEqual((await nv.complete(`Orch ${line}`)).toSorted(), theirs.toSorted(), line);
      }
      await fs.rm(config, { recursive: true });
    });

    it("completes by the table's kinds, so a command that the table gains needs nothing here", async () => {
      const run = repo.path(".orch/runs/r-20260101-000000-aaaa");
      await fs.mkdir(path.join(run, "T9/attempt-1"), { recursive: true });
      const log = [
        { type: "question.asked", id: "q-1", title: "Sure?" },
        { type: "decision.asked", id: "d-2", title: "Which?" },
        { type: "question.answered", id: "q-1", choice: "yes" },
      ];
      await fs.writeFile(path.join(run, "events.jsonl"), log.map((event) => `${JSON.stringify(event)}\n`).join(""));
      await repo.write(".orch/contracts/T1.json", "{}");
      await repo.write("with blank.md", "");
      open();
      await nv.lua(`local t = require('orch.table').commands
        t.dispatch = { name = 'dispatch', kind = 'run', summary = '', options = { { name = 'feedback', value = 'F', completes = 'path' } },
          args = { { name = 'file', required = true, summary = '', completes = 'contract-file' } } }
        t.review = { name = 'review', kind = 'local', summary = '', options = {},
          args = { { name = 'ID', required = true, many = true, summary = '', completes = 'contract' } } }
        t.both = { name = 'both', kind = 'local', summary = '', options = {},
          args = { { name = 'run or ID', required = false, summary = '', completes = { 'run', 'contract' } } } }
        t.future = { name = 'future', kind = 'local', summary = '', options = { { name = 'x', value = 'y', completes = 'unheard-of' } },
          args = { { name = 'z', required = false, summary = '', completes = 'unheard-of' } } }`);
      const wanted: Readonly<Record<string, readonly string[]>> = {
        "Orch dispatch ": [".orch/contracts/T1.json"],
        "Orch dispatch .orch/contracts/T1.json --feedback with": ["with\\ blank.md"],
        "Orch dispatch with\\ b": ["with\\ blank.md"],
        "Orch review ": ["T1", "T9"],
        "Orch review T1 T9 T": ["T1", "T9"],
        "Orch both ": ["T1", "T9", "r-20260101-000000-aaaa"],
        "Orch future ": [],
        "Orch future --x ": [],
        "Orch apply ": ["r-20260101-000000-aaaa/T9/attempt-1"],
        "Orch reply ": ["d-2"],
        "Orch status r": ["r-20260101-000000-aaaa"],
      };
      const seen: Record<string, readonly string[]> = {};
      for (const line of Object.keys(wanted)) seen[line] = (await nv.complete(line)).toSorted();
      assert.deepEqual(seen, wanted);
      await fs.rm(repo.path(".orch"), { recursive: true });
      await fs.rm(repo.path("with blank.md"));
    });

    it("refuses what it does not know, in one line with the next step", async () => {
      open();
      await nv.ex("Orch frobnicate");
      assert.match(await nv.saying(/frobnicate/), /There is no command frobnicate\. They are: .*merge/);
      await nv.ex("Orch do --frobnicate");
      assert.match(await nv.saying(/has no option/), /do has no option --frobnicate\. Run: :Orch do --help/);
      await nv.ex("Orch merge a b c");
      await nv.saying(/merge takes one feature, or contracts: a b c/);
    });

    it("tells that node is missing, with the option that helps", async () => {
      open({ before: "vim.g.orch = { node = '/no/such/node' }" });
      await nv.ex("Orch scan");
      await nv.saying(/\/no\/such\/node is not executable: set vim\.g\.orch/);
      await nv.ex("checkhealth orch");
      assert.match(await nv.text(), /ERROR.*\/no\/such\/node is not executable/);
    });

    it("fails what waits when the co-process crashes, and starts it again with the next command", async () => {
      open();
      await nv.ex("Orch scan");
      await nv.saying(/2 features? in 2 domains?|features/);
      const first = await nv.hostPid();
      await nv.lua(
        `require('orch.rpc').request('command', { name = 'wait', args = '', cwd = ... }, function(e) _G.failed = e end)`,
        repo.root,
      );
      process.kill(first, "SIGKILL");
      assert.match(await nv.until<string>(`_G.failed and _G.failed.message`), /the co-process ended with code/);
      await nv.ex("Orch scan");
      const second = await nv.hostPid();
      assert.notEqual(second, first);
    });

    const garbage = `vim.g.orch = { node = { '${process.execPath}', '--require', '${fixture("nvim", "garbage.cjs")}' } }`;

    it("survives what others write to stdout, and keeps it in the log", async () => {
      open({ before: garbage });
      await nv.ex("Orch scan");
      await nv.saying(/noise from stdout\.write/);
      await nv.saying(/features in/);
      await nv.ex("Orch log host");
      assert.match(await nv.text(), /noise from stdout/);
      assert.equal(await nv.lua(`return require('orch.rpc').info().state`), "ready");
    });

    it("a broken channel is told once, and the next command works", async () => {
      open({ before: garbage, env: { ...repo.env, ORCH_TEST_RAW_NOISE: "1" } });
      await nv.ex("Orch scan");
      await nv.saying(/the channel to the co-process broke; it starts again with the next command/);
      assert.equal(await nv.lua(`return require('orch.rpc').info().state`), "stopped");
      await nv.lua(`vim.g.orch = nil`);
      await nv.lua(`require('orch.rpc').lines = {}`);
      await nv.ex("Orch scan");
      await nv.saying(/features in/);
    });

    it("is not started again and again: after some crashes a person decides", async () => {
      open({
        before: `${garbage}; vim.g.orch = vim.tbl_extend('force', vim.g.orch, { restarts = 1 })`,
        env: { ...repo.env, ORCH_TEST_THROW: "1" },
      });
      for (let crash = 0; crash < 2; crash += 1) {
        await nv.ex("Orch runs");
        await nv.until(
          `require('orch.rpc').info().state ~= 'ready' and require('orch.rpc').info().state ~= 'starting'`,
        );
      }
      await nv.saying(/the co-process ended with code 70; see :Orch log host, then :Orch restart/);
      await nv.saying(/boom/);
      await nv.ex("Orch scan");
      await nv.saying(/the co-process is down: see :Orch log host, then :Orch restart/);
      await nv.lua(`vim.g.orch = nil`);
      await nv.ex("Orch restart");
      await nv.ex("Orch scan");
      await nv.saying(/features in/);
    });

    it("passes over a Node that is too old", async () => {
      const old = repo.path("..", "old-node");
      await fs.writeFile(old, "#!/bin/sh\necho 'Node 18.0.0 is too old: Orch needs 22.19 or newer' >&2\nexit 9\n", {
        mode: 0o755,
      });
      const folder = path.dirname(process.execPath);
      // Nothing but PATH is left, and a cache that holds none.
      const env = { ...repo.env, PATH: `${folder}:${repo.env["PATH"] ?? ""}` };
      open({ env, before: `vim.env.ORCH_NODE = '${old}'` });
      await nv.ex("Orch scan");
      await nv.saying(/features in/);
      await nv.saying(/Node 18\.0\.0 is too old/);
      assert.equal(await nv.lua(`return require('orch.rpc').info().command[1]`), path.join(folder, "node"));
    });

    it("answers a request that nobody may make instead of hanging the editor", async () => {
      open();
      await nv.ex("Orch scan");
      await nv.hostPid();
      const answer = await nv.lua<readonly [boolean, string]>(
        `local c = vim.tbl_filter(function(c) return c.stream == 'job' end, vim.api.nvim_list_chans())[1].id
        local ok, e = pcall(vim.rpcrequest, c, 'orch', {})
        return { ok, tostring(e) }`,
      );
      assert.equal(answer[0], false);
      assert.match(answer[1], /no such request/);
    });

    for (const [how, end] of [
      ["qa!", (one: Nvim) => void one.client.request("nvim_command", ["qa!"]).catch(() => {})],
      ["SIGKILL", (one: Nvim) => void one.proc.kill("SIGKILL")],
    ] as const) {
      it(`leaves no co-process when Neovim ends by ${how}`, async () => {
        open();
        await nv.ex("Orch scan");
        const pid = await nv.hostPid();
        assert.ok(isAlive(pid));
        end(nv);
        await nv.exited;
        await until("the co-process to end", () => !isAlive(pid), 60_000);
      });
    }
  });
}
