import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import type { Persistence, Recipe } from "../../../../shared/adapters/recipes/recipe.ts";
import { recipes } from "../../../../shared/adapters/recipes/recipes.ts";
import { sourceRoot } from "../../../support/source-root.ts";

const read = (name: string): string => fs.readFileSync(path.join(sourceRoot, name), "utf8");
const rows = read("docs/workers.md")
  .split("\n")
  .filter((line) => line.startsWith("| `"))
  .map((line) => line.split("|").map((cell) => cell.trim()));

/** What the tests run. */
const pinned = JSON.parse(read(".ci/clients.json")) as Readonly<Record<string, { readonly version: string }>>;
const { devDependencies } = JSON.parse(read("package.json")) as { readonly devDependencies: Record<string, string> };

const firstNames: Readonly<Record<string, string>> = { claude: "sonnet", reasonix: "rx-flash" };
const resumes = { "cache-warm": /^(?:warm|yes)$/, cold: /^no/, none: /^no$/ } as const;

describe("the table of workers in the docs says what the recipes say", () => {
  for (const { client, tier, version, can, persists } of Object.values<Recipe>(recipes)) {
    it(client, () => {
      const [, , , seen = "", told, resume = "", readOnly = "", , patience] =
        rows.find(([, ids]) => ids?.startsWith(`\`${firstNames[client] ?? client}\``)) ?? [];
      assert.deepEqual([seen, told, patience], [version?.tested ?? "never", tier, patienceOf(persists)]);
      assert.match(resume, resumes[can.resume]);
      assert.match(readOnly, can.readOnly ? /^yes/ : /^no$/);
    });

    if (tier !== "untested")
      it(`${client}: was seen with the version that the tests run`, () => {
        const runs = pinned[client]?.version ?? devDependencies["@earendil-works/pi-coding-agent"];
        assert.equal(version?.tested, runs);
      });
  }
});

function patienceOf(persists: Persistence | undefined): string {
  if (persists === undefined) return "";
  const { requests, seconds, fixed } = persists;
  return `${requests} requests, ${seconds} s${fixed === true ? ", fixed" : ""}`;
}
