import assert from "node:assert/strict";
import type { Context } from "mocha";
import type { Sandbox } from "../../shared/ports/sandbox.ts";

/**
 * Skips, with the reason, what needs a sandbox where this machine has none. For root it fails instead: root can always
 * have one, so its absence is a missing package or a fault of ours.
 */
export async function needsSandbox(test: Context, sandbox: Sandbox): Promise<void> {
  const state = await sandbox.state(new AbortController().signal);
  if (state.kind === "on") return;
  const why = `there is no sandbox here: ${state.why}. ${state.hint}`;
  if (process.getuid?.() === 0) assert.fail(why);
  console.log(`      skipped: ${why}`);
  test.skip();
}
