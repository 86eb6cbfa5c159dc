import assert from "node:assert/strict";
import { createPlainFilesGate } from "../../../shared/gates/plain-files.ts";
import type { ChangedFile } from "../../../shared/model/change.ts";
import { featureContract, found } from "../../support/gate-input.ts";

const changed = (path: string, oldMode: string, newMode: string, more: Partial<ChangedFile> = {}): ChangedFile => ({
  status: oldMode === "000000" ? "added" : newMode === "000000" ? "deleted" : "modified",
  path,
  oldMode,
  newMode,
  added: 1,
  removed: 1,
  binary: false,
  hunks: [],
  ...more,
});
const made = (path: string, mode = "100644"): ChangedFile => changed(path, "000000", mode);
const gone = (path: string, mode = "100644"): ChangedFile => changed(path, mode, "000000");
const moved = (from: string, to: string): ChangedFile =>
  changed(to, "100644", "100644", { status: "renamed", oldPath: from });

const rows: readonly (readonly [name: string, files: readonly ChangedFile[], wanted: readonly string[]])[] = [
  ["plain files", [made("a.py"), gone("b.py"), moved("c.py", "d.py"), changed("e.py", "100644", "100755")], []],
  ["a link, wherever it leads", [made("l", "120000")], ["FAIL file_type_change l"]],
  ["a link that leads elsewhere now", [changed("l", "120000", "120000")], ["FAIL file_type_change l"]],
  ["a link that became a file", [changed("l", "120000", "100644")], ["FAIL file_type_change l"]],
  ["a link taken away", [gone("l", "120000")], []],
  ["a file that became a folder", [gone("a"), made("a/b.py")], ["FAIL file_type_change a/b.py"]],
  ["a folder that became a file", [gone("a/b/c.py"), made("a")], ["FAIL file_type_change a"]],
  ["by a rename", [moved("a", "a/b.py")], ["FAIL file_type_change a/b.py"]],
  ["a name that only begins alike", [gone("a"), made("ab/c.py"), made("a.py")], []],
  ["a file moved away and made anew", [moved("a.py", "b.py"), made("a.py")], []],
];

describe("gate: plain files", () => {
  for (const [name, files, wanted] of rows) {
    it(name, async () =>
      assert.deepEqual(await found(createPlainFilesGate(), { files, contract: featureContract() }), wanted),
    );
  }
});
