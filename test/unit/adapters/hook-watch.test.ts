import { deepEqual } from "node:assert/strict";
import { createHookWatch, type HookNow } from "../../../shared/adapters/hook-watch.ts";
import { absPath } from "../../../shared/base/paths.ts";
import { MemoryFiles } from "../../support/memory-files.ts";

function bench(first: Readonly<Record<string, string>>) {
  const files = new MemoryFiles();
  let hooks = first;
  const watch = createHookWatch({
    files,
    stateDir: absPath("/state"),
    repository: "/repo/.git",
    hooks: () => Promise.resolve(Object.entries(hooks).map(([name, value]): HookNow => ({ name, value }))),
  });
  return {
    watch,
    files,
    set: (next: Readonly<Record<string, string>>) => void (hooks = next),
    held: async () => (await watch.changed()).map(({ name, value }) => `${name} ${value}`),
  };
}

describe("hook watch", () => {
  it("an attempt that changed no hook leaves nothing behind; a person's own hook is nobody's matter then", async () => {
    const { watch, files, set, held } = bench({ "hooks/pre-push": "1" });
    await watch.begin("a");
    await watch.end("a");
    deepEqual(files.paths(), []);
    set({ "hooks/pre-push": "2", "hooks/pre-commit": "1" });
    deepEqual(await held(), []);
  });

  it("one that came or changed is held while the attempt runs and after it, also after a kill, until it is decided about", async () => {
    const { watch, set, held } = bench({ "hooks/pre-push": "1" });
    await watch.begin("a");
    set({ "hooks/pre-push": "2", "hooks/pre-commit": "1" });
    deepEqual(await held(), ["hooks/pre-push 2", "hooks/pre-commit 1"], "while it runs, or after a kill");
    await watch.end("a");
    await watch.begin("a");
    await watch.end("a");
    deepEqual(await held(), ["hooks/pre-push 2", "hooks/pre-commit 1"], "a later attempt does not take it for old");
    await watch.decided([{ name: "hooks/pre-push", value: "2" }]);
    deepEqual(await held(), ["hooks/pre-push 2", "hooks/pre-commit 1"], "one of two");
    await watch.decided(await watch.changed());
    deepEqual(await held(), []);
  });

  it("put back by hand, it is what it was", async () => {
    const { watch, files, set, held } = bench({ "hooks/pre-push": "1" });
    await watch.begin("a");
    set({ "hooks/pre-push": "1", "hooks/pre-commit": "1" });
    await watch.end("a");
    set({ "hooks/pre-push": "1" });
    deepEqual(await held(), []);
    await watch.begin("a");
    await watch.end("a");
    deepEqual(files.paths(), []);
  });

  it("a change that another attempt began with is held for the one that saw it come", async () => {
    const { watch, set, held } = bench({});
    await watch.begin("a");
    set({ "hooks/pre-commit": "1" });
    await watch.begin("b");
    await watch.end("b");
    await watch.end("a");
    deepEqual(await held(), ["hooks/pre-commit 1"]);
  });

  it("a record that cannot be read knows no hook", async () => {
    const { watch, files, held } = bench({ "hooks/pre-commit": "1" });
    await watch.begin("a");
    files.put(String(files.paths()[0]), "{");
    deepEqual(await held(), ["hooks/pre-commit 1"]);
  });
});
