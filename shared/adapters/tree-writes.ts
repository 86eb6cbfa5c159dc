import { writeFile } from "node:fs/promises";
import type { FileReplacement, TreeWrites } from "../ports/tree-writes.ts";
import { shown, toBytes } from "./git-walk.ts";
import type { TreeGround } from "./tree-disk.ts";
import { settleWrites, unfinishedWrites } from "./tree-settle.ts";
import { type TreeStep, writeTree } from "./tree-write.ts";

export function createTreeWrites(ground: TreeGround): TreeWrites {
  return {
    async replaceFiles(by, files) {
      const written = await writeTree(ground, { by, steps: files.map(stepOf), prune: false });
      return written.kind === "changed" ? { kind: "changed", paths: [shown(written.path)] } : { kind: written.kind };
    },
    unfinishedWrites: () => unfinishedWrites(ground),
    settleWrites: (trash) => settleWrites(ground, trash),
  };
}

function stepOf({ path, old, next }: FileReplacement): TreeStep {
  const own = toBytes(path);
  switch (next?.kind) {
    case undefined:
      return { path: own, old, next: undefined };
    case "symlink":
      return { path: own, old, next: { kind: "symlink", target: toBytes(next.target) } };
    case "file":
      return {
        path: own,
        old,
        next: {
          kind: "file",
          fill: (at) => writeFile(at, next.data, { flag: "wx" }),
          mode: (was) => next.mode ?? was,
        },
      };
  }
}
