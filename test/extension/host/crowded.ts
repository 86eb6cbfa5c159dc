import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import * as vscode from "vscode";
import { readAtOnce } from "../../../shared/runner/run-feed.ts";
import { folder, host, until } from "./window.ts";

describe("a crowded repository", () => {
  it("lists three hundred features by domain", async () => {
    const { featuresOf } = await host();
    const rows = await featuresOf();
    assert.deepEqual([rows.length, new Set(rows.map(({ domain }) => domain)).size], [300, 12]);
  });

  it("works with settings of the wrong type", async () => {
    const settings = vscode.workspace.getConfiguration("orch");
    assert.equal(settings.inspect("notifications")?.globalValue === undefined, false);
    const { status } = await host();
    assert.match(status().text, /Orch/);
    const document = await vscode.commands.executeCommand<{ readonly code: number }>("orch.scan");
    assert.equal(document.code, 0);
  });

  it("reads the newest runs when it opens, the older ones on demand", async () => {
    const { sessions } = await host();
    const session = sessions.all[0];
    assert.ok(session);
    const runs = path.join(folder(), ".orch/runs");
    for (let n = 10; n < 50; n += 1) {
      const dir = path.join(runs, `r-20260101-1010${n}-abcd`);
      fs.mkdirSync(dir, { recursive: true });
      const event = {
        v: 1,
        run: path.basename(dir),
        seq: 1,
        at: 1,
        type: "run.started",
        command: "scan",
        title: "scan",
        host: "cli",
        version: "1",
        pid: 1,
      };
      fs.writeFileSync(path.join(dir, "events.jsonl"), `${JSON.stringify(event)}\n`);
    }
    await until("the runs", () => session.feed.runs.length + session.feed.olderCount === 40);
    // They came while the window was open, so they were news and all of them were read.
    assert.ok(session.feed.runs.length >= readAtOnce);
  });
});
