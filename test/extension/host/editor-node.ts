// What the runner needs of the editor's own Node, checked inside the extension host.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

describe("the editor's own Node", () => {
  it("has node:sqlite with BEGIN EXCLUSIVE, in the host and in a child started as the runner is", async () => {
    const program = `
      const { DatabaseSync } = require("node:sqlite");
      const db = new DatabaseSync(":memory:");
      db.exec("BEGIN EXCLUSIVE"); db.exec("COMMIT");
      process.stdout.write(process.versions.node);
    `;
    const env = { ...process.env, ELECTRON_RUN_AS_NODE: "1" };
    const child = await promisify(execFile)(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", "-e", program],
      { env },
    );
    const [major = 0, minor = 0] = child.stdout.split(".").map(Number);
    assert.ok(major > 22 || (major === 22 && minor >= 19), child.stdout);
    const { DatabaseSync } = await import("node:sqlite");
    new DatabaseSync(":memory:").close();
  });
});
