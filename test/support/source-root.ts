import fs from "node:fs";
import path from "node:path";

function rootOf(from: string): string {
  return fs.existsSync(path.join(from, "tsconfig.json")) && fs.existsSync(path.join(from, "package.json"))
    ? from
    : rootOf(path.dirname(from));
}

/** The checkout, also when the tests run from their compiled form. */
export const sourceRoot = rootOf(import.meta.dirname);
export const fixture = (...parts: readonly string[]): string => path.join(sourceRoot, "test", "fixtures", ...parts);
