import assert from "node:assert/strict";
import { newFeature } from "../../shared/app/handlers/new.ts";
import { endNew } from "../../shared/app/new-undo.ts";
import { projectPersonas } from "../../shared/app/project-personas.ts";
import type { SpecContext } from "../../shared/app/spec-draft.ts";
import { absPath } from "../../shared/base/paths.ts";
import { isOrchError } from "../../shared/model/error.ts";
import type { Locks } from "../../shared/ports/lock.ts";
import { args, type Bench, makeBench } from "../support/bench.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { registryText } from "../support/sample-slice.ts";
import { sourceRoot } from "../support/source-root.ts";
import { treeOf } from "../support/tree-of.ts";

const never = new AbortController().signal;
const spec = "features/Billing/Invoice/spec.md";
/** A dead process holds no lock: its own is one that nobody else sees. */
const ownLocks: Locks = {
  try: (path) => ({ kind: "held", lock: { path, [Symbol.dispose]: () => undefined } }),
  isFree: () => true,
};

interface Room {
  readonly bench: Bench;
  /** Without a model: spec.md is the template, always the same. */
  readonly context: SpecContext;
}

async function room(files: Readonly<Record<string, string>> = {}): Promise<Room> {
  const bench = await makeBench({ files: { "README.md": "# sample\n", ...files } });
  const context: SpecContext = {
    ...bench.context,
    machine: { ...bench.context.machine, installRoot: absPath(sourceRoot) },
    cwd: bench.context.root,
    openModel: () => Promise.resolve({ kind: "unavailable", why: "there is none", hint: "Install one" }),
    redact: (text) => text,
    personas: () => projectPersonas(context),
  };
  return { bench, context };
}

const start = (context: SpecContext): Promise<unknown> =>
  newFeature(context, args({ words: ["Billing/Invoice", "Totals"] }), never);

function dying(kill: KillSwitch, context: SpecContext): SpecContext {
  return {
    ...context,
    locks: ownLocks,
    git: kill.wrap(context.git, ["create", "switch"]),
    files: kill.wrap(context.files, ["write", "createOnce", "makeDir"]),
  };
}

async function killedAt(step: number, one: Room): Promise<"stopped" | "ended"> {
  const kill = new KillSwitch(step);
  return (await kill.run(() => start(dying(kill, one.context)))) === "stopped" ? "stopped" : "ended";
}

const registries = { "no registry": {}, "a registry": { ".features.json": registryText({ Other: "Sales" }) } };

describe("new, killed between any two steps @slow", function () {
  this.timeout(600_000);

  for (const [name, files] of Object.entries(registries)) {
    it(`with ${name}: it goes on to the same end, or is put back`, async () => {
      const whole = await room(files);
      await start(whole.context);
      const end = await treeOf(whole.bench.repo);
      await whole.bench[Symbol.asyncDispose]();
      const strip = (lines: readonly string[]): readonly string[] =>
        lines.map((line) => line.replaceAll(/(refs\/heads\/\S+ )[0-9a-f]{40}/g, "$1commit"));
      for (let step = 1; ; step += 1) {
        const one = await room(files);
        await using bench = one.bench;
        const before = await treeOf(bench.repo);
        const how = await killedAt(step, one);
        if (how === "ended") {
          assert.ok(step > 7, `only ${step} steps`);
          return;
        }
        // The registry's queue would wait for the write that never ends, which a dead process does not.
        const inRegistry = (await bench.repo.read("features/Billing/Invoice/Tests.py")) !== undefined;
        if (step % 2 === 0 || inRegistry) {
          await endNew(one.context);
          assert.deepEqual(await treeOf(bench.repo), before, `killed before step ${step}`);
        } else {
          await start(one.context);
          assert.deepEqual(strip(await treeOf(bench.repo)), strip(end), `killed before step ${step}`);
        }
      }
    });
  }

  it("what was edited since stays, and is named", async () => {
    for (const end of ["resume", "cancel"]) {
      const one = await room();
      await using bench = one.bench;
      let step = 1;
      for (; (await bench.repo.read(spec)) === undefined; step += 1) {
        await endNew(one.context);
        assert.equal(await killedAt(step, one), "stopped");
      }
      await bench.repo.write(spec, "# mine\n");
      if (end === "cancel") await endNew(one.context);
      else await assert.rejects(start(one.context), (error) => isOrchError(error, "tree.changed"));
      assert.equal(await bench.repo.read(spec), "# mine\n");
      assert.equal(await bench.repo.git("symbolic-ref", "--short", "HEAD"), "Billing/Invoice");
    }
  });

  it("made whole and killed before it said so: nothing is made again, whatever was edited since", async () => {
    const one = await room();
    await using bench = one.bench;
    await start(one.context);
    await bench.repo.write(spec, "# mine\n");
    const again = (await start(one.context)) as { readonly summary: string };
    assert.match(again.summary, /made on branch Billing\/Invoice before the run was interrupted/);
    await endNew(one.context);
    assert.equal(await bench.repo.read(spec), "# mine\n");
  });
});
