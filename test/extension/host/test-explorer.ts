// The Test Explorer: features' tests by the real test program, gates as a run judged.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import { demoRequest } from "../../../shared/app/demo/cassette.ts";
import { answer, ended, start } from "./started.ts";
import { host, until } from "./window.ts";

function below(items: vscode.TestItemCollection | undefined): readonly vscode.TestItem[] {
  return items === undefined ? [] : [...items].map(([, item]) => item);
}

describe("the Test Explorer", () => {
  it("lists features, and after their tests ran, each test with its place", async () => {
    await ended(await start("new", { words: ["Billing/Invoice"], prompt: demoRequest }));
    const doing = await start("do");
    await answer(doing, "trust");
    assert.equal((await ended(doing)).state.result?.code, 0);
    const { controller } = (await host()).tests;
    await vscode.commands.executeCommand("testing.refreshTests");
    const features = await until("the feature", () => {
      const found = below(controller.items.get("features")?.children);
      return found.length > 0 && found;
    });
    assert.deepEqual(
      features.map(({ label, uri }) => [label, uri?.path.split("/").at(-1)]),
      [["Billing/Invoice", "Tests.py"]],
    );
    await vscode.commands.executeCommand("testing.runAll");
    const cases = await until("the tests", () => {
      const found = below(features[0]?.children);
      return found.length > 0 && found;
    });
    assert.ok(
      cases.length > 3 && cases.every(({ label }) => label.startsWith("test_")),
      cases.map(({ label }) => label).join(),
    );
  });

  it("shows the gates of what do tried, under the feature", async () => {
    const { controller } = (await host()).tests;
    const [invoice] = below(controller.items.get("gates")?.children);
    assert.equal(invoice?.label, "Billing/Invoice");
    const names = below(invoice.children).map(({ label }) => label);
    for (const gate of ["scope", "standards", "structure"]) assert.ok(names.includes(gate), names.join());
  });
});
