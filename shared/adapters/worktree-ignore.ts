import { readFile } from "node:fs/promises";
import path from "node:path";
import { decode, type GitCall } from "./git-call.ts";
import { valueOf } from "./git-config.ts";
import { nulFields } from "./git-names.ts";

/**
 * The ignore rules of a commit as one list of patterns, the weakest first: the person's own, then each `.gitignore` from
 * the root down, rewritten for the root. A worker's edits of ignore files have no say in what is looked at.
 */
export async function ignoreRulesOf(
  git: GitCall,
  commit: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const config = await git.config();
  const home = env["HOME"] ?? env["USERPROFILE"] ?? "";
  const own = valueOf(config, "core.excludesfile")?.replace(/^~(?=\/)/, home);
  const personal = own ?? path.join(env["XDG_CONFIG_HOME"] ?? path.join(home, ".config"), "git", "ignore");
  const outer = await Promise.all([
    textOf(path.resolve(git.place.root, personal)),
    textOf(path.join(git.place.commonDir, "info", "exclude")),
  ]);
  const listed = nulFields(await git.bytes(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit]));
  const files = listed.filter((name) => name === ".gitignore" || name.endsWith("/.gitignore"));
  const depth = (name: string): number => name.split("/").length;
  const lines = outer.flatMap((text) => rewritten("", text));
  for (const name of files.toSorted((a, b) => depth(a) - depth(b))) {
    const { stdout } = await git.answer(["cat-file", "blob", `${commit}:${name}`]);
    lines.push(...rewritten(name.slice(0, -".gitignore".length), decode(stdout)));
  }
  return lines.map((line) => `${line}\n`).join("");
}

async function textOf(file: string): Promise<string> {
  return readFile(file, "utf8").catch(() => "");
}

/** Lines of an ignore file in `folder` (empty, or ending with `/`) as they would stand in the root's. */
export function rewritten(folder: string, text: string): string[] {
  if (folder.includes("\n")) return [];
  const prefix = folder.replaceAll(/[*?[\\]/g, (letter) => `\\${letter}`);
  return text
    .replace(/^\uFEFF/, "")
    .split("\n")
    .map((line) => line.replace(/\r$/, ""))
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .map((line) => {
      if (folder === "") return line;
      const not = line.startsWith("!") ? "!" : "";
      const pattern = line.slice(not.length);
      const anchored = pattern.replace(/\/\s*$/, "").includes("/");
      return `${not}/${prefix}${anchored ? pattern.replace(/^\//, "") : `**/${pattern}`}`;
    });
}

/** A path as a pattern that means it and nothing else. */
export function exactly(file: string): string {
  return `/${file.replaceAll(/[*?[\\ ]/g, (letter) => `\\${letter}`)}`;
}
