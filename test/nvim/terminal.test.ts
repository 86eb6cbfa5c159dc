// The main job as a person sees it: a real Neovim in a real terminal, the demo's model, real gates and tests.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { demoRequest } from "../../shared/app/demo/cassette.ts";
import { sampleFiles } from "../../shared/app/demo/sample.ts";
import { type DemoModel, startDemoModel } from "../extension/harness/demo-model.ts";
import { orchJson } from "../support/orch-cli.ts";
import { pythonWithPytest } from "../support/pytest.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims, newest } from "./harness/neovims.ts";
import { hasTmux, Tui } from "./harness/tui.ts";

for (const build of neovims) {
  describe(`in a terminal, ${build.version ?? build.name} @slow`, function () {
    this.timeout(600_000);
    let repo: TempRepo;
    let tui: Tui | undefined;
    let model: DemoModel;
    let env: Readonly<Record<string, string>>;
    before(async function () {
      if (build.version === undefined || !hasTmux() || (await pythonWithPytest()) === undefined) this.skip();
      repo = await makeTempRepo({ files: sampleFiles });
      model = await startDemoModel();
      env = { ...repo.env, ORCH_DEMO_URL: model.url };
    });
    after(async () => {
      await model?.[Symbol.asyncDispose]();
      await repo?.cleanup();
    });
    afterEach(async () => {
      await tui?.close();
      tui = undefined;
    });

    it("new, do with trust asked, findings, runs, log; no hit-enter prompt anywhere", async () => {
      const name = build.name;
      tui = new Tui(build, { cwd: repo.root, env, args: ["README.md"] });
      await tui.see(/README\.md/);
      tui.ex(`Orch new Billing/Invoice --model demo/invoice ${demoRequest}`);
      await tui.see(/orch new: /);
      assert.match(await repo.git("branch", "--show-current"), /^Billing\/Invoice$/);
      tui.shot(`${name}-new`);
      tui.ex("Orch trust");
      await tui.see(/Type number and <Enter>/);
      tui.shot(`${name}-trust`);
      tui.type("1");
      tui.press("Enter");
      await tui.see(/trusted/);
      tui.ex("Orch runs");
      await tui.see(/\+ new Billing\/Invoice.*ok/);
      tui.ex("Orch do --model demo/invoice --no-push");
      await tui.see(/orch: do Billing\/Invoice, attempt 1 of 3/);
      if (build === newest) await tui.see(/orch: +\d+% do Billing\/Invoice, attempt 1/);
      tui.shot(`${name}-running`);
      await tui.see(/attempt 2 of 3/);
      await tui.see(/orch do: .*Next: :Orch merge/, 60_000);
      tui.shot(`${name}-done`);
      assert.match(await repo.git("log", "-1", "--format=%s"), /^feat: Invoice/);
      tui.type("q");
      tui.ex("Orch log");
      await tui.see(/attempt 2 starts with/);
      tui.shot(`${name}-log`);
      assert.deepEqual(tui.prompts, []);
    });

    it("a failed do leaves findings in the quickfix list and its change as a diff", async () => {
      const name = build.name;
      await repo.git("switch", "-q", "main");
      tui = new Tui(build, { cwd: repo.root, env, args: ["README.md"] });
      await tui.see(/README\.md/);
      tui.ex("Orch new Greetings/Broken --allow-open --model demo/invoice says hello");
      await tui.see(/orch new: /);
      tui.ex("Orch do --allow-open --model demo/invoice --no-push");
      await tui.see(/orch do: /, 90_000);
      tui.ex("Orch qf");
      await tui.see(/Handler\.py\|7 col 1 error\| pep8\.E722/);
      tui.shot(`${name}-quickfix`);
      tui.ex("cclose");
      tui.ex("Orch diff");
      await tui.see(/your file.*the change/);
      await tui.see(/except:/);
      tui.shot(`${name}-diff`);
      tui.type("gK");
      await tui.see(/kept in Handler\.py; :w saves it/);
      tui.type("q");
      await tui.see(/README\.md/);
      assert.deepEqual(tui.prompts, []);
    });

    it("asks before it discards, in Neovim's own picker, and one line is one line on a small screen", async () => {
      tui = new Tui(build, { cwd: repo.root, env, columns: 70, rows: 16, args: ["README.md"] });
      await tui.see(/README\.md/);
      tui.ex("Orch undo");
      await tui.see(/Type number and <Enter>/);
      tui.shot(`${build.name}-undo`);
      tui.type("1");
      tui.press("Enter");
      await tui.see(/orch undo: /);
      tui.ex("Orch undo");
      await tui.see(/orch: |orch undo: /);
      tui.ex("Orch frobnicate");
      await tui.see(/There is no command frobnicate.*:Orch log host/);
      tui.ex("let g:orch = #{node: '/no/such/node'}");
      tui.ex("Orch restart");
      tui.ex("Orch scan");
      await tui.see(/is not executable/);
      assert.deepEqual(tui.prompts, []);
      assert.deepEqual(await tui.lua(`return vim.api.nvim_get_mode().blocking`), false);
    });

    it("closes its picker when another host answers first, and says so", async () => {
      tui = new Tui(build, { cwd: repo.root, env, args: ["README.md"] });
      await tui.see(/README\.md/);
      tui.ex("Orch new Billing/Late --allow-open --model builtin/template totals");
      await tui.see(/orch new: /);
      tui.ex("Orch undo");
      await tui.see(/Type number and <Enter>/);
      const { id, choices } = pendingAsk(repo.root);
      const no = choices.at(-1)?.id ?? "";
      assert.equal((await orchJson({ cwd: repo.root, env }, "reply", id, "--choice", no)).ok, true);
      // The end of the run may stand there already; both are in the log.
      const screen = await tui.see(/answered elsewhere, |orch undo: /);
      const said = await tui.lua<string[]>(`return require('orch.rpc').lines`);
      assert.ok(
        said.some((line) => /: answered elsewhere, /.test(line)),
        said.join("\n"),
      );
      assert.doesNotMatch(screen, /Type number/);
      tui.shot(`${build.name}-answered-elsewhere`);
      assert.deepEqual(await tui.lua(`return vim.api.nvim_get_mode()`), { mode: "n", blocking: false });
      assert.deepEqual(tui.prompts, []);
      assert.match(await repo.git("branch", "--show-current"), /^Billing\/Late$/);
    });
  });
}

interface Ask {
  readonly id: string;
  readonly choices: readonly { readonly id: string }[];
}

/** The question that the newest run waits with. */
function pendingAsk(root: string): Ask {
  const runs = path.join(root, ".orch/runs");
  const run = fs
    .readdirSync(runs)
    .filter((name) => name.startsWith("r-"))
    .toSorted()
    .at(-1);
  const lines = fs
    .readFileSync(path.join(runs, run ?? "", "events.jsonl"), "utf8")
    .trim()
    .split("\n");
  const asked = lines.map((line) => JSON.parse(line) as Ask & { readonly type: string });
  const last = asked.findLast(({ type }) => type.endsWith(".asked"));
  assert.ok(last !== undefined);
  return last;
}
