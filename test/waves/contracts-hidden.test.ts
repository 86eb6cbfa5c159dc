import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type ContractRepo, makeContractRepo, sources, trimmed } from "../support/contract-repo.ts";
import { orchJson } from "../support/orch-cli.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const magic = "zq-4711-zq";
const hiddenTest = `import unittest\n\nfrom src.slug import slugify\n\n\nclass Hidden(unittest.TestCase):\n    def test_secret_rule(self) -> None:\n        self.assertEqual(slugify(" ${magic.toUpperCase()} "), "${magic}")\n`;
const files = (text: string): string => JSON.stringify({ files: { "src/slug.py": text } });
/** Passes its own check and not the hidden one, until it is told that something is missing. */
const half = (sources["src/slug.py"] ?? "").replace("text.lower()", 'text.lower().replace(" a b ", "a b")');

/** Every file below these folders that holds the text: what a worker of the same person could stumble over. */
function holding(text: string, ...folders: readonly string[]): readonly string[] {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => fs.readFileSync(file).includes(text)),
  );
}

describe("e2e: hidden tests of a contract @slow", function () {
  this.timeout(600_000);

  for (const mode of ["names", "none", "full"] as const) {
    it(`hidden_feedback ${mode}: fails, is told ${mode === "full" ? "all" : "no more than that"}, passes`, async () => {
      await using server: ScriptedModelServer = await startScriptedModelServer({
        steps: [
          { match: { user: "last attempt" }, reply: { text: files(trimmed) } },
          { match: { user: "Task: Trim slugs" }, reply: { text: files(half) } },
        ],
      });
      await using work: ContractRepo = await makeContractRepo(server.baseUrl);
      await work.trust();
      const hidden = path.join(work.repo.base, "elsewhere");
      fs.mkdirSync(hidden);
      fs.writeFileSync(path.join(hidden, "test_hidden.py"), hiddenTest);
      await work.put("T1", {
        hidden_files: [{ from: path.join(hidden, "test_hidden.py"), to: "tests/test_hidden.py" }],
        hidden_checks: [
          { name: "the ledger rule", argv: ["python3", "-B", "-m", "unittest", "-q", "tests.test_hidden"] },
        ],
        hidden_feedback: mode,
      });
      const wave = await orchJson(work.place, "run", "--title", "Hidden", ...work.paths("T1"));
      assert.deepEqual(
        wave.data.contracts.map((row: Record<string, unknown>) => [row["phase"], row["attempts"]]),
        [["awaiting-review", 2]],
        JSON.stringify(wave),
      );
      const prompts = server.calls.map((call) => JSON.stringify(call)).join("\n");
      const leaks = holding(magic, path.join(work.repo.root), work.repo.home);
      if (mode === "full") {
        assert.ok(prompts.includes(magic));
        return;
      }
      assert.ok(!prompts.includes(magic) && !prompts.includes("test_secret_rule"));
      assert.deepEqual([leaks, holding("test_secret_rule", work.repo.root, work.repo.home)], [[], []]);
      assert.equal(prompts.includes("the ledger rule"), mode === "names");
      const log = String(await work.repo.read(`.orch/runs/${wave.data.run}/events.jsonl`));
      assert.equal(log.includes("the ledger rule"), mode === "names");
    });
  }
});
