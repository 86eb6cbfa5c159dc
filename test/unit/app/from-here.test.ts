import { deepEqual } from "node:assert/strict";
import { fromHere, type Standing } from "../../../shared/app/from-here.ts";
import type { CommandResult } from "../../../shared/model/command-result.ts";

const there = new Set([
  "/work/shop/features/Sales/Order",
  "/work/shop/features/Sales/Order/spec.md",
  "/work/shop/.features.json",
  "/work/shop/features/Sales/it's $(id)",
]);
const at = (stand: string, directory?: string): Standing => ({
  stand,
  root: "/work/shop",
  exists: (path) => Promise.resolve(there.has(path)),
  ...(directory === undefined ? {} : { directory }),
});

async function told(next: readonly string[], hint: string, standing: Standing): Promise<unknown> {
  const result: CommandResult = {
    ok: false,
    code: 5,
    summary: "x",
    next,
    error: { code: "tree.dirty", message: "x", hint },
  };
  const typed = await fromHere(result, standing);
  return [typed.next, typed.error?.hint];
}

describe("what is typed next, from where a person stands", () => {
  const spec = "features/Sales/Order/spec.md";
  const stage = "Stage them with: git add features/Sales/Order .features.json, or finish the feature with: orch do";

  it("at the root paths stay, and a file to edit is words", async () => {
    deepEqual(await told([`edit ${spec}`, "orch do"], stage, at("/work/shop")), [[`Edit ${spec}`, "orch do"], stage]);
  });

  it("in a subfolder paths begin there; words that are no paths stay", async () => {
    deepEqual(
      await told([`edit ${spec}`, "orch do Sales/Order"], `Edit ${spec}, then run: orch do`, at("/work/shop/features")),
      [["Edit Sales/Order/spec.md", "orch do Sales/Order"], "Edit Sales/Order/spec.md, then run: orch do"],
    );
    deepEqual(await told([], stage, at("/work/shop/docs")), [
      [],
      "Stage them with: git add ../features/Sales/Order ../.features.json, or finish the feature with: orch do",
    ]);
  });

  it("with -C commands go to that folder", async () => {
    deepEqual(await told([`edit ${spec}`, "orch do", "git push origin main"], stage, at("/work", "shop")), [
      ["Edit shop/features/Sales/Order/spec.md", "orch -C shop do", "git -C shop push origin main"],
      "Stage them with: git -C shop add features/Sales/Order .features.json, or finish the feature with: orch -C shop do",
    ]);
  });

  it("what a shell would run stays in its quotes, in the path and in the folder of -C", async () => {
    const line = `git add -- 'features/Sales/it'\\''s $(id)' .features.json`;
    deepEqual(await told([line, "orch do"], "x", at("/work/shop/features")), [
      [`git add -- 'Sales/it'\\''s $(id)' ../.features.json`, "orch do"],
      "x",
    ]);
    deepEqual(await told(["orch do"], "Run: git status", at("/work", "it's $(id) $1")), [
      [`orch -C 'it'\\''s $(id) $1' do`],
      `Run: git -C 'it'\\''s $(id) $1' status`,
    ]);
  });
});
