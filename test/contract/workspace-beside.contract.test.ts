import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { createCommitPushFinisher } from "../../shared/adapters/finish-commit-push.ts";
import { createGit } from "../../shared/adapters/git.ts";
import { createProcess } from "../../shared/adapters/process.ts";
import { type BesideDeps, createBesideWorkspaces, giveBackWorktree } from "../../shared/adapters/workspace-beside.ts";
import { type AbsPath, absPath, type RepoPath } from "../../shared/base/paths.ts";
import type { Contract } from "../../shared/model/contract.ts";
import { isOrchError, OrchError } from "../../shared/model/error.ts";
import type { Finished, Finisher } from "../../shared/ports/finisher.ts";
import type { RunWorktrees } from "../../shared/ports/worktrees.ts";
import { KillSwitch } from "../support/kill-switch.ts";
import { RecordingSink } from "../support/recording-sink.ts";
import { registryText, slice } from "../support/sample-slice.ts";
import { treeOf } from "../support/tree-of.ts";
import { contractOf, type WorktreeGround, worktreeGround } from "../support/worktree-ground.ts";

const signal = new AbortController().signal;
const run = "r-20260131-101500-ab12";
const dir = "features/Billing/Invoice" as RepoPath;
const registry = ".features.json" as RepoPath;
const at = (name: string): RepoPath => `${dir}/${name}` as RepoPath;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const contract: Contract = contractOf("Invoice", { allowed: [`${dir}/**`], protected: [at("spec.md"), registry] });

/** What the agent leaves: a file changed, one made, one taken away. */
const work = { "Handler.py": "def handle(total: int) -> int:\n    return total + 1\n", "parts/Tax.py": "RATE = 20\n" };

interface Ground extends WorktreeGround {
  readonly beside: BesideDeps;
  readonly sink: RecordingSink;
  /** One life of the run: opens, works unless an earlier life did, and finishes. */
  life(deps?: BesideDeps, then?: (finisher: Finisher) => Finisher, judged?: () => void): Promise<Finished>;
  person(): Promise<readonly string[]>;
}

