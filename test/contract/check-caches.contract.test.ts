import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createProcess } from "../../shared/adapters/process.ts";
import { inRoot } from "../../shared/base/paths.ts";
import { createChecksGate } from "../../shared/gates/checks.ts";
import { featureContract, gateInput } from "../support/gate-input.ts";
import { TempDir } from "../support/temp-dir.ts";

/**
 * A check that failed is run again in the same tree: a file that it left there would be taken for the worker's. Folders
 * without a file are nothing to git and to the gates; some plugins of pytest make them at every start.
 */
describe("caches of a check, with the real pytest", function () {
  this.timeout(600_000);
  let dir: TempDir;
  beforeEach(() => {
    dir = new TempDir();
  });
  afterEach(() => dir[Symbol.dispose]());

  const argvs: readonly (readonly string[])[] = [
    ["-m", "pytest", "-q", "test_sum.py"],
    ["-m", "pytest", "-q", "--ff", "test_sum.py"],
    ["-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sum.py"],
  ];
  for (const argv of argvs)
    it(`python3 ${argv.join(" ")} leaves no file in the tree`, async () => {
      const root = dir.at("tree");
      await mkdir(root);
      await writeFile(inRoot(root, "total.py"), "def total(values):\n    return 3\n");
      await writeFile(
        inRoot(root, "test_sum.py"),
        "from total import total\n\n\ndef test_sum():\n    assert total([1]) == 1\n",
      );
      const gate = createChecksGate({
        tests: { run: () => Promise.reject(new Error("no report was asked for")) },
        process: createProcess(),
        env: { PATH: process.env["PATH"] ?? "", HOME: dir.at("it's a home") },
        ids: { next: () => "m-1" },
        groupOf: () => undefined,
      });
      const contract = featureContract({ checks: [{ name: "sum", argv: ["python3", ...argv] }] });
      const result = await gate.run({ ...gateInput({ contract }), root }, new AbortController().signal);
      assert.ok(result.kind === "ran", JSON.stringify(result));
      assert.deepEqual(
        result.findings.map(({ rule, message }) => [rule, message]),
        [["check_failed", "sum failed with exit code 1"]],
      );
      const files = (await readdir(root, { recursive: true, withFileTypes: true })).filter((one) => !one.isDirectory());
      assert.deepEqual(files.map(({ name }) => name).sort(), ["test_sum.py", "total.py"]);
    });
});
