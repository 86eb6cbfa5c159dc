import { treeDisk, type TreeDisk } from "../../shared/adapters/tree-disk.ts";

/** The calls that change names in the person's tree. */
export const treeCalls = [
  "moveAside",
  "link",
  "copyNew",
  "symlink",
  "unlink",
  "mkdir",
  "rmdir",
  "discard",
] as const satisfies readonly (keyof TreeDisk)[];

export interface WatchedDisk {
  readonly disk: TreeDisk;
  readonly calls: () => number;
}

/** The machine's disk, with `then` done right before call `at` (1-based), or right after the last when it is more. */
export function diskWith(at: number, then: () => Promise<void>): WatchedDisk {
  let calls = 0;
  const disk = new Proxy(treeDisk, {
    get: (object, key, receiver) => {
      const value: unknown = Reflect.get(object, key, receiver);
      if (typeof value !== "function") return value;
      return async (...args: readonly unknown[]) => {
        calls += 1;
        if (calls === at) await then();
        return (await Reflect.apply(value, object, args)) as unknown;
      };
    },
  });
  return { disk, calls: () => calls };
}
