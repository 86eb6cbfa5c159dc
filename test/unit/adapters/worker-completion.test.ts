import assert from "node:assert/strict";
import { createCompletionWorker } from "../../../shared/adapters/worker-completion.ts";
import { isAbort } from "../../../shared/base/abort.ts";
import type { WorkerReport } from "../../../shared/model/attempt.ts";
import type { Completion } from "../../../shared/ports/model.ts";
import type { WorkerOrder } from "../../../shared/ports/worker.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { featureContract, pythonPack, sliceDir } from "../../support/gate-input.ts";
import { MemoryWorkspace } from "../../support/memory-workspace.ts";
import { ScriptedModel, type ScriptedSaid } from "../../support/scripted-model.ts";

const at = (name: string): string => `${sliceDir}/${name}`;
const reply = (files: Record<string, string>, more: object = {}): string => JSON.stringify({ files, ...more });

const subject = {
  target: { domain: "Billing", name: "Invoice" },
  dir: sliceDir,
  pack: pythonPack,
  controller: true,
  request: "",
  files: {},
};

interface Worked {
  readonly report: WorkerReport;
  readonly workspace: MemoryWorkspace;
  readonly model: ScriptedModel;
}

async function work(
  said: ScriptedSaid,
  before: Record<string, string> = {},
  prepare: (workspace: MemoryWorkspace) => void = () => {},
  isFeature = true,
  prompt = "do it",
): Promise<Worked> {
  const workspace = new MemoryWorkspace(before);
  prepare(workspace);
  const model = new ScriptedModel("openrouter/some-model", said);
  const worker = createCompletionWorker({ model, clock: new FakeClock(), timeoutMs: 1000 });
  const order: WorkerOrder = {
    contract: featureContract(),
    attempt: 2,
    messages: [{ role: "user", content: prompt }],
    workspace,
    replyDir: sliceDir,
    ...(isFeature ? { subject } : {}),
  };
  return { report: await worker.run(order, new AbortController().signal), workspace, model };
}

const brief = ({ report }: Worked): unknown => [
  report.kind,
  report.cause,
  report.claims,
  report.refused,
  report.skipped,
  report.problems.map(({ kind, path }) => [kind, path]),
];

