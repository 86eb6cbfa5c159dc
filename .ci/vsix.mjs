// Packs dist/ and the manifest into a .vsix. What goes in is .vscodeignore's allow-list; no script of the package runs.
import fs from "node:fs";
import path from "node:path";
import { ROOT, tool } from "./shell.mjs";

/** Resolves with vsce's exit code. `file` is relative to the root or absolute. */
export function packVsix(file) {
  fs.mkdirSync(path.dirname(path.resolve(ROOT, file)), { recursive: true });
  const quiet = ["--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links"];
  return tool("@vscode/vsce", ["package", ...quiet, "--out", file]);
}
