import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { generate } from "../../../shared/model/rule.ts";
import { sourceRoot } from "../../support/source-root.ts";

describe("rules/schema.json", () => {
  it("is what the zod schema makes (npm run gen)", () => {
    for (const { path: file, text } of generate())
      assert.equal(fs.readFileSync(path.join(sourceRoot, file), "utf8"), text);
  });

  it("names every kind, for editors", () => {
    const text = generate()[0]?.text ?? "";
    for (const kind of ["line", "text-required", "balanced", "ast", "unbound", "diff-line", "tree", "action"])
      assert.ok(text.includes(`"const": "${kind}"`), kind);
  });
});
