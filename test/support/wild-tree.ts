import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import fc from "fast-check";
import type { TempRepo } from "./temp-repo.ts";

/**
 * Whatever a person may have in a working tree, at random: every state git knows, names that break careless code, modes,
 * links, empty folders, nested repositories, line ends. `growTree` brings it about, `seenTree` says all of it as text.
 */
const names = [
  "plain.txt",
  "with space.md",
  "ümlaut 日本.txt",
  "-dash",
  "tab\tname",
  "new\nline.txt",
  "quote\"'.txt",
  "back\\slash",
  ".hidden",
  ":(glob)star*",
  "notes.log",
  "a/b/c/deep.py",
  "a/b/sibling.bin",
  "Case.txt",
  "case.txt",
  "x".repeat(60),
] as const;

const contents = {
  empty: "",
  line: "one line\n",
  open: "no end",
  crlf: "crlf\r\nlines\r\n",
  mixed: "mixed\r\nends\n",
  binary: "\u0000binary\u0001",
  long: "y".repeat(70_000),
} as const;
type Content = keyof typeof contents;
const kinds = Object.keys(contents) as readonly Content[];

/** `name` is unique in a tree: one entry each. */
export interface WildEntry {
  readonly name: string;
  readonly inSlice: boolean;
  readonly state: (typeof states)[number];
  readonly first: Content;
  readonly second: Content;
  readonly mode: number;
}

const states = [
  "committed",
  "unstaged",
  "staged",
  "staged-then-edited",
  "staged-new",
  "staged-new-then-edited",
  "intent-to-add",
  "untracked",
  "removed",
  "removed-staged",
  "removed-staged-untracked",
  "now-a-folder",
  "now-a-link",
  "link-now-a-file",
  "mode-changed",
  "link",
  "dangling-link",
  "link-untracked",
  "empty-folder",
  "closed-folder",
  "nested-repository",
  "assumed-unchanged",
] as const;

const entry: fc.Arbitrary<WildEntry> = fc.record({
  name: fc.constantFrom(...names),
  inSlice: fc.oneof({ weight: 3, arbitrary: fc.constant(true) }, { weight: 1, arbitrary: fc.constant(false) }),
  state: fc.constantFrom(...states),
  first: fc.constantFrom(...kinds),
  second: fc.constantFrom(...kinds),
  mode: fc.constantFrom(0o644, 0o755, 0o600, 0o444, 0o640),
});

export interface WildTree {
  readonly entries: readonly WildEntry[];
  /** Lines of `.gitattributes`, and whether git converts line ends. */
  readonly attributes: string;
  readonly autocrlf: boolean;
}

export const wildTree: fc.Arbitrary<WildTree> = fc.record({
  entries: fc.uniqueArray(entry, {
    minLength: 1,
    maxLength: 12,
    // A name that is also another's folder could not be both.
    selector: ({ name, inSlice }) => `${inSlice}${name}`,
  }),
  attributes: fc.constantFrom("", "* text=auto\n", "*.txt text eol=crlf\n", "*.txt text eol=lf\n*.bin -text\n"),
  autocrlf: fc.boolean(),
});

/** `commit` is called once, between what is committed and what has happened since. */
export async function growTree(
  repo: TempRepo,
  slice: string,
  tree: WildTree,
  commit: () => Promise<void>,
): Promise<void> {
  const at = (one: WildEntry): string => `${one.inSlice ? slice : "others"}/${one.name}`;
  if (tree.attributes !== "") await repo.write(".gitattributes", tree.attributes);
  if (tree.autocrlf) await repo.git("config", "core.autocrlf", "true");
  for (const one of tree.entries) await before(repo, at(one), one);
  await commit();
  for (const one of tree.entries) await since(repo, at(one), one);
}

const untrackedStates: ReadonlySet<string> = new Set([
  "staged-new",
  "staged-new-then-edited",
  "intent-to-add",
  "untracked",
  "link-untracked",
  "empty-folder",
  "closed-folder",
  "nested-repository",
]);

async function before(repo: TempRepo, path: string, one: WildEntry): Promise<void> {
  if (untrackedStates.has(one.state)) return;
  if (one.state === "link" || one.state === "link-now-a-file") await repo.link(path, "plain.txt");
  else if (one.state === "dangling-link") await repo.link(path, "../not/there ü");
  else await repo.write(path, contents[one.first], one.mode);
  await repo.git("--literal-pathspecs", "add", "-f", "--", path);
}

