import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { type FeatureRepo, makeFeatureRepo, projectFiles } from "./feature-repo.ts";
import { orchJson } from "./orch-cli.ts";
import { leanPath } from "./pytest.ts";
import type { TempRepo } from "./temp-repo.ts";
import { treeOf } from "./tree-of.ts";

/**
 * A repository in the middle of a person's day: a feature that `new` has just made, and work of every kind beside it and
 * in it. `reset` brings exactly this moment back, byte for byte, as often as a test wants it.
 */
export interface BusyRepo extends FeatureRepo {
  /** `treeOf` at the moment that `reset` brings back. */
  readonly start: readonly string[];
  reset(): Promise<void>;
}

export const busySlice = "features/Billing/Invoice";
const run = promisify(execFile);

const tracked: Readonly<Record<string, string>> = {
  ...projectFiles,
  ".gitignore": "__pycache__/\n.venv/\n*.log\n",
  "docs/crlf.txt": "one\r\ntwo\r\nthree\r\n",
  "docs/gone.txt": "removed, not staged\n",
  "docs/gone-staged.txt": "removed and staged\n",
  "docs/staged.txt": "as committed\n",
  "docs/twice.txt": "as committed\n",
  "docs/loose.txt": "as committed\n",
  "bin/tool.sh": "#!/bin/sh\nexit 0\n",
};

/** `prepare` runs before the moment is kept. */
export async function makeBusyRepo(baseUrl: string, prepare?: (work: FeatureRepo) => Promise<void>): Promise<BusyRepo> {
  const made = await makeFeatureRepo(baseUrl, { files: tracked, folder: "Werk ü 日" });
  const work = {
    ...made,
    place: { ...made.place, env: { ...made.place.env, PATH: leanPath(made.place.env["PATH"]) } },
  };
  const { repo, place } = work;
  const begun = await orchJson(place, "new", "Billing/Invoice", "Totals of an invoice");
  if (!begun.ok) throw new Error(begun.summary);
  await work.trust();
  fs.rmSync(repo.path(".orch", "runs"), { recursive: true, force: true });
  await beBusy(repo);
  await prepare?.(work);
  const kept = `${repo.base}.kept`;
  await run("cp", ["-a", repo.base, kept]);
  return {
    ...work,
    start: await treeOf(repo),
    async reset() {
      fs.rmSync(repo.base, { recursive: true, force: true, maxRetries: 5 });
      await run("cp", ["-a", kept, repo.base]);
    },
    async [Symbol.asyncDispose]() {
      fs.rmSync(kept, { recursive: true, force: true });
      await work[Symbol.asyncDispose]();
    },
  };
}

async function beBusy(repo: TempRepo): Promise<void> {
  await repo.write("docs/staged.txt", "staged\n");
  await repo.write("docs/twice.txt", "staged\n");
  await repo.write("docs/new-staged ü.txt", "staged and new\r\n");
  await repo.git("add", "docs/staged.txt", "docs/twice.txt", "docs/new-staged ü.txt");
  await repo.git("rm", "-q", "docs/gone-staged.txt");
  await repo.write("docs/twice.txt", "staged, then edited\n");
  await repo.write("docs/loose.txt", "edited\n");
  await repo.write("docs/crlf.txt", "one\r\nzwei\r\nthree\r\n");
  fs.rmSync(repo.path("docs/gone.txt"));
  fs.chmodSync(repo.path("bin/tool.sh"), 0o755);
  await repo.write("notes 日本.txt", "untracked\n", 0o600);
  await repo.link("link to nowhere", "not/there");
  await repo.write(".venv/pyvenv.cfg", "ignored\n");
  fs.mkdirSync(repo.path("empty folder"));

  await repo.write(`${busySlice}/Überlegung.md`, "mine\r\nwith two line ends\n");
  await repo.write(`${busySlice}/run.sh`, "#!/bin/sh\nexit 0\n", 0o755);
  await repo.write(
    `${busySlice}/logo.bin`,
    Uint8Array.from({ length: 3000 }, (_, at) => (at * 7) % 256),
  );
  await repo.write(`${busySlice}/debug.log`, "ignored, and mine\n");
  await repo.link(`${busySlice}/latest`, "run.sh");
  fs.mkdirSync(repo.path(busySlice, "drafts"));
  await repo.git("add", `${busySlice}/Schema.py`, `${busySlice}/Überlegung.md`);
  await repo.write(`${busySlice}/Überlegung.md`, "mine\r\nwith two line ends\nand more since\n");
}

/** Index and working tree outside the slice, as git tells the difference from HEAD. */
export async function loose(repo: TempRepo): Promise<readonly string[]> {
  const others = ["--", ".", `:(exclude)${busySlice}`, ":(exclude).features.json"];
  return [
    await repo.git("diff", "--cached", "--binary", ...others),
    await repo.git("diff", "--binary", ...others),
    await repo.git("status", "--porcelain", "--untracked-files=all", "--ignored", ...others, ":(exclude).orch"),
  ];
}

/** Lock files of git that nobody holds any more. */
export function locksLeft(repo: TempRepo): readonly string[] {
  const git = path.join(repo.root, ".git");
  return fs
    .readdirSync(git, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".lock") && !name.includes("objects"));
}
