// What a command names as next, pressed as a button in the real editor.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { nextActions } from "../../../extension/next-actions.ts";
import { ended, type Started } from "./started.ts";
import { folder, host, until } from "./window.ts";

function button(line: string): ReturnType<typeof nextActions>[number] {
  const root = vscode.Uri.file(folder());
  const [action] = nextActions({ vscode, root, titleOf: (name) => name }, [line]);
  assert.ok(action, line);
  return action;
}

describe("buttons for what comes next", () => {
  it("edit opens the file", async () => {
    await host();
    const spec = "features/Billing/Invoice/spec.md";
    const edit = button(`edit ${spec}`);
    assert.equal(edit.label, "Edit spec.md");
    await edit.run();
    const shown = await until("the file", () => vscode.window.activeTextEditor?.document.uri.fsPath);
    assert.equal(shown, path.join(folder(), spec));
    await vscode.commands.executeCommand("workbench.action.closeActiveEditor");
  });

  it("the end of a review is started with its option", async () => {
    const accept = button("orch review T1 --accept");
    assert.equal(accept.label, "Accept");
    const started = (await accept.run()) as Started;
    const request = JSON.parse(fs.readFileSync(path.join(started.dir, "request.json"), "utf8")) as {
      readonly command: string;
      readonly args: Readonly<Record<string, unknown>>;
    };
    assert.deepEqual(
      [request.command, request.args["words"], request.args["accept"], request.args["revise"]],
      ["review", ["T1"], true, undefined],
    );
    const { state } = await ended(started);
    assert.equal(state.result?.ok, false, "there is no such contract");
    fs.rmSync(started.dir, { recursive: true });
  });
});
