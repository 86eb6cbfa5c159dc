// Names that no shell line asks for yet, or not alone.
import { deepEqual } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { offerFor } from "../../shared/app/completion/offer.ts";
import { createCompletionFacts } from "../../shared/adapters/completion-facts.ts";
import { makeTempRepo } from "../support/temp-repo.ts";

describe("names of contracts for completion", () => {
  it("are those of the files, then those that runs worked on, each once", async () => {
    const repo = await makeTempRepo({
      files: {
        ".orch/contracts/T2.json": "{}",
        ".orch/contracts/T1.json": "not JSON: its name is all that is wanted",
        ".orch/contracts/notes.md": "",
        ".orch/runs/r-20260101-000000-aaaa/T2/attempt-1/guard.json": "{}",
        ".orch/runs/r-20260102-000000-bbbb/T9/attempt-1/guard.json": "{}",
        ".orch/runs/r-20260102-000000-bbbb/replies/q-1.json": "{}",
        "docs/readme.md": "",
      },
    });
    try {
      const facts = (cwd: string) =>
        createCompletionFacts({
          cwd,
          configDir: "/",
          cacheDir: "/",
          runsDirs: (root) => [path.join(root, ".orch/runs")],
        });
      deepEqual(facts(repo.root).contracts(), ["T1", "T2", "T9"]);
      deepEqual(facts(repo.root).contractFiles(), [".orch/contracts/T1.json", ".orch/contracts/T2.json"]);
      deepEqual(facts(repo.path("docs")).contractFiles(), ["../.orch/contracts/T1.json", "../.orch/contracts/T2.json"]);
    } finally {
      await repo.cleanup();
    }
  });
});

describe("names of workers for completion", () => {
  it("are those of the table, then the person's and the project's own", async () => {
    const repo = await makeTempRepo({ files: { ".orch/config.json": '{"workers": {"theirs": {}, "sonnet": {}}}' } });
    try {
      const config = path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch");
      fs.mkdirSync(config, { recursive: true });
      fs.writeFileSync(path.join(config, "config.json"), '{"workers": {"mine": {}}}');
      const place = { env: repo.env, platform: process.platform, moduleUrl: import.meta.url, cwd: repo.root };
      for (const line of ["do --worker ", "dispatch T1 --worker="]) {
        const offer = await offerFor(line.split(" "), place);
        const words = offer.kind === "words" ? offer.words.map(({ value }) => value.replace("--worker=", "")) : [];
        deepEqual(words.slice(0, 4), ["sonnet", "opus", "haiku", "pi"], line);
        deepEqual(words.slice(-2), ["mine", "theirs"], line);
      }
    } finally {
      await repo.cleanup();
    }
  });
});
