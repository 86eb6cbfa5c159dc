import assert from "node:assert/strict";
import * as vscode from "vscode";
import { offered } from "../harness/offered.ts";
import { activated, host } from "./window.ts";

describe("activation", () => {
  it("takes at most 20 ms of the processor, and the host is loaded afterwards", async () => {
    const { activationMs, activationCpuMs } = await activated();
    console.log(`activate: ${activationMs.toFixed(2)} ms, of the processor ${activationCpuMs.toFixed(2)} ms`);
    assert.ok(activationCpuMs <= 20, `activate took ${activationCpuMs.toFixed(1)} ms`);
    await host();
  });

  it("registers every command of the table, and every one that the manifest names", async () => {
    await activated();
    const registered = new Set(await vscode.commands.getCommands(true));
    const manifest = vscode.extensions.getExtension("orch.orch")?.packageJSON as {
      readonly contributes: { readonly commands: readonly { readonly command: string }[] };
    };
    const wanted = [
      ...offered.map(({ name }) => `orch.${name}`),
      ...manifest.contributes.commands.map(({ command }) => command),
    ];
    assert.deepEqual(
      wanted.filter((id) => !registered.has(id)),
      [],
    );
  });
});
