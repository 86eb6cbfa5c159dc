// What the host tests share: the activated extension, the opened folder, waiting without sleeping.
import assert from "node:assert/strict";
import * as vscode from "vscode";
import type { Host } from "../../../extension/host.ts";
import type { OrchApi } from "../../../extension/main.ts";

export async function activated(): Promise<OrchApi> {
  const extension = vscode.extensions.getExtension<OrchApi>("orch.orch");
  assert.ok(extension, "the extension under test is there");
  return extension.activate();
}

export async function host(): Promise<Host> {
  const ready = await (await activated()).host();
  await ready.ready;
  return ready;
}

/** What package.json contributes, in the window's language. */
export function contributes<T>(): T {
  const extension = vscode.extensions.getExtension("orch.orch");
  assert.ok(extension);
  return (extension.packageJSON as { readonly contributes: T }).contributes;
}

export function folder(): string {
  const first = vscode.workspace.workspaceFolders?.[0];
  assert.ok(first, "a folder is open");
  return first.uri.fsPath;
}

/** Polls until `look` gives something; fails with `what` after the deadline. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  deadlineMs = 120_000,
): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (performance.now() > end) throw new Error(`waited ${deadlineMs} ms for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
