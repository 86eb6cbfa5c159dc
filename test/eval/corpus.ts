import { execFile } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import * as z from "zod";

/** One case of a guard corpus, as the corpus documents it; unknown fields are left alone. */
const Expected = z.object({
  category: z.string(),
  severity: z.enum(["FAIL", "WARN"]),
  path: z.string().optional(),
  line: z.number().int().optional(),
  side: z.enum(["old", "new"]).optional(),
});
const CaseFacts = z.object({
  id: z.string(),
  title: z.string(),
  lang: z.string(),
  kind: z.enum(["adversarial", "honest"]),
  hard: z.boolean(),
  pattern: z.string(),
  contract: z.object({
    mode: z.enum(["edit", "read_only"]),
    allowed: z.array(z.string()),
    protected: z.array(z.string()),
    max_diff_lines: z.number().int(),
    max_test_diff_lines: z.number().int(),
    checks: z.array(z.string()),
    hidden_checks: z.array(z.string()),
    worktree_links: z.array(z.string()).default([]),
    allow_test_removal: z.array(z.string()).default([]),
  }),
  worker: z.object({
    status: z.string().nullable(),
    exit: z.number().nullable(),
    signal: z.string().nullish(),
    stderr: z.string().nullish(),
    files_changed: z.array(z.string()).nullable(),
    concerns: z.array(z.string()),
  }),
  check_results: z.array(
    z.object({
      cmd: z.string(),
      hidden: z.boolean(),
      exit: z.number().nullable(),
      timed_out: z.boolean().nullish(),
      stdout: z.string().nullish(),
    }),
  ),
  base_special: z
    .object({
      symlinks: z.record(z.string(), z.string()).default({}),
      exec: z.array(z.string()).default([]),
      submodules: z.record(z.string(), z.string()).default({}),
    })
    .default({ symlinks: {}, exec: [], submodules: {} }),
  fills: z.record(z.string(), z.array(z.string())).default({}),
  observed: z
    .object({
      writes_outside: z.array(z.string()).optional(),
      head_moved: z.boolean().optional(),
      skip_worktree: z.array(z.string()).optional(),
      git_config_changed: z.array(z.string()).optional(),
      ignored_files: z.array(z.string()).optional(),
    })
    .default({}),
  expect: z.object({
    verdict: z.enum(["FAIL", "WARN", "PASS"]),
    findings: z.array(Expected),
    may_also: z.array(z.string()),
    warn_ok: z.array(z.string()).default([]),
    must_not: z.array(z.string()),
  }),
  platforms: z.array(z.string()).optional(),
});
export type CaseFacts = z.infer<typeof CaseFacts>;

export interface CorpusCase {
  readonly dir: string;
  readonly facts: CaseFacts;
}

/** `corpus` is the folder that holds `cases/`, or that folder itself. */
export function readCorpus(corpus: string): CorpusCase[] {
  const inner = path.join(corpus, "cases");
  const root = fs.existsSync(inner) ? inner : corpus;
  return fs
    .readdirSync(root)
    .filter((name) => fs.existsSync(path.join(root, name, "case.json")))
    .toSorted()
    .map((name) => {
      const dir = path.join(root, name);
      return { dir, facts: CaseFacts.parse(JSON.parse(fs.readFileSync(path.join(dir, "case.json"), "utf8"))) };
    });
}

export interface Materialised {
  readonly root: string;
  readonly base: string;
  readonly tree: string;
}

/** The environment of every git here: nothing of the machine's own configuration. */
export const gitEnv: Readonly<Record<string, string>> = {
  PATH: process.env["PATH"] ?? "/usr/bin:/bin",
  HOME: os.tmpdir(),
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: os.devNull,
  LC_ALL: "C",
  GIT_AUTHOR_NAME: "corpus",
  GIT_AUTHOR_EMAIL: "corpus@example.test",
  GIT_AUTHOR_DATE: "2024-01-01T00:00:00Z",
  GIT_COMMITTER_NAME: "corpus",
  GIT_COMMITTER_EMAIL: "corpus@example.test",
  GIT_COMMITTER_DATE: "2024-01-01T00:00:00Z",
};

/** A repository at `root`: the base committed, the change applied to index and working tree. */
export async function materialise({ dir, facts }: CorpusCase, root: string): Promise<Materialised> {
  const git = (args: readonly string[], input?: Uint8Array): Promise<string> => gitAt(root, args, input);
  fs.mkdirSync(root, { recursive: true });
  await git(["init", "-q", "-b", "main"]);
  await git(["config", "core.autocrlf", "false"]);
  copyBase(path.join(dir, "base"), root);
  const { symlinks, exec, submodules } = facts.base_special;
  for (const [name, target] of Object.entries(symlinks)) {
    fs.mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    fs.symlinkSync(target, path.join(root, name));
  }
  for (const name of exec) fs.chmodSync(path.join(root, name), 0o755);
  await git(["add", "-A", "-f"]);
  for (const [name, sha] of Object.entries(submodules)) {
    await git(["update-index", "--add", "--cacheinfo", `160000,${sha},${name}`]);
    fs.mkdirSync(path.join(root, name), { recursive: true });
  }
  await git(["commit", "-q", "--allow-empty", "-m", "base"]);
  const base = await git(["rev-parse", "HEAD"]);
  const patch = filled(fs.readFileSync(path.join(dir, "change.patch")), facts.fills);
  if (patch.length > 0) await git(["apply", "--index", "--binary", "--whitespace=nowarn", "-"], patch);
  return { root, base, tree: await git(["write-tree"]) };
}

function gitAt(root: string, args: readonly string[], input?: Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd: root, env: { ...gitEnv }, maxBuffer: 1 << 28 };
    const child = execFile("git", [...args], options, (error, stdout, stderr) => {
      if (error === null) resolve(stdout.trim());
      else reject(new Error(`git ${args[0]}: ${stderr}`, { cause: error }));
    });
    child.stdin?.end(input);
  });
}

/** Names that begin with a dot are kept as `_dot_...`, so that no tool obeys them where the corpus lies. */
function copyBase(from: string, to: string): void {
  if (!fs.existsSync(from)) return;
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const name = entry.name.startsWith("_dot_") ? `.${entry.name.slice("_dot_".length)}` : entry.name;
    const [source, target] = [path.join(from, entry.name), path.join(to, name)];
    if (!entry.isDirectory()) fs.copyFileSync(source, target);
    else {
      fs.mkdirSync(target, { recursive: true });
      copyBase(source, target);
    }
  }
}

function filled(patch: Buffer, fills: CaseFacts["fills"]): Buffer {
  let text = patch.toString("latin1");
  for (const [name, parts] of Object.entries(fills)) text = text.replaceAll(`{{FILL:${name}}}`, parts.join(""));
  return Buffer.from(text, "latin1");
}
