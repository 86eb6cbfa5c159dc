// `modify` takes the file that is looked at: its feature, the text that nobody saved, the lines that are selected.
import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import type { RunRequest } from "../../../shared/model/run-files.ts";
import { ended, start } from "./started.ts";
import { folder } from "./window.ts";

const handler = "features/Billing/Invoice/Handler.py";
const spec = "features/Billing/Invoice/spec.md";

async function open(relative: string): Promise<vscode.TextEditor> {
  return vscode.window.showTextDocument(vscode.Uri.file(path.join(folder(), relative)));
}

const onDisk = (relative: string): string => fs.readFileSync(path.join(folder(), relative), "utf8");

describe("modify with what is in the editor", () => {
  it("sends the unsaved text and the selection of a file of the feature, and saves nothing of it", async () => {
    const editor = await open(handler);
    const before = onDisk(handler);
    await editor.edit((edit) => edit.insert(new vscode.Position(0, 0), "# half up\n# or half even?\n"));
    editor.selection = new vscode.Selection(1, 0, 1, 15);
    const started = await start("modify", { prompt: "Answer the question in the comment" });
    const run = await ended(started);
    assert.equal(run.state.result?.code, 0, run.state.result?.summary);
    const { activeBuffer, args } = JSON.parse(
      fs.readFileSync(path.join(started.dir, "request.json"), "utf8"),
    ) as RunRequest;
    assert.deepEqual((args as { readonly words: readonly string[] }).words, []);
    assert.deepEqual(
      [
        activeBuffer?.path,
        activeBuffer?.changed,
        activeBuffer?.text?.startsWith("# half up\n"),
        activeBuffer?.selection,
      ],
      [path.join(folder(), handler), true, true, { startLine: 2, endLine: 2 }],
    );
    const prompt = fs.readFileSync(path.join(started.dir, "spec/prompt-1.md"), "utf8");
    assert.match(prompt, /# or half even\?/);
    assert.match(onDisk(spec), /CONTRACT AMENDMENT 1[^]*Answer the question in the comment/);
    assert.deepEqual([onDisk(handler), editor.document.isDirty], [before, true]);
    await vscode.window.showTextDocument(editor.document);
    await vscode.commands.executeCommand("workbench.action.files.revert");
  });

  it("an unsaved spec is saved first, so that the amendment is put under the person's own words", async () => {
    const editor = await open(spec);
    const overview = editor.document.getText().indexOf("## Inputs");
    await editor.edit((edit) => edit.insert(editor.document.positionAt(overview), "Written and not saved.\n\n"));
    const run = await ended(await start("modify", { prompt: "A second change" }));
    assert.equal(run.state.result?.code, 0, run.state.result?.summary);
    assert.match(onDisk(spec), /Written and not saved\.[^]*CONTRACT AMENDMENT 2[^]*A second change/);
  });
});
