import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { recipeOf } from "../../shared/adapters/recipes/recipes.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { openSandbox } from "../../shared/app/open-sandbox.ts";
import { isAbort } from "../../shared/base/abort.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { WorkerReport } from "../../shared/model/attempt.ts";
import type { WorkerConfig } from "../../shared/model/worker-config.ts";
import { clientProgram, type ClientName, clientTools, type ClientTools } from "./client-tools.ts";
import type { Failure, Script, Step } from "./scripted-model-server/script.ts";
import { sourceRoot } from "./source-root.ts";
import { TempDir } from "./temp-dir.ts";
import { finalJson, keyOfTheLab, secretOfThePerson, type WorkerPlace, workerPlace } from "./worker-place.ts";

/**
 * What holds for every client that Orch drives, on the real program: the same rows for each. A client that could not be
 * had is skipped by name.
 */
export function describeClient(client: ClientName): void {
  const program = clientProgram(client);
  const recipe = recipeOf(client);
  const tools: ClientTools = clientTools[client];
  assert.ok(recipe?.persists !== undefined);
  const { persists } = recipe;

  describe(`the real ${client} @slow`, function () {
    this.timeout(600_000);
    before(function () {
      if (program === undefined) this.skip();
    });

    /** Side calls (titles, probes) first: they offer no tools. */
    const script =
      (steps: (dir: AbsPath) => readonly Step[]) =>
      (dir: AbsPath): Script => ({
        steps: [{ name: "side call", match: { offersTools: false }, reply: { text: "A title" } }, ...steps(dir)],
      });
    const editing = (dir: AbsPath): Step[] => {
      const calls = [...(tools.read === undefined ? [] : [tools.read(dir)]), tools.edit(dir, "hi ", "hello ")];
      const usage = { input: 1000, output: 40 };
      return calls.map((toolCall, turn) => ({ name: "edit", match: { turn }, reply: { toolCall, usage } }));
    };
    const ending: Step = {
      name: "end",
      reply: { text: finalJson(), usage: { input: 200, output: 12, cacheRead: 900 } },
    };
    const place = (steps: (dir: AbsPath) => readonly Step[], over: Partial<WorkerConfig> = {}): Promise<WorkerPlace> =>
      workerPlace(client, script(steps), { silence_s: 200, minutes: 3.5, ...over });

    it("edits, reports and leaves nothing", async () => {
      await using here = await place((dir) => [...editing(dir), ending]);
      const report = await here.run();
      assert.equal(report.kind, "done", report.summary);
      assert.equal(await here.changes(), " M greet.js");
      assert.match(await here.greeting(), /hello/);
      assert.deepEqual(
        { status: report.status, claims: report.claims, acceptance: report.acceptance, summary: report.summary },
        { status: "done", claims: ["greet.js"], acceptance: { A1: "by hand" }, summary: "greet says hello" },
      );
      const { input, output, cacheRead, costUsd } = report.usage;
      const edits = editing(here.dir).length;
      assert.deepEqual(
        { input, output, cacheRead },
        { input: 1000 * edits + 200, output: 40 * edits + 12, cacheRead: 900 },
        "input without the cached tokens",
      );
      assert.ok(costUsd !== "unknown" && costUsd > 0);
      assert.ok(report.calls !== undefined && report.calls >= 1);
      nothingLeft(here);
      const leaked = JSON.stringify([report, here.sink.events]);
      assert.ok(!leaked.includes(keyOfTheLab), "the key stands in no report, transcript or event");
      assert.ok(!leaked.includes(secretOfThePerson));
      assert.deepEqual(
        fs.readdirSync(path.join(here.repo.root, ".git")).filter((name) => name === client),
        [],
        "nothing in git's folder",
      );
    });

    it("is started with a home of its own and only its own key", async () => {
      const print = tools.shell("env > environment.txt");
      await using here = await place(() => [{ match: { turn: 0 }, reply: { toolCall: print } }, ending]);
      const report = await here.run();
      assert.equal(report.kind, "done", report.summary);
      const seen = fs.readFileSync(path.join(here.dir, "environment.txt"), "utf8");
      assert.ok(!seen.includes(secretOfThePerson), "no secret of the person's");
      assert.match(seen, new RegExp(`^HOME=${here.stateDir}/workers/r-test/GREET/${client}/home$`, "m"));
      assert.match(seen, /^ORCH_ATTEMPT=m-/m);
      assert.doesNotMatch(seen, /^(?:SSH_AUTH_SOCK|GIT_DIR|GIT_INDEX_FILE)=./m);
    });

    const failures: readonly (readonly [string, Failure, RegExp])[] = [
      [
        "429",
        { kind: "status", status: 429, message: "Rate limit reached" },
        /^failed models: .*(?:429|[Rr]ate limit)/,
      ],
      [
        "500",
        { kind: "status", status: 500, message: "The server had an error" },
        /^failed models: .*(?:500|error|demand)/,
      ],
      ["a stream that is cut", { kind: "truncate", text: "This answer is cut off in the middle" }, /^failed models: /],
    ];
    for (const [name, fail, expected] of failures) {
      it(`${name}: nobody's work, no attempt`, async () => {
        await using here = await place(() => [{ name: "fail", fail }], { max_calls: 12 });
        const report = await here.run();
        assert.match(gist(report), expected);
        const asked = here.server.calls.filter(({ answeredBy }) => answeredBy === "fail").length;
        if (fail.kind === "status") assert.ok(asked <= persists.requests, `asked ${asked} times`);
        assert.notEqual(report.hint, undefined, "with the next step");
        assert.equal(await here.changes(), "");
        nothingLeft(here);
      });
    }

    it("500 after the edit: the edit is there, and no work is claimed", async () => {
      await using here = await place((dir) => [
        ...editing(dir),
        { name: "fail", fail: { kind: "status", status: 500 } },
      ]);
      const report = await here.run();
      assert.match(gist(report), /^failed models: /);
      assert.equal(await here.changes(), " M greet.js");
      assert.deepEqual(report.claims, []);
    });

    it("an empty reply is no answer", async () => {
      await using here = await place(() => [{ reply: { text: "", usage: { input: 1000, output: 0 } } }]);
      assert.match(gist(await here.run()), /^failed unusable: .*empty/);
    });

    it("a tool call written as text is no answer", async () => {
      const text = '<tool_call>\n{"name": "write", "arguments": {"path": "x"}}\n</tool_call>';
      await using here = await place(() => [{ reply: { text } }]);
      assert.match(gist(await here.run()), /^failed unusable: .*tool/);
    });

    it("a model that hangs is ended by us", async () => {
      await using here = await place(() => [{ fail: { kind: "hang" } }], { silence_s: 4 });
      assert.match(gist(await here.run()), /^failed models: .*heard nothing/);
      assert.ok(here.server.calls.length > 0, "it had asked");
      nothingLeft(here);
    });

    it("a model that stops in the middle of its reply is ended by us, and it is no attempt", async () => {
      const fail: Failure = { kind: "stall", text: "This answer stops in the middle" };
      await using here = await place(() => [{ fail }], { silence_s: 4 });
      assert.match(gist(await here.run()), /^failed models: .*(?:heard|said) nothing/);
      nothingLeft(here);
    });

    it("over its minutes it is ended by us, wherever it is", async () => {
      await using here = await place(() => [{ fail: { kind: "hang" } }], { minutes: 0.1 });
      assert.match(gist(await here.run()), /^timed-out : .* was not done after 6 s and was ended$/);
      nothingLeft(here);
    });

    it("told to wait for an hour, it gives up or is ended by us", async () => {
      const fail: Failure = { kind: "status", status: 429, message: "Rate limit reached", retryAfterSeconds: 3600 };
      await using here = await place(() => [{ fail }], { silence_s: 4 });
      const report = await here.run();
      assert.match(gist(report), /^failed models: .*(?:429|[Rr]ate limit|heard nothing)/);
      assert.notEqual(report.hint, undefined, "with the next step");
      assert.ok(here.server.calls.length > 0, "it had asked");
      nothingLeft(here);
    });

    it("a loop without an end is ended by us", async () => {
      await using here = await place(() => [{ reply: { toolCall: tools.shell("true") } }], { max_calls: 4 });
      const report = await here.run();
      // gemini notices a loop of the same call by itself and ends with nothing.
      assert.match(gist(report), /^failed (?:: .*4 calls|unusable: )/);
      assert.ok(here.server.calls.length < 40, `${here.server.calls.length} calls`);
      nothingLeft(here);
    });

    if (recipe.can.cost === "reported")
      it("over its dollars it is ended", async () => {
        const usage = { input: 50_000, output: 2000 };
        await using here = await place(() => [{ reply: { toolCall: tools.shell("true"), usage } }]);
        const report = await here.run({ contract: { max_cost_usd: 0.2 } });
        assert.equal(gist(report), `failed : ${client} reached the limit of 0.2 USD and was ended`);
        nothingLeft(here);
      });

    it("an abort ends it and rejects", async () => {
      await using here = await place(() => [{ fail: { kind: "hang" } }]);
      const stop = new AbortController();
      const running = here.run({}, stop.signal);
      await Promise.race([here.server.received(1), running]);
      stop.abort();
      await assert.rejects(running, (error: unknown) => isAbort(error));
      nothingLeft(here);
    });

    it("read-only: nothing is written, whatever the model tries", async () => {
      await using here = await place((dir) => [
        ...editing(dir),
        { match: { turn: editing(dir).length }, reply: { toolCall: tools.shell("echo x > written.txt") } },
        ending,
      ]);
      const report = await here.run({ contract: { mode: "read_only" } });
      assert.equal(report.cause === "models" || report.cause === "environment", false, report.summary);
      assert.equal(await here.changes(), "");
    });

    it("in the sandbox it writes its tree and nothing else, and reaches its model and nobody else", async function () {
      using own = new TempDir();
      const places = { installRoot: absPath(sourceRoot), stateDir: own.at("state") };
      const env = { PATH: process.env["PATH"] ?? "", HOME: own.path };
      await using sandbox = openSandbox({ process: createProcess(), places, env });
      if ((await sandbox.state(new AbortController().signal)).kind === "off") this.skip();
      const outside = own.at("outside.txt");
      await using here = await workerPlace(
        client,
        script((dir) => {
          const turn = editing(dir).length;
          return [
            ...editing(dir),
            { match: { turn }, reply: { toolCall: tools.shell("sh probe.sh > probe.txt 2>&1") } },
            ending,
          ];
        }),
        { silence_s: 200, minutes: 3.5 },
        { confine: (spec, within, signal) => sandbox.wrap(spec, within, signal), denyRead: [own.path] },
      );
      // In a script: opencode and copilot refuse a command that names paths outside, and then the sandbox is not asked.
      fs.writeFileSync(
        path.join(here.dir, "probe.sh"),
        [
          `echo x > '${outside}'`,
          "echo x >> .git",
          `cat '${secretFile(own)}'`,
          "curl -sS -m 5 http://example.com",
          "echo probed",
          "",
        ].join("\n"),
      );
      const report = await here.run();
      assert.equal(report.kind, "done", report.summary);
      assert.match(await here.greeting(), /hello/);
      assert.equal(fs.existsSync(outside), false);
      const seen = fs.readFileSync(path.join(here.dir, "probe.txt"), "utf8");
      assert.match(seen, /^probed$/m, "all of it was tried");
      assert.doesNotMatch(seen, /the person's secret|Example Domain/);
      assert.match(seen, /read-only file system|no such file/i);
      assert.match(await here.repo.gitIn(here.dir, "status", "--porcelain"), /greet\.js/, "its .git is as it was");
      nothingLeft(here);
    });

    it("what it leaves running is ended", async () => {
      const start = tools.shell("setsid sleep 321 >/dev/null 2>&1 & echo started");
      await using here = await place(() => [{ match: { turn: 0 }, reply: { toolCall: start } }, ending]);
      await here.run();
      nothingLeft(here);
    });

    if (recipe.can.resume === "cache-warm") {
      it("goes on in its session, which still holds the first prompt", async () => {
        await using here = await place((dir) => [...editing(dir), ending]);
        const first = await here.run({ prompt: "The first prompt, alpha." });
        assert.equal(first.kind, "done", first.summary);
        assert.ok(first.session !== undefined);
        const before = here.server.calls.length;
        const warm = here.server.calls.findLast(({ offersTools }) => offersTools);
        const second = await here.run({ attempt: 2, session: first.session, prompt: "The feedback, beta." });
        const asked = here.server.calls.slice(before).find(({ offersTools }) => offersTools);
        assert.match(asked?.users.join("\n") ?? "", /alpha[\s\S]*beta/);
        assert.ok(asked !== undefined && warm !== undefined);
        assert.deepEqual(
          [asked.model, asked.system, asked.tools, asked.users.slice(0, warm.users.length)],
          [warm.model, warm.system, warm.tools, warm.users],
          "what the provider has cached begins it, to the letter",
        );
        assert.equal(second.session, first.session);
      });
    }
  });
}

function secretFile(own: TempDir): string {
  const at = own.at("secret.txt");
  fs.writeFileSync(at, "the person's secret\n");
  return at;
}

function gist({ kind, cause, summary }: WorkerReport): string {
  return `${kind} ${cause ?? ""}: ${summary}`;
}

/** Told before it worked, and gone: by the pid that was told, and by the marker that everything it starts carries. */
function nothingLeft({ sink, process }: WorkerPlace): void {
  const started = sink.of("process.started");
  assert.equal(started.length, 1);
  assert.equal(sink.of("process.ended").length, 1);
  for (const { pid, startTime, marker } of started) {
    assert.equal(process.isAlive(pid, startTime), false);
    assert.deepEqual(process.withMarker(marker), []);
  }
}
