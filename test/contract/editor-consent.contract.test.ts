// The editor's own models after a person's no, over real run folders: one question a run, until they ask to be asked.
import assert from "node:assert/strict";
import fs from "node:fs";
import { ModelLane } from "../../extension/model-lane.ts";
import type { ReplyFile } from "../../shared/model/run-files.ts";
import { TempDir } from "../support/temp-dir.ts";

class Refusal extends Error {
  readonly code = "NoPermissions";
}

/** A window whose person says no to each request, and to each notice what `pressed` says. */
function window() {
  const notices: string[] = [];
  let requests = 0;
  let pressed: string | undefined;
  const model = {
    async sendRequest(): Promise<never> {
      requests += 1;
      throw new Refusal("Language model 'a' cannot be used by 'orch.orch'.");
    },
  };
  const vscode = {
    CancellationTokenSource: class {
      readonly token = { isCancellationRequested: false };
      cancel(): void {}
      dispose(): void {}
    },
    LanguageModelChatMessage: { User: String, Assistant: String },
    LanguageModelError: Object.assign(Refusal, {
      NoPermissions: { name: "NoPermissions" },
      NotFound: { name: "NotFound" },
      Blocked: { name: "Blocked" },
    }),
    Uri: { file: (path: string) => path },
    l10n: { t: (words: string) => words },
    lm: { selectChatModels: async () => [model] },
    window: {
      showWarningMessage: async (words: string) => {
        notices.push(words);
        return pressed;
      },
    },
    workspace: {
      fs: { readFile: async (path: string) => fs.promises.readFile(path) },
      getConfiguration: () => ({ get: () => undefined }),
    },
  };
  const lane = new ModelLane(vscode as never, { error: (error: unknown) => assert.fail(String(error)) } as never);
  return {
    lane,
    notices,
    requests: () => requests,
    press: (label: string) => (pressed = label),
  };
}

/** Asks the lane as a run does; what it replied. */
async function ask(lane: ModelLane, dir: TempDir, run: string, id: string): Promise<ReplyFile> {
  fs.writeFileSync(dir.at(`${id}.json`), JSON.stringify({ v: 1, messages: [{ role: "user", content: "hello" }] }));
  const request = {
    type: "completion.requested",
    id,
    model: "vscode-lm/acme/a",
    prompt: { path: `${id}.json` },
    deadline: Date.now() + 60_000,
  };
  lane.offer({ run, dir: dir.path, alive: true, own: true } as never, request as never);
  const reply = dir.at("replies", `${id}.json`);
  const end = performance.now() + 10_000;
  while (!fs.existsSync(reply) && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
  return JSON.parse(fs.readFileSync(reply, "utf8")) as ReplyFile;
}

describe("the editor's own models after a no", () => {
  it("a run asks once; the next run asks again", async () => {
    using dir = new TempDir();
    const { lane, notices, requests } = window();
    const said = [
      await ask(lane, dir, "r-1", "lm-1"),
      await ask(lane, dir, "r-1", "lm-2"),
      await ask(lane, dir, "r-2", "lm-3"),
    ];
    assert.deepEqual(
      said.map(({ choice, text }) => [choice, text]),
      [
        ["auth", "not allowed by the person: Language model 'a' cannot be used by 'orch.orch'."],
        ["auth", "not allowed by the person: they said so in this run"],
        ["auth", "not allowed by the person: Language model 'a' cannot be used by 'orch.orch'."],
      ],
    );
    assert.equal(requests(), 2);
    assert.equal(notices.length, 2);
    assert.deepEqual([lane.isRefused("acme"), lane.isRefused("other")], [true, false]);
  });

  it("Ask me again asks at the next request of the same run, and nothing counts as refused", async () => {
    using dir = new TempDir();
    const { lane, requests, press } = window();
    press("Ask me again");
    await ask(lane, dir, "r-1", "lm-1");
    assert.equal(lane.isRefused("acme"), false);
    await ask(lane, dir, "r-1", "lm-2");
    assert.equal(requests(), 2);
  });
});
