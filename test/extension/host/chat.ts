// `@orch` in the chat, verb by verb, through the real runner with the demo's model: what each starts and what it says.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { demoRequest } from "../../../shared/app/demo/cassette.ts";
import { isCommandName } from "../../../shared/app/commands.ts";
import { answer, ended, followed, newest, start } from "./started.ts";
import { contributes, folder, host, until } from "./window.ts";

interface Said {
  readonly text: string;
  readonly buttons: readonly string[];
  readonly progress: readonly string[];
}

/** What the participant says to one turn of a person. */
async function say(command: string | undefined, prompt: string, token?: vscode.CancellationToken): Promise<Said> {
  const { chat } = await host();
  const said = { text: "", buttons: [] as string[], progress: [] as string[] };
  const stream = {
    markdown: (text: string) => void (said.text += text),
    button: (button: vscode.Command) => void said.buttons.push(button.command),
    progress: (text: string) => void said.progress.push(text),
  } as unknown as vscode.ChatResponseStream;
  const request = { command, prompt, references: [], toolReferences: [] } as unknown as vscode.ChatRequest;
  const { token: never } = new vscode.CancellationTokenSource();
  await chat(request, { history: [] }, stream, token ?? never);
  return said;
}

async function runs(): Promise<number> {
  const { sessions } = await host();
  return sessions.all.flatMap(({ feed }) => feed.runs).length;
}

describe("@orch in the chat", () => {
  it("offers the verbs whose commands there are, and no other", async () => {
    await host();
    const { chatParticipants } = contributes<{
      readonly chatParticipants: readonly { readonly commands: readonly { readonly name: string }[] }[];
    }>();
    assert.deepEqual(
      chatParticipants[0]?.commands.map(({ name }) => name),
      ["new", "do", "modify", "run", "status"].filter(isCommandName),
    );
  });

  it("a verb that does not exist, or lacks its target, starts nothing and says how", async () => {
    const before = await runs();
    assert.match((await say("nonsense", "anything")).text, /No run/);
    assert.match((await say("new", "")).text, /Name the feature first[^]*@orch \/new Billing\/Invoice/);
    const run = await say("run", "");
    assert.match(run.text, isCommandName("run") ? /Name what it is about[^]*@orch \/run / : /No run/);
    assert.equal(await runs(), before);
  });

  it("/new starts a feature and leads to do", async () => {
    const said = await say("new", `Billing/Invoice ${demoRequest}`);
    assert.match(said.text, /Billing\\?\/Invoice/);
    assert.deepEqual(said.buttons, ["orch.do"]);
    assert.ok(
      said.progress.some((text) => text.includes("new")),
      said.progress.join("; "),
    );
    assert.ok(fs.existsSync(path.join(folder(), "features/Billing/Invoice/spec.md")));
  });

  it("/do asks for trust as every host does, follows the attempts, and offers change and merge", async () => {
    const talk = say("do", "");
    await answer(
      await newest("the question", ({ state }) => state.command === "do" && state.pending.length > 0),
      "trust",
    );
    const said = await talk;
    assert.match(said.text, /Invoice/);
    assert.deepEqual(said.buttons, ["orch.host.lastDiff", "orch.merge"]);
    assert.ok(
      said.progress.some((text) => /running.*\(2/.test(text)),
      said.progress.join("; "),
    );
  });

  it("/status and no verb at all say what happened here", async () => {
    for (const verb of ["status", undefined]) {
      const said = await say(verb, "how is it going?");
      assert.match(said.text, /\*\*do\*\* ok[^]*\*\*new\*\* ok/);
      assert.deepEqual(said.buttons, ["orch.host.showRuns"]);
    }
  });

  it("/modify amends the feature of the file that is looked at, with the words as they were said", async () => {
    const spec = path.join(folder(), "features/Billing/Invoice/spec.md");
    await vscode.window.showTextDocument(vscode.Uri.file(spec));
    const said = await say("modify", "Round each line, not the total");
    assert.deepEqual(said.buttons, ["orch.do"], said.text);
    assert.match(fs.readFileSync(spec, "utf8"), /CONTRACT AMENDMENT 1[^]*Round each line, not the total/);
  });

  it("a refusal comes with its hint, and nothing was done", async () => {
    const said = await say("new", "Greeting/Other Says hello");
    assert.match(said.text, /Billing\\?\/Invoice/);
    assert.match(said.text, /merge/);
    assert.equal(fs.existsSync(path.join(folder(), "features/Greeting")), false);
  });

  it("who stops the answer cancels the run", async () => {
    const undone = await start("undo", { words: ["Billing/Invoice"] });
    await answer(undone, "yes");
    assert.equal((await ended(undone)).state.result?.code, 0);
    await ended(await start("new", { words: ["Greeting/Slow"], prompt: "Says hello slowly" }));
    const stop = new vscode.CancellationTokenSource();
    const talk = say("do", "Greeting/Slow", stop.token);
    const run = await newest(
      "the attempt",
      ({ state }) =>
        state.command === "do" &&
        state.contracts.some(({ feature, attempts }) => feature === "Greeting/Slow" && attempts.length === 1),
    );
    stop.cancel();
    await until("its end", async () => (await followed(run.run)).standing === "cancelled");
    await talk;
  });
});