async function since(repo: TempRepo, path: string, one: WildEntry): Promise<void> {
  const then = `${contents[one.second]}then\n`;
  const add = (...more: readonly string[]): Promise<string> =>
    repo.git("--literal-pathspecs", "add", "-f", ...more, "--", path);
  const remove = (...more: readonly string[]): Promise<string> =>
    repo.git("--literal-pathspecs", "rm", "-q", "-f", ...more, "--", path);
  // A file that cannot be written is replaced, as an editor would.
  const write = async (text: string): Promise<void> => {
    fs.rmSync(repo.path(path), { force: true });
    await repo.write(path, text, one.mode);
  };
  switch (one.state) {
    case "committed":
    case "link":
    case "dangling-link":
      return;
    case "unstaged":
    case "link-now-a-file":
    case "untracked":
      return await write(then);
    case "staged":
    case "staged-new":
      await write(then);
      await add();
      return;
    case "staged-then-edited":
    case "staged-new-then-edited":
      await write(then);
      await add();
      return await write(`${then}and more\r\n`);
    case "intent-to-add":
      await write(then);
      await add("-N");
      return;
    case "removed":
      return fs.rmSync(repo.path(path));
    case "removed-staged":
      await remove();
      return;
    case "removed-staged-untracked":
      await remove("--cached");
      return await write(then);
    case "now-a-folder":
      fs.rmSync(repo.path(path));
      return await repo.write(`${path}/inside.txt`, then, one.mode);
    case "now-a-link":
      fs.rmSync(repo.path(path));
      return await repo.link(path, "plain.txt");
    case "mode-changed":
      return fs.chmodSync(repo.path(path), one.mode === 0o755 ? 0o644 : 0o755);
    case "link-untracked":
      return await repo.link(path, one.first === "empty" ? "." : "somewhere else");
    case "empty-folder":
      fs.mkdirSync(repo.path(path), { recursive: true });
      return;
    case "closed-folder":
      await repo.write(`${path}/inside.txt`, then);
      fs.mkdirSync(repo.path(path, "hollow"), { mode: 0o700 });
      return fs.chmodSync(repo.path(path), 0o500);
    case "nested-repository":
      fs.mkdirSync(repo.path(path), { recursive: true });
      await repo.gitIn(repo.path(path), "init", "-q", "-b", "inner");
      await repo.write(`${path}/inner.txt`, then);
      await repo.gitIn(repo.path(path), "add", "-A");
      await repo.gitIn(repo.path(path), "commit", "-q", "-m", "inner");
      return await repo.write(`${path}/inner loose.txt`, contents[one.first]);
    case "assumed-unchanged":
      await write(then);
      await repo.git("update-index", "--assume-unchanged", "--", path);
      return;
  }
}

export interface SeenTree {
  /** Path, kind, mode and content of everything but git's own and the runs. */
  readonly files: readonly string[];
  readonly index: readonly string[];
  readonly status: readonly string[];
  readonly refs: readonly string[];
}

export async function seenTree(repo: TempRepo): Promise<SeenTree> {
  const files: string[] = [];
  walk(Buffer.from(repo.root), "", files);
  const raw = (...args: readonly string[]): readonly string[] =>
    execFileSync("git", [...args], { cwd: repo.root, env: { ...repo.env, GIT_OPTIONAL_LOCKS: "0" }, stdio: "pipe" })
      .toString("latin1")
      .split("\0");
  return {
    files,
    index: raw("ls-files", "-z", "--stage", "-v"),
    status: raw("status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored=matching").filter(
      (line) => !/^[?!] \.(?:orch|agents)(?:\/|$)/.test(line),
    ),
    refs: [
      ...(await repo.git("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads", "refs/tags")).split("\n"),
      await repo.git("symbolic-ref", "HEAD"),
    ],
  };
}

/** Git's own folder, and what every command of Orch may make. */
const ours: ReadonlySet<string> = new Set([".git", ".orch", ".agents"]);

/** Paths as bytes: a name need not be UTF-8. */
function walk(root: Buffer, below: string, lines: string[]): void {
  const here = below === "" ? root : Buffer.concat([root, Buffer.from(`/${below}`, "latin1")]);
  for (const name of fs.readdirSync(here, { encoding: "buffer" }).toSorted(Buffer.compare)) {
    const path = below === "" ? name.toString("latin1") : `${below}/${name.toString("latin1")}`;
    if (ours.has(path)) continue;
    const at = Buffer.concat([root, Buffer.from(`/${path}`, "latin1")]);
    const stat = fs.lstatSync(at);
    const mode = (stat.mode & 0o7777).toString(8);
    if (stat.isSymbolicLink()) lines.push(`${path} -> ${fs.readlinkSync(at, "buffer").toString("latin1")}`);
    else if (stat.isDirectory()) {
      lines.push(`${path}/ ${mode}`);
      walk(root, path, lines);
    } else lines.push(`${path} ${mode} ${createHash("sha256").update(fs.readFileSync(at)).digest("hex").slice(0, 16)}`);
  }
}