/** A branch whose slice is not committed yet, as `new` leaves it. */
async function ground(): Promise<Ground> {
  const made = await worktreeGround({ files: { "README.md": "# sample\n", ".gitignore": "__pycache__/\n*.log\n" } });
  const { repo } = made;
  await repo.git("switch", "-q", "-c", "Billing/Invoice");
  for (const [name, text] of Object.entries(slice(dir))) await repo.write(name, text);
  await repo.write(registry, registryText({ Invoice: "Billing" }));
  await repo.write("README.md", "# mine\n");
  const runDir = absPath(join(repo.base, "run"));
  await mkdir(runDir);
  const git = await createGit({ folder: repo.root, process: createProcess(), env: repo.env });
  const worktrees = made.worktrees({ below: [dir, registry] });
  const beside: BesideDeps = { git, files: made.deps.files, trash: made.trash, worktrees, kept: made.kept };
  const sink = new RecordingSink();
  return {
    ...made,
    beside,
    sink,
    async life(deps = beside, then = (finisher) => finisher, judged = () => undefined) {
      const place = createBesideWorkspaces(deps, options(runDir));
      await using workspace = await place.open(contract, signal);
      const commit = createCommitPushFinisher(
        { git: deps.git as typeof git, sink },
        { slice: dir, registry, name: "Invoice", push: false, trusted: () => Promise.resolve(true) },
      );
      const before = workspace.accepted?.change ?? (await workspace.collect(signal));
      if (before.files.length === 0) {
        const writes = Object.entries(work).map(([name, text]) => ({ path: at(name), data: bytes(text) }));
        await workspace.write([...writes, { path: at("Controller.py"), data: undefined }], signal);
      }
      const change = workspace.accepted?.change ?? (await workspace.collect(signal));
      judged();
      try {
        return await place.finisher(then(commit)).finish(contract, workspace, change, signal);
      } catch (error) {
        if (!isOrchError(error, "tree.changed")) await workspace.rollback(signal);
        throw error;
      }
    },
    person: async () => (await treeOf(repo)).filter((line) => !line.startsWith(".orch")),
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

function options(runDir: AbsPath): Parameters<typeof createBesideWorkspaces>[1] {
  return {
    slice: dir,
    registry,
    stateFile: absPath(join(runDir, "workspace.json")),
    seenFile: absPath(join(runDir, "seen.json")),
    branch: "Billing/Invoice",
    run,
  };
}

async function isBroughtIn({ repo, kept }: Ground): Promise<void> {
  assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "feat: Invoice");
  assert.equal(await repo.read(at("Handler.py")), work["Handler.py"]);
  assert.equal(await repo.git("status", "--porcelain"), " M README.md");
  assert.deepEqual((await repo.git("ls-tree", "-r", "--name-only", "HEAD", `${dir}/`)).split("\n").toSorted(), [
    at("Handler.py"),
    at("Schema.py"),
    at("Tests.py"),
    at("__init__.py"),
    at("parts/Tax.py"),
    at("spec.md"),
  ]);
  assert.deepEqual(await kept.list(), []);
}

const leftOf = async (worktrees: Pick<RunWorktrees, "list">): Promise<unknown> =>
  (await worktrees.list(signal)).filter(({ use }) => use.kind !== "pooled");

describe("workspace-beside @slow", function () {
  this.timeout(600_000);

  it("works beside the checkout, then brings the change in and gives the worktree back", async () => {
    await using here = await ground();
    const finished = await here.life();
    assert.equal(finished.state, "accepted");
    await isBroughtIn(here);
    assert.deepEqual(await leftOf(here.worktrees()), []);
    assert.equal(await here.repo.git("for-each-ref", "refs/orch/kept", "refs/orch/wt", "refs/orch/base"), "");
  });

  const edits: Readonly<Record<string, (here: Ground) => Promise<void>>> = {
    "a file the change writes": ({ repo }) => repo.write(at("Handler.py"), "# mine\n"),
    "a file the change leaves alone": ({ repo }) => repo.write(at("Schema.py"), "# mine\n"),
    "the specification": ({ repo }) => repo.write(at("spec.md"), "# Another\n"),
    "a new file": ({ repo }) => repo.write(at("mine.py"), "# mine\n"),
    "a new file where the change makes one": ({ repo }) => repo.write(at("parts/Tax.py"), "RATE = 7\n"),
    "a file taken away": ({ repo }) => rm(repo.path(at("Tests.py"))),
    "the registry": ({ repo }) => repo.write(registry, registryText({ Invoice: "Billing", Other: "Billing" })),
  };
  for (const [what, edit] of Object.entries(edits)) {
    it(`an edit meanwhile is met before anything is written: ${what}`, async () => {
      await using here = await ground();
      let edited: readonly string[] = [];
      const place = createBesideWorkspaces(here.beside, options(absPath(join(here.repo.base, "run"))));
      {
        await using workspace = await place.open(contract, signal);
        const path = at("Handler.py");
        await workspace.write([{ path, data: bytes(work["Handler.py"]) }], signal);
        await workspace.write([{ path: at("parts/Tax.py"), data: bytes(work["parts/Tax.py"]) }], signal);
        await edit(here);
        edited = await here.person();
        await assert.rejects(
          place.finisher(never).finish(contract, workspace, await workspace.collect(signal), signal),
          (error) => {
            assert.ok(isOrchError(error, "tree.changed"));
            assert.match(error.hint, /orch resume r-20260131-101500-ab12.*orch cancel r-20260131-101500-ab12/);
            return true;
          },
        );
      }
      assert.deepEqual(await here.person(), edited);
    });
  }

  it("another branch that is checked out meanwhile gets nothing: the run waits for the feature's own", async () => {
    await using here = await ground();
    const place = createBesideWorkspaces(here.beside, options(absPath(join(here.repo.base, "run"))));
    await using workspace = await place.open(contract, signal);
    await workspace.write([{ path: at("Handler.py"), data: bytes(work["Handler.py"]) }], signal);
    const change = await workspace.collect(signal);
    await here.repo.git("switch", "-q", "main");
    const before = await here.person();
    await assert.rejects(place.finisher(never).finish(contract, workspace, change, signal), (error) => {
      assert.ok(isOrchError(error, "tree.changed"));
      assert.match(error.message, /^Billing\/Invoice is not checked out any more, main is/);
      assert.match(error.hint, /git switch Billing\/Invoice, then: orch resume r-20260131-101500-ab12/);
      return true;
    });
    assert.deepEqual(await here.person(), before);
  });

  it("a person's filters and line ends are the checkout's own: what is committed is what was judged", async () => {
    await using here = await ground();
    const { repo } = here;
    await repo.git("config", "--global", "filter.shout.clean", "tr A-Z a-z");
    await repo.git("config", "--global", "filter.shout.smudge", "tr a-z A-Z");
    await repo.write(
      ".gitattributes",
      "parts/* filter=shout\nHandler.py text eol=crlf\n".replace("parts", `${dir}/parts`),
    );
    await repo.git("add", ".gitattributes");
    await repo.git("commit", "-q", "-m", "attributes");
    const place = createBesideWorkspaces(here.beside, options(absPath(join(repo.base, "run"))));
    await using workspace = await place.open(contract, signal);
    await workspace.write([{ path: at("Handler.py"), data: bytes("one\r\ntwo\r\n") }], signal);
    await workspace.write([{ path: at("parts/Tax.py"), data: bytes("rate = 7\n") }], signal);
    const change = await workspace.collect(signal);
    const commit = createCommitPushFinisher(
      { git: here.beside.git as never, sink: here.sink },
      { slice: dir, registry, name: "Invoice", push: false, trusted: () => Promise.resolve(true) },
    );
    await place.finisher(commit).finish(contract, workspace, change, signal);
    assert.equal(await repo.read(at("parts/Tax.py")), "RATE = 7\n");
    assert.equal(await repo.read(at("Handler.py")), "one\r\ntwo\r\n");
    for (const name of ["parts/Tax.py", "Handler.py"]) {
      assert.equal(
        await repo.git("rev-parse", `HEAD:${at(name)}`),
        await repo.git("rev-parse", `${change.tree}:${at(name)}`),
      );
    }
    assert.equal(await repo.git("show", `HEAD:${at("parts/Tax.py")}`), "rate = 7");
  });

  it("an edit that is taken back stops nothing, and what git ignores was never an edit", async () => {
    await using here = await ground();
    const { repo } = here;
    const old = (await repo.read(at("Handler.py"))) ?? "";
    await assert.rejects(
      here.life(here.beside, (then) => ({
        async finish(...order) {
          await repo.write(at("Schema.py"), "# mine\n");
          return await then.finish(...order);
        },
      })),
      (error) => isOrchError(error, "tree.changed"),
    );
    assert.equal(await repo.read(at("Schema.py")), "# mine\n", "the edit that came last is kept, too");
    await repo.write(at("Schema.py"), slice(dir)[at("Schema.py")] ?? "");
    await repo.write(at("debug.log"), "ignored\n");
    await repo.write(at("__pycache__/Handler.cpython-311.pyc"), "compiled");
    assert.notEqual(old, work["Handler.py"]);
    await here.life();
    await isBroughtIn(here);
  });

  it("brings in what was judged, not what the worktree holds since", async () => {
    await using here = await ground();
    const path = at("Handler.py");
    const worktree = (): string => fs.realpathSync(here.repo.path(".orch/wt/Invoice"));
    await here.life(here.beside, undefined, () => {
      fs.writeFileSync(join(worktree(), path), "# a test wrote this\n");
      fs.writeFileSync(join(worktree(), at("late.py")), "# this, too\n");
    });
    await isBroughtIn(here);
    assert.deepEqual(await leftOf(here.worktrees()), []);
  });

  it("a link in place of a file is not brought in", async () => {
    await using here = await ground();
    const before = await here.person();
    const place = createBesideWorkspaces(here.beside, options(absPath(join(here.repo.base, "run"))));
    {
      await using workspace = await place.open(contract, signal);
      fs.rmSync(join(workspace.root, at("Handler.py")));
      fs.symlinkSync("Schema.py", join(workspace.root, at("Handler.py")));
      await assert.rejects(
        place.finisher(never).finish(contract, workspace, await workspace.collect(signal), signal),
        (error) => isOrchError(error, "path.refused"),
      );
      await workspace.rollback(signal);
    }
    assert.deepEqual(await here.person(), before);
  });

  it("after an interrupt the next life starts from the slice as the person left it, and knows it as that", async () => {
    await using here = await ground();
    const place = createBesideWorkspaces(here.beside, options(absPath(join(here.repo.base, "run"))));
    {
      await using workspace = await place.open(contract, signal);
      await workspace.write([{ path: at("Handler.py"), data: bytes("# half\n") }], signal);
      assert.equal((await workspace.rollback(signal)).kind, "rolled-back");
    }
    await here.repo.write(at("Schema.py"), "# mine\n");
    await here.life();
    await isBroughtIn(here);
    assert.equal(await here.repo.git("show", `HEAD:${at("Schema.py")}`), "# mine");
  });

  it("what cannot be committed leaves the checkout as it was, and the work is stored", async () => {
    await using here = await ground();
    const before = await here.person();
    const hook: Finisher = {
      finish: () => Promise.reject(new OrchError("git.hook-failed", "the hook says no")),
    };
    await assert.rejects(
      here.life(here.beside, () => hook),
      (error) => isOrchError(error, "git.hook-failed"),
    );
    assert.deepEqual(await here.person(), before);
    assert.deepEqual(await leftOf(here.worktrees()), []);
    assert.ok(
      here.stored.some(({ what }) => what.includes("Invoice")),
      JSON.stringify(here.stored),
    );
  });

  it("an edit after a kill while the worktree was made is an edit: nothing is brought in, until it is taken back", async () => {
    const edits: readonly (readonly [string, string | undefined])[] = [
      ["Handler.py", "# mine\n"],
      ["Tests.py", undefined],
      ["Notes.md", "mine\n"],
    ];
    for (const [name, text] of edits) {
      await using here = await ground();
      const { repo } = here;
      const old = await repo.read(at(name));
      const { files } = here.beside;
      // The worktree is there, and how the slice looked is not written down: the second of its two words is lost.
      let words = 0;
      const dying: BesideDeps["files"] = {
        ...files,
        write: async (path, data, mode) => {
          if (path.endsWith("seen.json") && (words += 1) > 1) throw new Error("killed");
          await files.write(path, data, mode);
        },
      };
      await assert.rejects(here.life({ ...here.beside, files: dying }), /killed/);
      if (text === undefined) fs.rmSync(repo.path(at(name)));
      else await repo.write(at(name), text);
      const before = await here.person();
      await assert.rejects(here.life(), (error) => isOrchError(error, "tree.changed"), name);
      assert.deepEqual(await here.person(), before, name);
      if (old === undefined) fs.rmSync(repo.path(at(name)));
      else await repo.write(at(name), old);
      await here.life();
      await isBroughtIn(here);
    }
  });

  it("killed at any step, the next runner ends with exactly this one commit", async () => {
    for (let step = 1; ; step += 1) {
      await using here = await ground();
      const kill = new KillSwitch(step);
      const { git, files, trash, worktrees, kept } = here.beside;
      const dying = {
        git: kill.wrap(git, ["snapshot", "updateRef", "deleteRef", "commitPaths" as never]),
        files: kill.wrap(files, ["write", "remove", "makeDir", "removeEmptyDir"]),
        trash: kill.wrap(trash, ["store"]),
        worktrees: kill.wrap(worktrees, ["release"]),
        kept: kill.wrap(kept, ["keep", "drop"]),
      };
      const first = await kill.run(() => here.life(dying));
      if (first === "stopped") {
        const committed = (await here.repo.git("log", "--format=%s", "main..HEAD")) !== "";
        await here.life();
        if (committed) await giveBackWorktree(here.beside, run, "Invoice");
      }
      await isBroughtIn(here);
      assert.deepEqual(await leftOf(here.worktrees()), [], `step ${step}`);
      if (first !== "stopped") {
        assert.ok(step > 8, `${step} steps were killed`);
        return;
      }
    }
  });
});

const never: Finisher = {
  finish: () => Promise.reject(new Error("nothing is committed after an edit")),
};
