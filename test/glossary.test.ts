import { deepEqual, equal } from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = process.cwd();

function exportedTypes(folder: string): Set<string> {
  const names = new Set<string>();
  for (const file of readdirSync(join(root, folder)).filter((name) => name.endsWith(".ts"))) {
    for (const found of readFileSync(join(root, folder, file), "utf8").matchAll(
      /^export (?:interface|type|class) (\w+)/gm,
    ))
      names.add(found[1] ?? "");
  }
  return names;
}

interface Row {
  readonly term: string;
  readonly type: string;
}

function rows(page: string): Row[] {
  return [...page.matchAll(/^\| ([a-z ]+) \| [^|]+ \| (?:`(\w+)`)? ?\|$/gm)].map((found) => ({
    term: found[1] ?? "",
    type: found[2] ?? "",
  }));
}

describe("glossary", () => {
  const types = new Set([...exportedTypes("shared/model"), ...exportedTypes("shared/ports")]);
  const terms = rows(readFileSync(join(root, "docs/glossary.md"), "utf8"));

  it("reads every row of its table", () => equal(terms.length >= 30, true, `${terms.length} rows`));

  it("names types that exist", () => {
    deepEqual(
      terms.filter(({ type }) => type !== "" && !types.has(type)),
      [],
    );
  });

  it("has each term once", () => equal(new Set(terms.map(({ term }) => term)).size, terms.length));

  it("would notice a type that is gone", () => {
    deepEqual(
      rows("| a | b | `Gone` |\n").filter(({ type }) => !types.has(type)),
      [{ term: "a", type: "Gone" }],
    );
  });
});
