// A run on the editor's own models, end to end: the runner asks, this window serves a provider of a test-only extension
// through the real vscode.lm, gates and pytest judge.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { demoRequest } from "../../../shared/app/demo/cassette.ts";
import { parseEvent, type RunEvent } from "../../../shared/model/event.ts";
import { answer, ended, followed, start, type Started } from "./started.ts";
import { folder, host, until } from "./window.ts";

function chain(...models: readonly string[]): void {
  const config = path.join(process.env["XDG_CONFIG_HOME"] ?? "", "orch");
  fs.mkdirSync(config, { recursive: true });
  fs.writeFileSync(path.join(config, "model_chain.json"), JSON.stringify(models));
}

const scripted = (id: string): string => `vscode-lm/scripted/${id}`;

function eventsOf({ dir }: Started): readonly RunEvent[] {
  return fs
    .readFileSync(path.join(dir, "events.jsonl"), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map(parseEvent)
    .flatMap((parsed) => (parsed.kind === "event" ? [parsed.event] : []));
}

describe("a run on the editor's own models", () => {
  before(async () => {
    await host();
    await until("the models", async () => (await vscode.lm.selectChatModels({ vendor: "scripted" })).length > 0);
  });

  it("new and do: spec, check, a first attempt that fails, a second that passes; the cost is unknown, not zero", async () => {
    chain(scripted("cassette"));
    const made = await ended(await start("new", { words: ["Billing/Invoice"], prompt: demoRequest }));
    assert.equal(made.state.result?.code, 0, made.state.result?.summary);
    const doing = await start("do");
    await answer(doing, "trust");
    const done = await ended(doing);
    assert.equal(done.state.result?.code, 0, done.state.result?.summary);
    const [contract] = done.state.contracts;
    assert.deepEqual(
      contract?.attempts.map(({ model, verdict }) => [model, verdict?.kind]),
      [
        [scripted("cassette"), "fail"],
        [scripted("cassette"), "pass"],
      ],
    );
    const asked = eventsOf(doing).filter(({ type }) => type === "completion.requested");
    assert.equal(asked.length, 2);
    assert.equal(done.state.usage?.costUsd, "unknown");
    assert.match((await host()).status().text, /\$\?/);
    assert.match(fs.readFileSync(path.join(folder(), "features/Billing/Invoice/Handler.py"), "utf8"), /def /);
  });

  it("cancelling the run stops the model in the middle of its reply", async () => {
    chain(scripted("slow"));
    const started = await start("modify", { words: ["Billing/Invoice"], prompt: "Slowly" });
    const replies = path.join(started.dir, "replies");
    await until("the claim", () => fs.readdirSync(replies).some((name) => name.endsWith(".claim")));
    assert.equal(await vscode.commands.executeCommand("orch.cancel"), started.run);
    await until("its end", async () => (await followed(started.run)).standing === "cancelled");
    await until("the model", () => fs.existsSync(path.join(folder(), "slow-was-cancelled")));
  });

  // Last: after a refusal for its quota the vendor is left alone for a while.
  const reasons: readonly (readonly [what: string, model: string, why: RegExp])[] = [
    ["a model that is not offered", "nobody", /^unknown model: this editor offers no vscode-lm\/scripted\/nobody/],
    ["NotFound", "gone", /^unknown model: it was taken away/],
    ["NoPermissions", "denied", /^credential refused: not allowed by the person: the person said no/],
    ["a reply without a word", "empty", /^empty reply/],
    ["Blocked", "blocked", /^rate limit: the quota is used up/],
    ["a vendor that cools down", "echo", /^rate limit: scripted refused for its quota/],
  ];
  for (const [what, id, why] of reasons) {
    it(`${what} is told as that, and the chain goes on`, async () => {
      chain(scripted(id), "demo/invoice");
      const started = await start("modify", { words: ["Billing/Invoice"], prompt: `About ${id}` });
      const run = await ended(started);
      const fell = eventsOf(started).flatMap((event) =>
        event.type === "model.fell-through" ? [[event.model, event.why, event.next] as const] : [],
      );
      assert.deepEqual([fell[0]?.[0], fell[0]?.[2]], [scripted(id), "demo/invoice"]);
      assert.match(fell[0]?.[1] ?? "", why);
      assert.equal(run.state.result?.code, 0, run.state.result?.summary);
    });
  }
});
