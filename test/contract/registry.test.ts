import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { readRegistry } from "../../shared/features/registry.ts";
import { TempDir } from "../support/temp-dir.ts";

describe("registry on disk", function () {
  this.timeout(600_000);

  it("two processes that write at once lose nothing", async () => {
    using dir = new TempDir();
    fs.writeFileSync(dir.at(".features.json"), '{\r\n  "own": true\r\n}\r\n');
    const entry = ["ts", "js"]
      .map((ext) => path.join(import.meta.dirname, "..", "support", `register-entry.${ext}`))
      .find((at) => fs.existsSync(at));
    const register = (prefix: string) =>
      createProcess().run(
        {
          argv: [process.execPath, "--disable-warning=ExperimentalWarning", entry ?? "", dir.path, prefix, "25"],
          cwd: dir.path,
          env: { PATH: process.env["PATH"] ?? "" },
          timeoutMs: 50_000,
          maxOutputBytes: 100_000,
        },
        new AbortController().signal,
      );
    const exits = await Promise.all([register("A"), register("B")]);
    for (const exit of exits)
      assert.deepEqual([exit.kind === "exited" && exit.code, new TextDecoder().decode(exit.stderr)], [0, ""]);
    const { file } = await readRegistry(createFiles(), dir.path);
    const wanted = ["A", "B"].flatMap((prefix) => Array.from({ length: 25 }, (_, at) => `${prefix}${at}`));
    assert.deepEqual(Object.keys(file.known_features).toSorted(), wanted.toSorted());
    const text = fs.readFileSync(dir.at(".features.json"), "utf8");
    assert.ok(text.startsWith('{\r\n  "own": true,\r\n') && text.endsWith("}\r\n") && !/[^\r]\n/.test(text));
    assert.deepEqual(
      fs.readdirSync(dir.path).filter((name) => name.endsWith(".tmp")),
      [],
    );
  });
});
