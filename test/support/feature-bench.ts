import { lstat, mkdir, readdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TreeSubject } from "../../shared/app/tree-judge.ts";
import type { Verdict } from "../../shared/model/verdict.ts";
import { type Bench, makeBench } from "./bench.ts";
import { registryText, slice } from "./sample-slice.ts";

/** Repositories in the states that merge, undo and restore meet. */
export const branch = "Billing/Invoice";
export const dir = "features/Billing/Invoice";

type Options = Parameters<typeof makeBench>[0];

/** main has README and an empty registry; the feature branch has the slice, registered, committed and pushed. */
export async function feature(options: Options = {}): Promise<Bench> {
  const bench = await makeBench({
    remote: true,
    files: { "README.md": "# sample\n", ".features.json": registryText({}) },
    ...options,
  });
  const { repo } = bench;
  await repo.git("switch", "-q", "-c", branch);
  await repo.git("config", `branch.${branch}.orch`, branch);
  await repo.commit("feat: Invoice", { ...slice(dir), ".features.json": registryText({ Invoice: "Billing" }) });
  if (repo.remote !== undefined) await repo.git("push", "-q", "-u", "origin", branch);
  return bench;
}

/** Somebody else pushes a commit to main. */
export async function elsewhere(bench: Bench, files: Readonly<Record<string, string>>): Promise<string> {
  const clone = await bench.repo.clone();
  for (const [file, text] of Object.entries(files)) await writeFile(join(clone, file), text);
  await bench.repo.gitIn(clone, "add", "-A");
  await bench.repo.gitIn(clone, "commit", "-q", "-m", "from somebody else");
  await bench.repo.gitIn(clone, "push", "-q", "origin", "main");
  return await bench.repo.gitIn(clone, "rev-parse", "HEAD");
}

export const judging = (
  verdict: Verdict = { kind: "pass", warnings: [] },
  look?: (subject: TreeSubject) => Promise<void>,
) => {
  const subjects: TreeSubject[] = [];
  return {
    subjects,
    judgeTree: async (subject: TreeSubject) => {
      subjects.push(subject);
      await look?.(subject);
      return verdict;
    },
  };
};

/** What `new` leaves: the branch at main, slice and registry uncommitted. */
export async function started(options: Options = {}): Promise<Bench> {
  const bench = await makeBench({
    remote: true,
    files: { "README.md": "# sample\n", ".gitignore": "*.log\n" },
    ...options,
  });
  const { repo } = bench;
  await repo.git("switch", "-q", "-c", branch);
  await repo.git("config", `branch.${branch}.orch`, branch);
  for (const [file, text] of Object.entries(slice(dir))) await repo.write(file, text);
  await repo.write(".features.json", registryText({ Invoice: "Billing" }));
  return bench;
}

/** The same, committed and pushed, with uncommitted work of every kind on top. */
export async function working(options: Options = {}): Promise<Bench> {
  const bench = await started(options);
  const { repo } = bench;
  await repo.git("add", "-A");
  await repo.git("commit", "-q", "-m", "feat: Invoice");
  await repo.commit("more", { "shared ü.txt": "changed on the branch, outside the slice\n" });
  if (repo.remote !== undefined) await repo.git("push", "-q", "-u", "origin", branch);
  await repo.write(`${dir}/Schema.py`, "# staged\r\n");
  await repo.git("add", `${dir}/Schema.py`);
  await repo.write(`${dir}/Schema.py`, "# staged, then edited\r\n", 0o600);
  await repo.write(`${dir}/Handler.py`, "# unstaged\n");
  await repo.write(`${dir}/loose ü 日本.bin`, new Uint8Array([0, 13, 10, 255]));
  await repo.write(`${dir}/debug.log`, "ignored\n");
  await repo.write(`${dir}/run.sh`, "#!/bin/sh\n", 0o755);
  await repo.link(`${dir}/link.py`, "Handler.py");
  await mkdir(repo.path(dir, "empty"));
  await repo.git("rm", "-q", `${dir}/Controller.py`);
  return bench;
}

/** path -> kind, mode and content of everything below a folder. */
export async function filesIn(root: string, below: string): Promise<Record<string, string>> {
  const out: Record<string, string> = {};
  for (const entry of await readdir(join(root, below), { withFileTypes: true })) {
    const path = `${below}/${entry.name}`;
    if (entry.isSymbolicLink()) out[path] = `link ${await readlink(join(root, path))}`;
    else if (entry.isDirectory()) Object.assign(out, { [path]: "folder" }, await filesIn(root, path));
    else
      out[path] =
        `${((await lstat(join(root, path))).mode & 0o7777).toString(8)} ${(await readFile(join(root, path))).toString("latin1")}`;
  }
  return out;
}
