// What the plugin costs, measured on this machine and written to artifacts/nvim/cost.json. The bounds here only catch a
// change of kind: two busy cores make milliseconds lie. The goals stand beside the numbers.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { sourceRoot } from "../support/source-root.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";
import { neovims } from "./harness/neovims.ts";
import { initFile, pluginFolder } from "./harness/nvim.ts";

const probe = `
vim.fn.chdir(vim.env.ORCH_REPO)
local rpc = require('orch.rpc')
local function once(method, params)
  local t, done = vim.uv.hrtime(), false
  rpc.request(method, params, function(e) assert(not e, vim.inspect(e)) done = true end)
  assert(vim.wait(20000, function() return done end, 1))
  return (vim.uv.hrtime() - t) / 1e6
end
local function trip(count)
  local lines = {}
  for i = 1, count do lines[i] = '# line ' .. i .. ' of a file, as long as they usually are in such files' end
  vim.api.nvim_buf_set_lines(0, 0, -1, false, lines)
  local t = vim.uv.hrtime()
  local buffer = require('orch.buffers').active({ range = 0 })
  local held = (vim.uv.hrtime() - t) / 1e6
  return { held, held + once('hello', { buffer = buffer }) }
end
local first = once('hello', {})
local warm = once('hello', {})
vim.cmd('edit ' .. vim.env.ORCH_REPO .. '/big.txt')
local out = { first = first, warm = warm, lines10k = trip(10000), lines100k = trip(100000) }
io.stdout:write(vim.json.encode(out), '\\n')
vim.cmd('qa!')
`;

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

describe("what the nvim plugin costs @slow", function () {
  this.timeout(600_000);
  let repo: TempRepo;
  const measured: Record<string, object> = {};
  before(async () => {
    repo = await makeTempRepo();
  });
  after(async () => {
    await repo.cleanup();
    const folder = path.join(sourceRoot, "artifacts/nvim");
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, "cost.json"), `${JSON.stringify(measured, null, 2)}\n`);
  });

  for (const build of neovims) {
    it(`at start and for the first answer, ${build.version ?? build.name}`, function () {
      if (build.version === undefined) this.skip();
      const home = path.join(repo.base, build.name);
      fs.mkdirSync(home);
      const env = {
        ...repo.env,
        XDG_DATA_HOME: home,
        ORCH_PLUGIN: pluginFolder,
        ORCH_NODE: process.execPath,
        ORCH_REPO: repo.root,
      };
      const start = (...args: readonly string[]) =>
        spawnSync(build.program, ["--headless", "-n", "-i", "NONE", "-u", initFile, ...args], {
          encoding: "utf8",
          env,
          cwd: repo.root,
          timeout: 60_000,
        });
      const own: number[] = [];
      for (let n = 0; n < 7; n += 1) {
        const log = path.join(home, `startup-${n}.log`);
        start("--startuptime", log, "-c", "qa!");
        own.push(Number(/^\S+\s+\S+\s+(\S+): sourcing \S*plugin\/orch\.lua/m.exec(fs.readFileSync(log, "utf8"))?.[1]));
      }
      fs.writeFileSync(path.join(home, "probe.lua"), probe);
      const seen = [1, 2, 3].map(() => {
        const end = start("-c", `luafile ${path.join(home, "probe.lua")}`);
        const line = end.stdout.split("\n").find((one) => one.startsWith("{"));
        assert.ok(line !== undefined, `${end.stdout.slice(-300)}\n${end.stderr.slice(-1500)}`);
        return JSON.parse(line) as {
          first: number;
          warm: number;
          lines10k: [number, number];
          lines100k: [number, number];
        };
      });
      const numbers = {
        startupMs: { goal: 0.2, min: Math.min(...own), median: median(own) },
        firstAnswerMs: {
          goal: 120,
          min: Math.min(...seen.map(({ first }) => first)),
          median: median(seen.map(({ first }) => first)),
        },
        warmAnswerMs: median(seen.map(({ warm }) => warm)),
        roundTripMs: {
          lines10k: {
            editorHeld: median(seen.map(({ lines10k }) => lines10k[0])),
            whole: median(seen.map(({ lines10k }) => lines10k[1])),
          },
          lines100k: {
            editorHeld: median(seen.map(({ lines100k }) => lines100k[0])),
            whole: median(seen.map(({ lines100k }) => lines100k[1])),
          },
        },
      };
      measured[build.version ?? build.name] = numbers;
      assert.ok(numbers.startupMs.min < 2, JSON.stringify(numbers));
      assert.ok(numbers.firstAnswerMs.min < 1000, JSON.stringify(numbers));
      assert.ok(numbers.roundTripMs.lines10k.whole < 1000, JSON.stringify(numbers));
    });
  }
});
