import assert from "node:assert/strict";
import { repositoryText } from "../../../shared/model/trust.ts";

describe("a repository in a question about trust", () => {
  for (const [where, shown] of [
    ["/home/ann/shop/.git", "/home/ann/shop"],
    ["C:\\shop\\.git", "C:\\shop"],
    ["/srv/shop.git", "/srv/shop.git"],
    ["/home/ann/.github", "/home/ann/.github"],
  ] as const)
    it(`${where} is ${shown}`, () => assert.equal(repositoryText(where), shown));
});
