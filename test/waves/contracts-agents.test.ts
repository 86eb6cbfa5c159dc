import assert from "node:assert/strict";
import { agentSteps } from "../support/agent-steps.ts";
import { type ContractRepo, makeContractRepo, net, sources, strongSteps, trimmed } from "../support/contract-repo.ts";
import { type CliDocument, orchJson } from "../support/orch-cli.ts";
import { processesIn } from "../support/own-processes.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";

const dotless = trimmed.replace('"-")', '"-").replace(".", "")');
const table = sources["tests/test_table.py"] ?? "";
const byLine = (sources["src/table.py"] ?? "").replace(
  "text.split()",
  "[w for l in text.splitlines() for w in l.split()]",
);
const tampered = table.replace('["a", "b"]', 'rows("a b")');

/** The newest prompt that fits answers: what was sent back comes before the task itself. */
const steps = [
  ...strongSteps,
  ...agentSteps("What was wrong with the last attempt.*src/tax\\.py", { "src/tax.py": undefined }),
  ...agentSteps("Task: Trim slugs", { "src/slug.py": trimmed }),
  ...agentSteps("Task: Net prices", { "src/price.py": net, "src/tax.py": "RATE = 20\n" }),
  ...agentSteps("Task: Rows by line", { "src/table.py": byLine, "tests/test_table.py": tampered }),
  ...agentSteps("Task: Unmapped", {}, { status: "blocked", summary: "src/other.py is not there" }),
  ...agentSteps("Task: Slugs without dots", { "src/slug.py": dotless }),
];

describe("e2e: a wave with a real agent, offline @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;
  let work: ContractRepo;

  before(async () => {
    server = await startScriptedModelServer({ steps });
    work = await makeContractRepo(server.baseUrl, { "pi-cheap": { client: "pi", model: "direct/scripted" } });
    await work.trust();
    const cheap = { worker: "pi-cheap", ladder: [] };
    await work.put("T1", cheap);
    await work.put("T2", cheap);
    await work.put("T3", { ...cheap, ladder: ["direct/strong"] });
    await work.put("T4", { ...cheap, acceptance: [{ id: "x", text: "x", check: "there" }] });
    await work.put("T5", cheap);
  });
  after(async () => {
    await work?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  it("passes, passes on feedback in its own session, tampers and escalates, BLOCKED by its word, built on", async () => {
    const wave: CliDocument = await orchJson(
      work.place,
      ...["run", "--title", "Agents", "--parallel", "3"],
      ...work.paths("T1", "T2", "T3", "T4", "T5"),
    );
    const rows = wave.data.contracts.map((row: Record<string, unknown>) => [
      row["id"],
      row["phase"],
      row["workers"],
      row["attempts"],
    ]);
    assert.deepEqual(
      rows,
      [
        ["T1", "awaiting-review", ["pi-cheap"], 1],
        ["T2", "awaiting-review", ["pi-cheap"], 2],
        ["T3", "awaiting-review", ["pi-cheap", "direct/strong"], 2],
        ["T4", "blocked", ["pi-cheap"], 1],
        ["T5", "awaiting-review", ["pi-cheap"], 1],
      ],
      JSON.stringify(wave.data.text),
    );
    assert.equal(wave.code, 3);
    const log = await work.repo.read(`.orch/runs/${wave.data.run}/events.jsonl`);
    assert.match(String(log), /"kind":"retry","sameSession":true/);
    assert.doesNotMatch(String(log), /"severity":"WARN"/, "honest work is not warned of");
    assert.equal(await work.repo.git("status", "--porcelain"), "?? .orch/");
    assert.deepEqual(processesIn(work.repo.base), []);
  });

  it("all accepted, merged in one go, and final is green", async () => {
    const ids = ["T1", "T2", "T3", "T5"];
    for (const id of ids) assert.equal((await orchJson(work.place, "review", id, "--accept")).code, 0);
    const merged = await orchJson(work.place, "merge", ...ids);
    assert.equal(merged.code, 0, JSON.stringify(merged));
    assert.equal(await work.repo.git("diff", "--name-only"), "src/price.py\nsrc/slug.py\nsrc/table.py");
    const done = await orchJson(work.place, "final");
    assert.equal(done.code, 0, JSON.stringify(done));
  });
});
