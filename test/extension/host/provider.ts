// What Orch adds to the editor's model picker: its demo model, and the person's own chain by the real command line.
import assert from "node:assert/strict";
import fs from "node:fs";
import * as vscode from "vscode";
import { host, until } from "./window.ts";

/** The key that the endpoint of the window's settings wants: test/extension/host.test.ts. */
const key = "a-key-of-the-lab-0123456789";

async function modelOf(id: string): Promise<vscode.LanguageModelChat> {
  return until(`the model ${id}`, async () => (await vscode.lm.selectChatModels({ vendor: "orch", id }))[0]);
}

async function ask(id: string, words: string, token?: vscode.CancellationToken): Promise<string> {
  const messages = [
    vscode.LanguageModelChatMessage.User("one"),
    vscode.LanguageModelChatMessage.Assistant("two"),
    vscode.LanguageModelChatMessage.User(words),
  ];
  const response = await (await modelOf(id)).sendRequest(messages, {}, token);
  let text = "";
  for await (const part of response.text) text += part;
  return text;
}

/** Command lines of the processes that ask the chain. */
function asking(): readonly string[] {
  return fs
    .readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes("dist/cli/main.mjs model"));
}

describe("Orch's own models in the picker", () => {
  it("are the demo's, which says that it is scripted, and the person's chain", async () => {
    await host();
    await modelOf("demo");
    const found = await vscode.lm.selectChatModels({ vendor: "orch" });
    assert.deepEqual(
      found.map(({ id, name }) => [id, name]),
      [
        ["chain", "Orch chain"],
        ["demo", "Orch demo (scripted)"],
      ],
    );
    assert.match(await ask("demo", "hello"), /^scripted: /);
  });

  it("the chain without a key says what to do, and with one brings the reply of its first usable model", async () => {
    const { keys } = await host();
    await assert.rejects(ask("chain", "hello"), /LAB_API_KEY/);
    await keys.store("LAB_API_KEY", key);
    assert.equal(await ask("chain", "three"), "I heard user: one; assistant: two; user: three");
  });

  it("neither the words nor the key are on a command line, and who goes away ends the question", async () => {
    const { keys } = await host();
    const stop = new vscode.CancellationTokenSource();
    const answer = ask("chain", "forever", stop.token).then(
      () => "answered",
      () => "stopped",
    );
    const [line] = await until("the question", () => asking().length > 0 && asking());
    assert.match(line ?? "", /model --json --no-input --ask - $/);
    stop.cancel();
    assert.equal(await answer, "stopped");
    await until("its end", () => asking().length === 0);
    await keys.remove("LAB_API_KEY");
  });
});
