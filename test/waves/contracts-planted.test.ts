import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { type ContractRepo, makeContractRepo, trimmed, trimmedEnd } from "../support/contract-repo.ts";
import { orch, orchJson } from "../support/orch-cli.ts";

/** Writes the fix; the first time it also plants a hook in the person's repository and runs `beside`. */
function planting(base: string, beside: string): string {
  const hook = `${base}/repo/.git/hooks/pre-commit`;
  return `#!/bin/sh
cat > /dev/null
printf '${trimmed.replaceAll("\n", "\\n")}' > src/slug.py
if [ ! -e ${base}/once ]; then
  touch ${base}/once
  git -C ${base}/repo config core.fsmonitor 'touch ${base}/fsmonitor; false'
  printf '#!/bin/sh\\ntouch ${base}/hook\\n' > ${hook}
  chmod +x ${hook}
  ${beside}
fi
printf '%s\\n' '${trimmedEnd}'
`;
}

async function open(beside: string): Promise<ContractRepo> {
  const work = await makeContractRepo("http://127.0.0.1:9/v1");
  const { repo } = work;
  const program = path.join(repo.base, "plain-agent");
  fs.writeFileSync(program, planting(repo.base, beside), { mode: 0o755 });
  const plain = { command: program, argv: ["-"], prompt: "stdin", output: { format: "text" } };
  fs.writeFileSync(
    path.join(repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json"),
    JSON.stringify({ workers: { plain }, sandbox: "off" }),
  );
  await work.trust();
  return work;
}

const seal = /repository-seal: core\.fsmonitor, hooks\/pre-commit changed during the attempt/;

describe("e2e: a worker without a sandbox plants a hook @slow", function () {
  this.timeout(600_000);

  it("a lesser fault beside it does not hide it, and no hook runs before a person decided", async () => {
    await using work = await open("git config user.name decoy");
    const { repo, place } = work;
    const at = await work.put("T1", { worker: "plain", ladder: [], max_attempts: 3 });
    const end = await orchJson(place, "run", "--title", "Own", at);
    assert.equal(end.code, 4, JSON.stringify(end));
    assert.match(end.summary, seal);
    assert.match(String(end.error?.hint), /none of them runs before you decided: orch trust/);
    const [row] = end.data?.contracts ?? [];
    if (row !== undefined) assert.equal(row.attempts, 1);
    assert.match((await orch(place, "status")).stdout, seal);

    const init = await orch(place, "init", ".");
    assert.equal(init.code, 0, init.stdout + init.stderr);
    assert.match(init.stdout + init.stderr, /no hook of git's runs, for hooks\/pre-commit changed while a worker/);
    const ran = (): boolean[] => ["hook", "fsmonitor"].map((name) => fs.existsSync(path.join(repo.base, name)));
    assert.deepEqual(ran(), [false, false]);

    const doctor = await orch(place, "doctor");
    assert.match(
      doctor.stdout,
      /hooks\/pre-commit = a hook that changed while a worker could write it \(755 \w+\): kept from/,
    );
    const waits = await orchJson(place, "trust", "--dry-run");
    assert.deepEqual(
      waits.data.gitKeys.map(({ key }: { readonly key: string }) => key),
      ["core.fsmonitor", "hooks/pre-commit"],
    );
    await orchJson(place, "trust", "--hash", waits.data.hash);
    await repo.write("more/keep.txt", "x\n");
    const more = await orch(place, "init", "more");
    assert.equal(more.code, 0, more.stdout + more.stderr);
    assert.deepEqual(ran(), [true, false], "decided: the hook is the person's now");
  });

  it("an attempt that fails for another reason does not hide it either", async () => {
    await using work = await open("exit 3");
    const at = await work.put("T1", { worker: "plain", ladder: [], max_attempts: 1 });
    const end = await orchJson(work.place, "run", "--title", "Own", at);
    assert.equal(end.code, 4, JSON.stringify(end));
    assert.match(end.summary, seal);
  });

  it("nor does a runner that was killed by its own worker", async () => {
    await using work = await open("kill -9 $(ps -o ppid= -p $$)");
    const at = await work.put("T1", { worker: "plain", ladder: [], max_attempts: 1 });
    const end = await orch(work.place, "run", "--title", "Own", at);
    assert.doesNotMatch(end.stdout + end.stderr, seal);
    const init = await orch(work.place, "init", ".");
    assert.match(init.stdout + init.stderr, /no hook of git's runs, for hooks\/pre-commit/);
    assert.ok(!fs.existsSync(path.join(work.repo.base, "hook")));
  });
});
