import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { sourceRoot } from "./source-root.ts";

const root = path.join(sourceRoot, "test", "golden");

/** Compares with the kept text; `RESET_GOLDEN=1` writes it anew, so that a change of words is a reviewed diff. */
export function assertGolden(name: string, text: string): void {
  const file = path.join(root, name);
  if (process.env["RESET_GOLDEN"] === "1") {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
    return;
  }
  assert.ok(fs.existsSync(file), `no golden text ${name}: write it with RESET_GOLDEN=1`);
  assert.equal(text, fs.readFileSync(file, "utf8"));
}
