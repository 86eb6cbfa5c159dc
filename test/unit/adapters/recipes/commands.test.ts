import assert from "node:assert/strict";
import { ownRecipe } from "../../../../shared/adapters/recipes/own.ts";
import type { WorkerCommand, WorkerTask } from "../../../../shared/adapters/recipes/recipe.ts";
import { recipes } from "../../../../shared/adapters/recipes/recipes.ts";
import { absPath } from "../../../../shared/base/paths.ts";

const task: WorkerTask = {
  prompt: "Do it.",
  dir: absPath("/tree"),
  home: absPath("/w/home"),
  tmp: absPath("/w/tmp"),
  access: "edit",
  maxArgumentBytes: 120_000,
  wallMs: 1_800_000,
  extraArgs: [],
  env: {},
  shared: absPath("/shared"),
  userFiles: {},
  confined: false,
};
const lab = { provider: "lab", baseUrl: "http://127.0.0.1:1/v1", keyEnv: "LAB_KEY" };
const secret = "key-0123456789abcdef";

/** One line: the arguments, and `<` where the prompt goes through stdin. */
function line({ args, stdin }: WorkerCommand): string {
  return `${args.map((arg) => (arg.includes(" ") ? `'${arg}'` : arg)).join(" ")}${stdin === undefined ? "" : " <"}`;
}

const expected: Readonly<
  Record<keyof typeof recipes, { readonly edit: string; readonly read: string; readonly resume: string }>
> = {
  pi: {
    edit: "-p --mode json --offline --no-extensions --no-skills --no-prompt-templates --no-themes --no-context-files --no-mcp --no-approve --model lab/m <",
    read: "-p --mode json --offline --no-extensions --no-skills --no-prompt-templates --no-themes --no-context-files --no-mcp --no-approve --model lab/m --tools read,grep,find,ls <",
    resume:
      "-p --mode json --offline --no-extensions --no-skills --no-prompt-templates --no-themes --no-context-files --no-mcp --no-approve --model lab/m --session S <",
  },
  codex: {
    edit: "exec --json --skip-git-repo-check -m m -s workspace-write -C /tree - <",
    read: "exec --json --skip-git-repo-check -m m -s read-only -C /tree - <",
    resume: 'exec resume --json --skip-git-repo-check -m m -c sandbox_mode="workspace-write" S - <',
  },
  claude: {
    edit: "-p --output-format stream-json --verbose --tools Read,Grep,Glob,Edit,Write,Bash --allowedTools Read,Grep,Glob,Edit,Write,Bash --permission-mode acceptEdits --setting-sources user --strict-mcp-config --model m <",
    read: "-p --output-format stream-json --verbose --tools Read,Grep,Glob --allowedTools Read,Grep,Glob --permission-mode dontAsk --setting-sources user --strict-mcp-config --model m <",
    resume:
      "-p --output-format stream-json --verbose --tools Read,Grep,Glob,Edit,Write,Bash --allowedTools Read,Grep,Glob,Edit,Write,Bash --permission-mode acceptEdits --setting-sources user --strict-mcp-config --model m --resume S <",
  },
  opencode: {
    edit: "run --format json --pure --title worker --auto -m lab/m 'Do it.'",
    read: "run --format json --pure --title worker --auto -m lab/m 'Do it.'",
    resume: "run --format json --pure --title worker --auto -m lab/m -s S 'Do it.'",
  },
  gemini: {
    edit: "-p 'Do the task above.' -o stream-json --approval-mode yolo --skip-trust -m m <",
    read: "-p 'Do the task above.' -o stream-json --approval-mode plan --skip-trust -m m <",
    resume: "-p 'Do the task above.' -o stream-json --approval-mode yolo --skip-trust -m m --resume S <",
  },
  copilot: {
    edit: "-p 'Do it.' --output-format json --no-auto-update --disable-builtin-mcps --no-ask-user --no-color --usage-output-file /w/home/copilot-usage.json --allow-all-tools",
    read: "-p 'Do it.' --output-format json --no-auto-update --disable-builtin-mcps --no-ask-user --no-color --usage-output-file /w/home/copilot-usage.json --allow-all-tools --available-tools=view,grep,glob",
    resume:
      "-p 'Do it.' --output-format json --no-auto-update --disable-builtin-mcps --no-ask-user --no-color --usage-output-file /w/home/copilot-usage.json --allow-all-tools --resume=S",
  },
  cline: {
    edit: "--json --data-dir /w/home/cline -c /tree -t 1800 -P openai-compatible -m m 'Do it.'",
    read: "--json --data-dir /w/home/cline -c /tree -t 1800 -P openai-compatible -m m --plan 'Do it.'",
    resume: "--json --data-dir /w/home/cline -c /tree -t 1800 -P openai-compatible -m m 'Do it.'",
  },
  reasonix: {
    edit: "run --output-format stream-json --dir /tree --permission-mode auto --model lab/m <",
    read: "run --output-format stream-json --dir /tree --permission-mode plan --model lab/m <",
    resume: "run --output-format stream-json --dir /tree --permission-mode auto --model lab/m --resume S <",
  },
  agy: {
    edit: "-p 'Do it.' --output-format stream-json --print-timeout 30m --dangerously-skip-permissions --model lab/m",
    read: "-p 'Do it.' --output-format stream-json --print-timeout 30m --dangerously-skip-permissions --model lab/m",
    resume:
      "-p 'Do it.' --output-format stream-json --print-timeout 30m --dangerously-skip-permissions --model lab/m --conversation S",
  },
};

