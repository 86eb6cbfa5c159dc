// Every subcommand of the table and of the editor answers: a line, a window or a question, and never a fault of ours.
import assert from "node:assert/strict";
import { commandTable } from "../../shared/app/commands.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims } from "./harness/neovims.ts";
import { Nvim } from "./harness/nvim.ts";

/** What is typed after the name; a command that is not here is typed without words, or with its required ones made up. */
const typed: Readonly<Record<string, string>> = {
  new: "Billing/Other --model builtin/template --dry-run totals",
  init: "shop --dry-run",
  apply: "r-20260101-000000-aaaa/Invoice/attempt-1",
  modify: "--model builtin/template --dry-run round it",
  qa: "features",
};
const own = ["runs", "log", "log host", "qf", "diff", "keep", "discard all", "restart"];

for (const build of neovims) {
  describe(`every subcommand, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let nv: Nvim;
    before(async function () {
      if (build.version === undefined) this.skip();
      repo = await makeTempRepo({
        files: {
          ".features.json": `{ "known_features": { "Invoice": "Billing" } }\n`,
          "features/Billing/Invoice/spec.md": "# Invoice\n",
          "features/Billing/Invoice/Handler.py": "try:\n    pass\nexcept:\n    pass\n",
          "features/Billing/Invoice/Tests.py": "",
        },
      });
      nv = new Nvim(build, { cwd: repo.root, env: repo.env, args: ["features/Billing/Invoice/Handler.py"] });
    });
    after(async () => {
      await nv?.close();
      await repo?.cleanup();
    });
    afterEach(async () => {
      await nv.lua(`vim.cmd('silent! tabonly | silent! only')`);
      assert.deepEqual(
        (await nv.said()).filter((line) => /fault of its own|traceback|E\d+:/.test(line)),
        [],
      );
    });

    const all = commandTable.filter(({ terminal }) => terminal !== true).map(({ name }) => name);
    for (const command of [...all.filter((name) => !own.includes(name)), ...own]) {
      it(`:Orch ${command}`, async () => {
        await nv.lua(`require('orch.rpc').lines = {}; _G.asked = {}; _G.windows = #vim.api.nvim_list_wins()`);
        await nv.ex(`Orch ${command} ${typed[command] ?? ""}`);
        await nv.until(
          `#vim.tbl_filter(function(l) return vim.startswith(l, 'orch') end, require('orch.rpc').lines) > 0
            or #vim.api.nvim_list_wins() > _G.windows or #_G.asked > 0`,
          50_000,
        );
        if (command === "demo") {
          assert.equal(await nv.lua(`return vim.bo.buftype`), "terminal");
          await nv.lua(`vim.cmd('stopinsert | bwipeout!')`);
        }
        if (command === "qa") {
          assert.match(await nv.lua<string>(`return vim.fn.getqflist({ title = 1 }).title`), /^orch: orch qa$/);
          await nv.until(`#vim.diagnostic.get(vim.fn.bufnr('Handler.py')) > 0`);
        }
      });
    }
  });
}