describe("worker: completion", () => {
  it("asks once, writes the reply's files, and reports what it wrote", async () => {
    const done = await work(
      reply({ "Handler.py": "x = 1\n", "schema.py": "y = 2\n" }, { notes: "Two files", concerns: ["rule 3 is vague"] }),
    );
    assert.deepEqual(brief(done), ["done", undefined, [at("Handler.py"), at("Schema.py")], [], [], []]);
    assert.deepEqual(
      [done.report.summary, done.report.concerns],
      ["openrouter/some-model wrote 2 files of Invoice: Two files", ["rule 3 is vague"]],
    );
    assert.deepEqual(
      [...done.workspace.files],
      [
        [at("Handler.py"), "x = 1\n"],
        [at("Schema.py"), "y = 2\n"],
      ],
    );
    const [asked] = done.model.asked;
    assert.deepEqual(
      [done.model.asked.length, asked?.role, asked?.step, asked?.contract, asked?.attempt, asked?.subject?.dir],
      [1, "implement", 2, "Invoice", 2, sliceDir],
    );
    const lines = (done.report.transcript ?? "")
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, string>);
    assert.deepEqual(
      lines.map(({ role }) => role),
      ["user", "assistant"],
    );
  });

  it("a file in which a secret would give way to its mark is not written, the others are", async () => {
    const before = { [at("Handler.py")]: "KEY = 's3cret'\n", [at("Schema.py")]: "y = 1\n" };
    const answer = reply({ "Handler.py": "KEY = '[redacted key]'\nx = 1\n", "Schema.py": "y = 2\n" });
    const done = await work(answer, before, undefined, true, "Handler.py:\nKEY = '[redacted key]'\n");
    assert.deepEqual(brief(done), ["done", undefined, [at("Schema.py")], [], [], [["extraction", at("Handler.py")]]]);
    assert.match(done.report.problems[0]?.message ?? "", /^line 1 holds \[redacted key\], .*SEARCH\/REPLACE/);
    assert.deepEqual(Object.fromEntries(done.workspace.files), { ...before, [at("Schema.py")]: "y = 2\n" });
  });

  it("claims only what it changed: a whole reply may hold files as they are", async () => {
    const done = await work(reply({ "Handler.py": "x = 2\n", "Schema.py": "y = 2\n" }), {
      [at("Handler.py")]: "x = 1\n",
      [at("Schema.py")]: "y = 2\n",
    });
    assert.deepEqual(done.report.claims, [at("Handler.py")]);
  });

  it("patches what is there, CRLF kept", async () => {
    const done = await work("Handler.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n", {
      [at("Handler.py")]: "x = 1\r\ny = 1\r\n",
    });
    assert.equal(done.workspace.files.get(at("Handler.py")), "x = 2\r\ny = 1\r\n");
  });

  it("refuses what is outside, skips what is protected, writes the rest", async () => {
    const done = await work(reply({ "../../x.py": "a", "/etc/cron.d/x": "b", "spec.md": "c", "Handler.py": "d\n" }), {
      [at("spec.md")]: "mine\n",
    });
    assert.deepEqual(brief(done), [
      "done",
      undefined,
      [at("Handler.py")],
      ["../../x.py", "/etc/cron.d/x"],
      [at("spec.md")],
      [],
    ]);
    assert.deepEqual([done.workspace.files.get(at("spec.md")), done.workspace.files.size], ["mine\n", 2]);
  });

  it("only refused files: nothing is written, and it says why", async () => {
    const done = await work(reply({ "src/app.py": "a" }));
    assert.deepEqual(brief(done), ["failed", "unusable", [], ["src/app.py"], [], []]);
    assert.equal(done.report.summary, "the reply holds only files outside the scope: src/app.py");
  });

  it("no file and why: a contract that cannot be done as written; of a feature, files are wanted", async () => {
    const text = reply({}, { concerns: ["price.py holds no function net; name another\nor let me add it", "b"] });
    const stopped = await work(text, {}, undefined, false);
    assert.deepEqual(brief(stopped), ["gave-up", undefined, [], [], [], []]);
    assert.equal(
      stopped.report.summary,
      "openrouter/some-model says it is blocked: price.py holds no function net; name another",
    );
    assert.deepEqual(brief(await work(text)), ["failed", "unusable", [], [], [], [["extraction", undefined]]]);
    const silent = await work(reply({}), {}, undefined, false);
    assert.deepEqual(brief(silent), ["failed", "unusable", [], [], [], [["extraction", undefined]]]);
  });

  it("a truncated reply writes nothing, also not its whole files", async () => {
    const done = await work('{"files": {"Handler.py": "x = 1\\n", "Schema.py": "y =', { [at("Handler.py")]: "old\n" });
    assert.deepEqual(brief(done), ["failed", "unusable", [], [], [], [["truncation", undefined]]]);
    assert.equal(done.workspace.files.get(at("Handler.py")), "old\n");
  });

  it("a file with a placeholder is left as it is, the others are written", async () => {
    const done = await work(reply({ "Handler.py": "# ... rest unchanged\n", "Schema.py": "y = 2\n" }), {
      [at("Handler.py")]: "old\n",
    });
    assert.deepEqual(brief(done), ["done", undefined, [at("Schema.py")], [], [], [["truncation", at("Handler.py")]]]);
    assert.equal(done.workspace.files.get(at("Handler.py")), "old\n");
  });

  it("a patch that does not fit is a problem of that file", async () => {
    const done = await work("Handler.py\n<<<<<<< SEARCH\nz = 1\n=======\nz = 2\n>>>>>>> REPLACE\n", {
      [at("Handler.py")]: "x = 1\n",
    });
    assert.deepEqual(brief(done), ["failed", "unusable", [], [], [], [["extraction", at("Handler.py")]]]);
  });

  it("a person's edit is never overwritten", async () => {
    const done = await work(reply({ "Handler.py": "x = 1\n" }), { [at("Handler.py")]: "mine\n" }, (workspace) =>
      workspace.edited.add(at("Handler.py")),
    );
    assert.deepEqual(
      [done.report.cause, done.report.code, done.workspace.files.get(at("Handler.py"))],
      ["person-edited", "tree.changed", "mine\n"],
    );
  });

  it("a binary that is there is not replaced unseen", async () => {
    const worker = (workspace: MemoryWorkspace): void => {
      workspace.read = () => Promise.resolve(new Uint8Array([0xff, 0xfe, 0x00]));
    };
    const done = await work(reply({ "logo.py": "x" }), {}, worker);
    assert.deepEqual(brief(done), ["failed", "unusable", [], [], [], [["extraction", at("logo.py")]]]);
  });

  const failures: readonly [string, Completion, unknown][] = [
    [
      "every model of the chain failed",
      {
        kind: "failed",
        why: "exhausted",
        model: "a/b",
        detail: "a/b: timeout; c/d: empty reply",
        hint: "Pick another model",
        code: "model.exhausted",
      },
      [
        "failed",
        "models",
        "no model gave anything usable. a/b: timeout; c/d: empty reply",
        "Pick another model",
        "model.exhausted",
      ],
    ],
    [
      "one model refused its key",
      { kind: "failed", why: "auth", model: "a/b", detail: "401", code: "env.no-key" },
      ["failed", "models", "a/b: 401", undefined, "env.no-key"],
    ],
    [
      "a template that does not know the spec",
      { kind: "failed", why: "refused", model: "builtin/template", detail: "no examples", code: "template.refused" },
      ["failed", "models", "builtin/template: no examples", undefined, "template.refused"],
    ],
    [
      "nothing usable",
      {
        kind: "unusable",
        why: "empty",
        model: "a/b",
        detail: "an empty reply",
        usage: { input: 3, output: 0, cacheRead: 0, costUsd: 0.1 },
      },
      ["failed", "models", "a/b gave nothing usable: an empty reply", undefined, "model.exhausted"],
    ],
  ];
  for (const [name, said, wanted] of failures) {
    it(`${name}: no attempt of the worker's`, async () => {
      const { report, workspace } = await work(said);
      assert.deepEqual([report.kind, report.cause, report.summary, report.hint, report.code], wanted);
      assert.equal(workspace.files.size, 0);
    });
  }

  const usage = { input: 3, output: 9, cacheRead: 0, costUsd: 0.1 };
  const replies: readonly [name: string, said: Completion, problems: unknown][] = [
    [
      "cut off by the only model",
      { kind: "unusable", why: "truncated", model: "a/b", detail: "the token limit was reached", usage },
      [["truncation", "the reply was cut off: the token limit was reached", "a/b"]],
    ],
    [
      "a tool call by the only model",
      { kind: "unusable", why: "tool-markup", model: "a/b", detail: "raw markup", usage },
      [["extraction", "the reply is no answer: raw markup", "a/b"]],
    ],
    [
      "cut off by one of a chain whose others failed",
      {
        kind: "failed",
        why: "exhausted",
        model: "a/b",
        detail: "a/b: timeout: 300 s; c/d: truncated: the token limit was reached",
        hint: "Pick another model",
        code: "model.exhausted",
        tried: [
          { model: "a/b", why: "timeout", detail: "300 s" },
          { model: "c/d", why: "truncated", detail: "the token limit was reached" },
        ],
        usage,
      },
      [["truncation", "the reply was cut off: the token limit was reached", "c/d"]],
    ],
  ];
  for (const [name, said, problems] of replies) {
    it(`${name}: an attempt that failed, with what to mend`, async () => {
      const { report, workspace } = await work(said);
      assert.deepEqual(
        [report.kind, report.cause, report.problems.map(({ kind, message, evidence }) => [kind, message, evidence])],
        ["failed", "unusable", problems],
      );
      assert.deepEqual([report.usage, report.hint, report.code], [usage, undefined, undefined]);
      assert.equal(workspace.files.size, 0);
    });
  }

  it("an abort while the model thinks rejects, and nothing is written", async () => {
    const stop = new AbortController();
    const workspace = new MemoryWorkspace();
    const worker = createCompletionWorker({
      model: new ScriptedModel("a/b", "hang"),
      clock: new FakeClock(),
      timeoutMs: 1000,
    });
    const done = worker.run(
      { contract: featureContract(), attempt: 1, messages: [], workspace, replyDir: sliceDir },
      stop.signal,
    );
    stop.abort();
    await assert.rejects(done, isAbort);
    assert.equal(workspace.files.size, 0);
  });
});