describe("command lines of workers", () => {
  for (const [client, recipe] of Object.entries(recipes)) {
    const at = { ...task, model: "lab/m", endpoint: lab, key: secret, env: { LAB_KEY: secret } };
    it(client, () => {
      assert.deepEqual(
        {
          edit: line(recipe.command(at)),
          read: line(recipe.command({ ...at, access: "read" })),
          resume: line(recipe.command({ ...at, session: "S" })),
        },
        expected[client as keyof typeof recipes],
      );
    });

    it(`${client}: no key in an argument, every file in its home`, () => {
      const { args, files, links = [] } = recipe.command(at);
      assert.ok(!args.join(" ").includes(secret));
      for (const { path } of files) assert.match(path, /^\/w\/home\//);
      for (const { at: link } of links) assert.match(link, /^\/w\/home\//);
    });

    it(`${client}: a prompt longer than an argument may be goes another way`, () => {
      const long = "x".repeat(200_000);
      const command = recipe.command({ ...at, prompt: long });
      assert.ok(command.args.every((arg) => arg.length < 120_000));
      const sent = [command.stdin, ...command.files.map(({ text }) => text)];
      assert.ok(sent.includes(long), "whole, through stdin or a file that an argument names");
    });
  }

  it("inside our sandbox codex leaves its own off, which could not be set up there", () => {
    assert.match(line(recipes.codex.command({ ...task, confined: true })), / -s danger-full-access /);
  });

  it("what is not asked of a client: opencode's web, the repository's own settings of codex", () => {
    const opencode = JSON.parse(
      recipes.opencode.command({ ...task, access: "read" }).env["OPENCODE_CONFIG_CONTENT"] ?? "",
    ) as {
      readonly permission: unknown;
    };
    assert.deepEqual(opencode.permission, { edit: "deny", bash: "deny", webfetch: "deny", external_directory: "deny" });
    assert.match(recipes.codex.command(task).files[0]?.text ?? "", /\[projects\."\/tree"\]\ntrust_level = "untrusted"/);
  });

  it("claude is told what it may cost, and says when that is reached", () => {
    assert.match(line(recipes.claude.command({ ...task, maxCostUsd: 0.5 })), / --max-budget-usd 0\.5 <$/);
    const parser = recipes.claude.parser();
    parser.line('{"type":"result","is_error":true,"subtype":"error_max_budget_usd","total_cost_usd":0.54}');
    const { ended, overCost, failure } = parser.end("");
    assert.deepEqual([ended, overCost, failure], [true, true, undefined]);
  });

  it("pi may reach the providers of the person's own models.json: the one of its model, or all of them", () => {
    const models = JSON.stringify({
      providers: { box: { baseUrl: "http://box.lan:8080/v1" }, desk: { baseUrl: "http://127.0.0.1:1/v1" }, bare: {} },
    });
    const own = (model: string | undefined, endpoint?: typeof lab): readonly string[] =>
      recipes.pi.hosts(model, endpoint, { models }).filter((host) => /^(?:box\.lan|127\.0\.0\.1)$/.test(host));
    assert.deepEqual(
      [own("box/m"), own(undefined), own("lab/m", lab)],
      [["box.lan"], ["box.lan", "127.0.0.1"], ["127.0.0.1"]],
    );
    assert.deepEqual(recipes.pi.hosts("openai/gpt", undefined, { models: "no json" }), ["api.openai.com"]);
  });

  it("codex passes an error of its provider on as JSON: its words are told", () => {
    const parser = recipes.codex.parser();
    const message = JSON.stringify({ error: { message: "The prompt is too long", type: "server_error" } });
    parser.line(JSON.stringify({ type: "turn.failed", error: { message } }));
    assert.equal(parser.end("").failure?.message, "The prompt is too long");
  });

  it("an old pi is not given what it does not know", () => {
    const { args } = recipes.pi.command({ ...task, version: "0.73.1" });
    assert.deepEqual(
      args.filter((arg) => arg === "--no-mcp" || arg === "--no-approve"),
      [],
    );
  });

  it("pi keeps the person's default model and none of their other settings", () => {
    const settings = '{"defaultProvider": "openrouter", "defaultModel": "m", "theme": "dark", "packages": ["evil"]}';
    const [file] = recipes.pi.command({ ...task, userFiles: { settings } }).files;
    const { defaultProvider, defaultModel, theme, packages } = JSON.parse(file?.text ?? "") as Record<string, unknown>;
    assert.deepEqual([defaultProvider, defaultModel, theme, packages], ["openrouter", "m", undefined, undefined]);
  });
});

describe("a worker that a person describes", () => {
  const own = ownRecipe({
    id: "mine",
    program: "mine",
    config: {
      argv: ["run", "--model={model}", "{prompt}"],
      resume_argv: ["go-on", "{session}", "{prompt}"],
      read_only_argv: ["ask", "{prompt}"],
      output: {
        format: "jsonl",
        end: { type: "result", "status.ok": true },
        error: { match: { type: "error" }, message: "why" },
        text: "answer",
        session: "id",
        usage: {
          input: "usage.in",
          output: "usage.out",
          cache_read: "usage.cached",
          cost_usd: "usage.usd",
          input_has_cached: true,
        },
        call: { type: "call" },
      },
    },
  });

  it("is started as described, and a prompt that looks like a place stays a prompt", () => {
    const at = { ...task, model: "m", prompt: "Use {dir} and {session}." };
    assert.deepEqual(
      [
        own.command(at).args,
        own.command({ ...at, session: "S" }).args,
        own.command({ ...at, access: "read" }).args,
        own.command({ ...at, access: "read", session: "S" }).args,
      ],
      [
        ["run", "--model=m", "Use {dir} and {session}."],
        ["go-on", "S", "Use {dir} and {session}."],
        ["ask", "Use {dir} and {session}."],
        ["ask", "Use {dir} and {session}."],
      ],
    );
  });

  it("is read as described", () => {
    const parser = own.parser();
    for (const line of [
      "starting",
      '{"type":"call","id":"s1"}',
      '{"type":"call"}',
      '{"type":"result","status":{"ok":true},"answer":"fine","usage":{"in":100,"out":20,"cached":60,"usd":0.5}}',
    ])
      parser.line(line);
    assert.deepEqual(parser.end(""), {
      ended: true,
      text: "fine",
      session: "s1",
      usage: { input: 40, output: 20, cacheRead: 60, costUsd: 0.5 },
      calls: 2,
      denied: [],
    });
  });

  it("what it has no place for is unknown, not 0; neither is a 0 where nothing was counted", () => {
    const bare = ownRecipe({
      id: "b",
      program: "b",
      config: {
        argv: ["{prompt}"],
        output: {
          format: "jsonl",
          end: { end: true },
          text: "text",
          usage: { input: "in", output: "out", cost_usd: "usd", input_has_cached: false },
        },
      },
    });
    const read = (line: unknown): unknown => {
      const parser = bare.parser();
      parser.line(JSON.stringify(line));
      return parser.end("").usage;
    };
    const unknown = "unknown";
    assert.deepEqual(
      [
        read({ end: true, text: "t", in: 10, out: 2, usd: 0.1 }),
        read({ end: true, text: "t", in: 10, usd: 0 }),
        read({ end: true, text: "t", in: 0, out: 0, usd: 0 }),
      ],
      [
        { input: 10, output: 2, cacheRead: unknown, costUsd: 0.1 },
        { input: 10, output: unknown, cacheRead: unknown, costUsd: unknown },
        { input: unknown, output: unknown, cacheRead: unknown, costUsd: unknown },
      ],
    );
  });

  it("its failure is one, and without its end line it did not end", () => {
    const failed = own.parser();
    failed.line('{"type":"error","why":"429 slow down"}');
    assert.deepEqual(failed.end("").failure, { why: "rate-limit", message: "429 slow down" });
    const cut = own.parser();
    cut.line('{"type":"result","status":{"ok":false},"answer":"x"}');
    assert.equal(cut.end("").ended, false);
  });

  it("plain text ends with the final JSON or not at all", () => {
    const text = ownRecipe({ id: "t", program: "t", config: { argv: ["{prompt}"], output: { format: "text" } } });
    const read = (said: string): boolean => {
      const parser = text.parser();
      for (const line of said.split("\n")) parser.line(line);
      return parser.end("").ended;
    };
    assert.deepEqual([read('Done.\n{"status": "done"}'), read("Done.")], [true, false]);
  });
});

describe("documented streams that were never recorded", () => {
  it("reasonix: one result at the end", () => {
    const parser = recipes.reasonix.parser();
    parser.line('{"kind":"tool_dispatch"}');
    assert.equal(parser.look().inTool, true);
    parser.line('{"kind":"tool_result"}');
    parser.line(
      '{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"fine","session_id":"s","total_cost":0.02,"currency":"USD","usage":{"input_tokens":10,"output_tokens":5,"cache_read_input_tokens":90,"cache_creation_input_tokens":0}}',
    );
    assert.deepEqual(parser.end(""), {
      ended: true,
      text: "fine",
      session: "s",
      usage: { input: 10, output: 5, cacheRead: 90, costUsd: 0.02 },
      calls: 2,
      denied: [],
    });
  });

  it("reasonix: money in another currency is unknown, a failure is one", () => {
    const parser = recipes.reasonix.parser();
    parser.line(
      '{"type":"result","subtype":"error_during_execution","is_error":true,"result":"401 Unauthorized","total_cost":1,"currency":"CNY","usage":{"input_tokens":10,"output_tokens":5}}',
    );
    const { usage, failure } = parser.end("");
    assert.deepEqual([usage.costUsd, failure?.why], ["unknown", "auth"]);
  });

  it("agy: deltas, then a result", () => {
    const parser = recipes.agy.parser();
    for (const line of [
      '{"event":"init","conversation_id":"c","init":{"model":"gemini-3.8-flash-medium","cwd":"/tree"}}',
      '{"event":"step_update","step_update":{"step_type":"user_input","state":"DONE","text_delta":"Do it."}}',
      '{"event":"step_update","step_update":{"step_type":"agent_response","state":"ACTIVE","text_delta":"fi"}}',
      '{"event":"step_update","step_update":{"step_type":"agent_response","state":"DONE","text_delta":"ne"}}',
      '{"event":"result","result":{"conversation_id":"c","status":"SUCCESS","response":"","usage":{"total_tokens":7}}}',
    ])
      parser.line(line);
    const { ended, text, session, model, calls, failure } = parser.end("");
    assert.deepEqual(
      [ended, text, session, model, calls, failure],
      [true, "fine", "c", "gemini-3.8-flash-medium", 1, undefined],
    );
  });

  it("agy: a result that is no success is a failure", () => {
    const parser = recipes.agy.parser();
    parser.line('{"event":"result","result":{"status":"ERROR","error":"quota exceeded"}}');
    assert.deepEqual(parser.end("").failure, { why: "rate-limit", message: "quota exceeded" });
  });
});
