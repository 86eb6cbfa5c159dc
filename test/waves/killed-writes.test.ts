import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { treeDisk } from "../../shared/adapters/tree-disk.ts";
import { type ContractRepo, makeContractRepo, sources, trimmed } from "../support/contract-repo.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { orch, orchJson } from "../support/orch-cli.ts";
import { type ScriptedModelServer, startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import { treeCalls } from "../support/tree-steps.ts";

const head = Array.from({ length: 8 }, (_, n) => `# ${n}\n`).join("");
const reply = { text: JSON.stringify({ files: { "src/slug.py": `${head}${trimmed}` } }) };
const steps = [{ match: { user: "Task: Trim slugs" }, reply }];
const mine = (text: string): string => text.replace("# 0\n", "# mine, uncommitted\n");

describe("e2e: a merge that was killed while it wrote @slow", function () {
  this.timeout(600_000);
  let server: ScriptedModelServer;
  before(async () => {
    server = await startScriptedModelServer({ steps });
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  /** T1 is accepted, the person has edited its file, and a merge died right after it had moved that file aside. */
  async function torn(): Promise<ContractRepo & { readonly edited: string }> {
    const work = await makeContractRepo(server.baseUrl);
    const { repo, place } = work;
    await repo.commit("longer", { "src/slug.py": `${head}${sources["src/slug.py"]}` });
    await work.trust();
    assert.equal((await orchJson(place, "run", "--title", "Slugs", ...work.paths("T1"))).code, 0);
    assert.equal((await orchJson(place, "review", "T1", "--accept")).code, 0);
    const edited = mine(fs.readFileSync(repo.path("src/slug.py"), "utf8"));
    fs.writeFileSync(repo.path("src/slug.py"), edited);
    const runs = repo.path(".orch/runs");
    const patch = fs
      .readdirSync(runs)
      .map((run) => path.join(runs, run, "T1", "attempt-1", "diff.patch"))
      .find((at) => fs.existsSync(at));
    const kill = new KillSwitch(3);
    const disk = kill.wrap(treeDisk, treeCalls);
    const git = await createGit({ folder: repo.root, process: createProcess(), env: repo.env, disk });
    assert.equal(await kill.run(() => git.applyPatch(fs.readFileSync(patch ?? ""))), "stopped");
    assert.equal(fs.existsSync(repo.path("src/slug.py")), false);
    return { ...work, edited };
  }

  const slug = ({ repo }: ContractRepo): string => fs.readFileSync(repo.path("src/slug.py"), "utf8");

  it("status and doctor name it, and doctor --fix puts it back", async () => {
    await using work = await torn();
    const { place } = work;
    const status = await orch(place, "status");
    assert.match(
      status.stdout,
      /1 file as a command left it that was ended while it wrote: src\/slug\.py\. The next command that writes puts back what was there/,
    );
    assert.match(status.stdout, /1 file to put back\nNext: orch doctor --fix/);
    const doctor = await orch(place, "doctor");
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /fail {2}writes .*ended while it wrote: src\/slug\.py/);
    assert.match((await orch(place, "doctor", "--fix")).stdout, /writes +mended: put back src\/slug\.py/);
    assert.equal(slug(work), work.edited);
    assert.doesNotMatch((await orch(place, "status")).stdout, /put back/);
  });

  it("the next merge puts it back and then merges onto it", async () => {
    await using work = await torn();
    const merged = await orch(work.place, "merge", "T1");
    assert.equal(merged.code, 0, merged.stderr);
    assert.match(`${merged.stdout}${merged.stderr}`, /put back, as a command was ended while it wrote: src\/slug\.py/);
    assert.equal(slug(work), mine(`${head}${trimmed}`));
  });

  it("a list of what can be restored puts it back first", async () => {
    await using work = await torn();
    assert.match((await orch(work.place, "restore")).stdout, /Nothing to restore/);
    assert.equal(slug(work), work.edited);
  });

  it("what was saved since stands, and the list names the file from before", async () => {
    await using work = await torn();
    fs.writeFileSync(work.repo.path("src/slug.py"), "# newer\n");
    const listed = await orchJson(work.place, "restore");
    assert.match(
      listed.summary,
      /1 entry to restore, the newest is \S+: merge of src\/slug\.py, as it stood before it was written/,
    );
    assert.equal(slug(work), "# newer\n");
    const id = /newest is (\S+):/.exec(listed.summary)?.[1] ?? "";
    const back = await orchJson(work.place, "restore", id);
    assert.equal(back.code, 4);
    const beside = `src/slug.py.restored-${id}`;
    assert.equal(fs.readFileSync(work.repo.path(beside), "utf8"), work.edited);
  });
});
