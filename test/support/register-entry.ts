import { createFiles } from "../../shared/adapters/files.ts";
import { createLocks } from "../../shared/adapters/lock.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { absPath, inRoot } from "../../shared/base/paths.ts";
import { rootRegistry, updateRegistry, withFeature } from "../../shared/features/registry.ts";

/** A process of its own that registers features as commands do: under a lock that other processes want too. */
const [root = "", prefix = "", count = "0"] = process.argv.slice(2);
const locks = createLocks(createProcess());
for (let at = 0; at < Number(count);) {
  const taken = locks.try(inRoot(absPath(root), "lock.db"), { host: "cli", what: "test" });
  if (taken.kind === "busy") {
    await new Promise(setImmediate);
    continue;
  }
  using _lock = taken.lock;
  await updateRegistry(createFiles(), absPath(root), rootRegistry, (text) =>
    withFeature(text, { domain: "Shop", name: `${prefix}${at}` }),
  );
  at += 1;
}
