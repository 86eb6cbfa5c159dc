// The editor's own models for a run: against a provider of a test-only extension, through the real vscode.lm.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import type { ReplyFile } from "../../../shared/model/run-files.ts";
import { beginDo, endDo, type ScriptedRun, scriptedRun } from "./scripted-run.ts";
import { folder, host, until } from "./window.ts";

describe("the lane of the editor's models", () => {
  let run: ScriptedRun;
  before(async () => {
    await host();
    await until(
      "the scripted models",
      async () => (await vscode.lm.selectChatModels({ vendor: "scripted" })).length > 0,
    );
    run = await scriptedRun(folder());
    beginDo(run.log);
    const { sessions } = await host();
    await until("the run", () => sessions.ofRun(run.run)?.feed.get(run.run)?.state.seq === 3);
  });
  after(() => {
    endDo(run.log, true);
    run.leave();
    fs.rmSync(run.dir, { recursive: true });
  });

  function request(
    id: string,
    model: string,
    messages: readonly object[] = [{ role: "user", content: "hello" }],
  ): void {
    const text = JSON.stringify({ v: 1, messages });
    const at = `completions/${id}.json`;
    fs.mkdirSync(path.join(run.dir, "completions"), { recursive: true });
    fs.writeFileSync(path.join(run.dir, at), text);
    const prompt = { path: at, bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
    run.log.append({ type: "completion.requested", id, model, prompt, deadline: Date.now() + 60_000 });
  }

  function reply(id: string): ReplyFile | undefined {
    const at = path.join(run.dir, "replies", `${id}.json`);
    return fs.existsSync(at) ? (JSON.parse(fs.readFileSync(at, "utf8")) as ReplyFile) : undefined;
  }

  async function ask(
    id: string,
    model: string,
    messages?: readonly object[],
  ): Promise<readonly [string | undefined, string | undefined]> {
    request(id, model, messages);
    const said = await until(`the reply ${id}`, () => reply(id));
    return [said.choice, said.text];
  }

  it("brings the whole reply, the persona folded into the first message", async () => {
    const messages = [
      { role: "system", content: "You are terse." },
      { role: "user", content: "one" },
      { role: "assistant", content: "two" },
      { role: "user", content: "three" },
    ];
    assert.deepEqual(await ask("lm-1", "vscode-lm/scripted/echo", messages), [
      "ok",
      "echo: You are terse.\n\nonetwothree",
    ]);
    assert.ok(fs.existsSync(path.join(run.dir, "replies/lm-1.claim")));
  });

  it("stops the model when the runner takes its claim away, and hands no half over", async () => {
    request("lm-8", "vscode-lm/scripted/slow");
    const claim = path.join(run.dir, "replies/lm-8.claim");
    await until("the claim", () => fs.existsSync(claim));
    fs.rmSync(claim);
    const said = await until("the end", () => reply("lm-8"));
    assert.deepEqual([said.choice, said.text], ["cancelled", "cancelled"]);
    assert.ok(fs.existsSync(path.join(folder(), "slow-was-cancelled")));
  });

  it("leaves requests to others when serving is switched off", async () => {
    const settings = vscode.workspace.getConfiguration("orch");
    await settings.update("languageModels.serve", false, vscode.ConfigurationTarget.Workspace);
    request("lm-9", "vscode-lm/scripted/echo");
    run.log.append({ type: "progress.noted", text: "after lm-9" });
    const { sessions } = await host();
    await until("the note", () => sessions.ofRun(run.run)?.feed.get(run.run)?.state.note === "after lm-9");
    await settings.update("languageModels.serve", undefined, vscode.ConfigurationTarget.Workspace);
    // A window is polite for as long each time: a request that came later would not be served before lm-9.
    assert.equal((await ask("lm-10", "vscode-lm/scripted/echo"))[0], "ok");
    assert.equal(fs.existsSync(path.join(run.dir, "replies/lm-9.claim")), false);
  });

  it("does not serve Orch's own models: the chain would ask itself", async () => {
    const said = await Promise.all(["chain", "demo"].map((id) => ask(`lm-own-${id}`, `vscode-lm/orch/${id}`)));
    assert.deepEqual(
      said.map(([choice]) => choice),
      ["unknown-model", "unknown-model"],
    );
  });

  it("tells no permission, a block, a missing model, an empty reply and a fault apart", async () => {
    const seen = {
      denied: (await ask("lm-2", "vscode-lm/scripted/denied"))[0],
      missing: (await ask("lm-3", "vscode-lm/scripted/nobody"))[0],
      empty: await ask("lm-4", "vscode-lm/scripted/empty"),
      broken: (await ask("lm-5", "vscode-lm/scripted/broken"))[0],
      blocked: (await ask("lm-6", "vscode-lm/scripted/blocked"))[0],
      // The whole vendor cools down after a block.
      cooling: (await ask("lm-7", "vscode-lm/scripted/echo"))[0],
    };
    assert.deepEqual(seen, {
      denied: "auth",
      missing: "unknown-model",
      empty: ["ok", ""],
      broken: "error",
      blocked: "rate-limit",
      cooling: "rate-limit",
    });
  });
});
