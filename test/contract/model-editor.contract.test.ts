// The lane of the editor's own models, against a window played by the same files that the extension drops.
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, realpath, rm, stat, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClock } from "../../shared/adapters/clock.ts";
import { createFiles } from "../../shared/adapters/files.ts";
import { createIds } from "../../shared/adapters/ids.ts";
import { createEditorModels } from "../../shared/adapters/model-editor.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { NewEvent } from "../../shared/model/event.ts";
import type { Completion } from "../../shared/ports/model.ts";
import { dropClaim, dropReply } from "../../shared/runner/drop.ts";

type Requested = Extract<NewEvent, { readonly type: "completion.requested" }>;

describe("completions by an editor's models", () => {
  let dir: AbsPath;
  beforeEach(async () => {
    dir = absPath(await realpath(await mkdtemp(join(tmpdir(), "orch-lm-"))));
    await mkdir(join(dir, "replies"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  async function ask(
    window: (request: Requested) => void | Promise<void>,
    options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
  ): Promise<Completion> {
    const clock = createClock();
    const files = createFiles();
    const models = createEditorModels({
      files,
      clock,
      ids: createIds(clock),
      runDir: dir,
      claimWithinMs: 300,
      claimStaleMs: 600,
      sink: {
        append: (event) => void (event.type === "completion.requested" && window(event)),
        async sidecar(path, data) {
          await files.makeDir(absPath(join(dir, "completions")));
          await files.write(absPath(join(dir, path)), data);
          return { path, bytes: data.length, sha256: "" };
        },
      },
    });
    const opened = await models.open("vscode-lm/acme/deep/1", new AbortController().signal);
    if (opened.kind !== "model") throw new Error(opened.why);
    const messages = [{ role: "user" as const, content: "hello" }];
    return opened.model.complete(
      { role: "implement", step: 1, messages, timeoutMs: options.timeoutMs ?? 5000 },
      options.signal ?? new AbortController().signal,
    );
  }

  const say = (id: string, choice: string, text: string): boolean =>
    dropReply(dir, { v: 1, id, choice, text, by: "vscode-lm", host: "vscode", at: 1 });

  it("hands the prompt over and brings the whole reply back, its usage unknown", async () => {
    let prompt = "";
    const said = await ask(async ({ id, model, prompt: { path } }) => {
      assert.equal(model, "vscode-lm/acme/deep/1");
      assert.deepEqual([dropClaim(dir, id, "vscode"), dropClaim(dir, id, "vscode")], [true, false]);
      prompt = await readFile(join(dir, path), "utf8");
      say(id, "ok", "the reply");
    });
    assert.deepEqual(JSON.parse(prompt), { v: 1, messages: [{ role: "user", content: "hello" }] });
    assert.deepEqual(said.kind === "ok" && [said.text, said.usage.costUsd], ["the reply", "unknown"]);
  });

  for (const [choice, why] of [
    ["auth", "auth"],
    ["rate-limit", "rate-limit"],
    ["unknown-model", "unknown-model"],
    ["cancelled", "error"],
    ["gone", "unavailable"],
    ["error", "error"],
    ["surely", "protocol"],
  ] as const) {
    it(`tells ${choice} apart`, async () => {
      const said = await ask(({ id }) => void say(id, choice, "why"));
      assert.equal(said.kind === "failed" && said.why, why);
    });
  }

  it("falls through when no window takes it, and when the window that took it is gone", async () => {
    const nobody = await ask(() => {});
    assert.match(nobody.kind === "failed" ? `${nobody.why} ${nobody.detail}` : "", /^unavailable no window/);
    const gone = await ask(async ({ id }) => {
      dropClaim(dir, id, "vscode");
      await utimes(join(dir, "replies", `${id}.claim`), 1, 1);
    });
    assert.match(gone.kind === "failed" ? `${gone.why} ${gone.detail}` : "", /^unavailable the window/);
  });

  it("takes the claim away when it no longer waits, so that the window stops", async () => {
    const stop = new AbortController();
    let claim = "";
    const asked = ask(
      ({ id }) => {
        dropClaim(dir, id, "vscode");
        claim = join(dir, "replies", `${id}.claim`);
        stop.abort();
      },
      { signal: stop.signal },
    );
    await assert.rejects(asked, { name: "AbortError" });
    await assert.rejects(stat(claim), { code: "ENOENT" });
    const late = await ask(({ id }) => void dropClaim(dir, id, "vscode"), { timeoutMs: 200 });
    assert.equal(late.kind === "failed" && late.why, "timeout");
  });

  it("an empty reply is unusable", async () => {
    const said = await ask(({ id }) => void say(id, "ok", " "));
    assert.equal(said.kind === "unusable" && said.why, "empty");
  });
});
