import assert from "node:assert/strict";
import * as vscode from "vscode";
import { contributes, host } from "./window.ts";

describe("a German window", () => {
  it("says what it says in German, at runtime and in the manifest", async () => {
    assert.equal(vscode.env.language, "de");
    const { models, status } = await host();
    assert.equal(status().tooltip, "Noch kein Lauf in diesem Repository");
    assert.ok(models.information().some(({ name }) => name === "Orch-Kette"));
    const { commands } = contributes<{
      readonly commands: readonly { readonly command: string; readonly title: unknown }[];
    }>();
    const title = commands.find(({ command }) => command === "orch.new")?.title;
    assert.deepEqual(title, { original: "New Feature", value: "Neues Feature" });
  });
});
