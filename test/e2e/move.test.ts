import assert from "node:assert/strict";
import { lstat, mkdir, rm } from "node:fs/promises";
import type { CommandArgs } from "../../shared/app/context.ts";
import { move } from "../../shared/app/handlers/move.ts";
import { carryOutMove } from "../../shared/app/move-steps.ts";
import { openBystanders } from "../../shared/app/open-bystanders.ts";
import { planMove } from "../../shared/app/plan-move.ts";
import type { Use } from "../../shared/features/uses.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { filesIn } from "../support/feature-bench.ts";
import { makeFeatureRepo, projectFiles } from "../support/feature-repo.ts";
import { goodFiles, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { pipelineRoom } from "../support/pipeline-room.ts";
import { registryText, slice } from "../support/sample-slice.ts";
import type { CommandResult } from "../../shared/model/command-result.ts";
import type { TempRepoOptions } from "../support/temp-repo.ts";

const signal = new AbortController().signal;
const dir = "features/Billing/Invoice";
const to = "features/Sales/Bill";
const registry = `{\n  "mine": true,\n  // ours\n  "known_features": {\n    "User": "Accounts",\n    "Invoice": "Billing",\n    "Order": "Shop"\n  },\n  "domain_keywords": {\n    "invoice": ["Billing", "do"]\n  }\n}\n`;
const files = {
  "README.md": "See features/Billing/Invoice for totals.\n",
  ".gitignore": "*.log\n__pycache__/\n",
  ...slice(dir),
  [`${dir}/crlf.txt`]: "a\r\nb\r\n",
  "jobs/nightly.py": "from features.Billing.Invoice.Handler import handle\n\n\nhandle(1)\n",
  "jobs/other.py": "from features.Billing import Invoice\nInvoiceTwo = 1  # features/Billing/InvoiceTwo\n",
  "tests/test_all.py": "def test_all() -> None:\n    assert True\n",
  ".features.json": registry,
};

interface MoveData {
  readonly branch: string;
  readonly commit: string;
  readonly pushed: boolean;
  readonly uses: readonly Use[];
  readonly notes: readonly string[];
}

const start = (options: TempRepoOptions = {}): Promise<Bench> => makeBench({ remote: true, files, ...options });
const run = (bench: Bench, given: Partial<CommandArgs> = {}) =>
  move(pipelineRoom(bench).context, args({ words: ["Billing/Invoice", "Sales/Bill"], ...given }), signal);

/** A person saves while the first tests run. */
async function runWhile(bench: Bench, save: () => Promise<unknown>): Promise<CommandResult> {
  const { context } = pipelineRoom(bench);
  let saved = false;
  const testRunner: typeof context.testRunner = {
    ...context.testRunner,
    async run(order, stop) {
      if (!saved) await save();
      saved = true;
      return context.testRunner.run(order, stop);
    },
  };
  return await move({ ...context, testRunner }, args({ words: ["Billing/Invoice", "Sales/Bill"] }), signal);
}

/** Work of every kind in the slice. */
async function busy(bench: Bench): Promise<void> {
  const { repo } = bench;
  await repo.write(`${dir}/run.sh`, "#!/bin/sh\n", 0o755);
  await repo.write(`${dir}/debug.log`, "ignored\n");
  await repo.write(`${dir}/loose ü 日本.bin`, new Uint8Array([0, 13, 10, 255]));
  await repo.link(`${dir}/link.py`, "Handler.py");
  await mkdir(repo.path(dir, "empty"));
  await repo.git("init", "-q", repo.path(dir, "nested"));
  await repo.write(`${dir}/nested/file.txt`, "nested\n");
}

const moved = (all: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).map(([path, content]) => [path.replace(dir, to), content]));

describe("move @slow", function () {
  this.timeout(600_000);

  it("from main: a branch of the new name, one commit, pushed and not merged; the old place is named", async () => {
    await using bench = await start({ folder: "répo with space" });
    const { repo } = bench;
    const main = await repo.git("rev-parse", "main");
    await busy(bench);
    const before = await filesIn(repo.root, dir);
    const result = await run(bench);
    const data = result.data as MoveData;
    assert.equal(result.ok, true, result.summary);
    assert.match(
      result.summary,
      /^Moved Billing\/Invoice to Sales\/Bill: 2 tests green, commit \w+ on Sales\/Bill, pushed/,
    );
    assert.deepEqual(result.next, ["orch merge"]);
    assert.equal(await repo.git("branch", "--show-current"), "Sales/Bill");
    assert.equal(await repo.git("config", "branch.Sales/Bill.orch"), "Sales/Bill");
    assert.equal(await repo.git("log", "--format=%s", "main..HEAD"), "move: Billing/Invoice -> Sales/Bill");
    assert.deepEqual([await repo.git("rev-parse", "main"), data.commit], [main, await repo.git("rev-parse", "HEAD")]);
    assert.equal(await repo.gitIn(String(repo.remote), "rev-parse", "Sales/Bill"), data.commit);
    const after = await filesIn(repo.root, to);
    const title = `${to}/spec.md`;
    assert.equal(after[title], moved(before)[title]?.replace("# Invoice", "# Bill"));
    assert.deepEqual({ ...after, [title]: "" }, { ...moved(before), [title]: "" });
    assert.equal(await lstat(repo.path("features/Billing")).catch(() => "gone"), "gone");
    assert.equal(await repo.read(".features.json"), registry.replace('"Invoice": "Billing"', '"Bill": "Sales"'));
    assert.equal(await repo.git("status", "--porcelain", "-uall"), `?? ${to}/nested/`);
    const names = (await repo.git("-c", "core.quotepath=off", "diff", "--name-status", "-M", "HEAD~1", "HEAD")).split(
      "\n",
    );
    assert.equal(names.filter((line) => line.startsWith("R100")).length, 6, names.join("\n"));
    assert.deepEqual(
      data.uses.map(({ path, line }) => `${path}:${line}`),
      ["README.md:1", "jobs/nightly.py:1", "jobs/other.py:1"],
    );
    assert.match(result.summary, /3 lines elsewhere name it by its old place: README\.md:1, jobs\/nightly\.py:1/);
    assert.match(result.summary, /4 uncommitted files of the slice went along/);
    assert.match(
      result.summary,
      /1 file of the slice still says Invoice in names or text, first features\/Sales\/Bill\/Schema\.py:5/,
    );
  });

  it("on the feature's own branch: renamed with it, its remote twin named and kept", async () => {
    await using bench = await start();
    const { repo } = bench;
    await repo.git("switch", "-qc", "Billing/Invoice");
    await repo.git("config", "branch.Billing/Invoice.orch", "Billing/Invoice");
    await repo.commit("feat: Invoice", { [`${dir}/more.py`]: "X = 1\n" });
    await repo.git("push", "-q", "-u", "origin", "Billing/Invoice");
    await repo.write("notes.txt", "mine\n");
    await repo.write("README.md", "# staged\n");
    await repo.git("add", "README.md");
    const result = await run(bench);
    assert.equal(result.ok, true, result.summary);
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "Sales/Bill\nmain");
    assert.equal(await repo.git("config", "branch.Sales/Bill.orch"), "Sales/Bill");
    assert.equal(await repo.git("rev-parse", "--abbrev-ref", "Sales/Bill@{upstream}"), "origin/Sales/Bill");
    assert.match(result.summary, /origin still has Billing\/Invoice: git push origin --delete Billing\/Invoice/);
    assert.equal(await repo.git("status", "--porcelain"), "M  README.md\n?? notes.txt");
  });

  it("from main enters the feature's open branch; modify/<Feature> keeps its prefix; --no-push", async () => {
    await using bench = await start();
    const { repo } = bench;
    await repo.git("switch", "-qc", "modify/Invoice");
    await repo.git("config", "branch.modify/Invoice.orch", "Billing/Invoice");
    await repo.commit("amended", { [`${dir}/spec.md`]: "# Invoice\n\nmore\n" });
    await repo.git("switch", "-q", "main");
    const result = await run(bench, { push: false });
    assert.deepEqual(
      [(result.data as MoveData).branch, (result.data as MoveData).pushed, result.next],
      ["modify/Bill", false, ["git push --set-upstream origin modify/Bill", "orch merge"]],
      result.summary,
    );
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main\nmodify/Bill");
    assert.equal(await repo.read(`${to}/spec.md`), "# Bill\n\nmore\n");
  });

  it("files that git tracks although it ignores them stay tracked; a folder with a new domain alone, too", async () => {
    await using bench = await start();
    const { repo } = bench;
    await repo.write(`${dir}/kept.log`, "tracked\n");
    await repo.git("add", "-f", `${dir}/kept.log`);
    await repo.git("commit", "-qm", "forced");
    const result = await run(bench, { words: ["Invoice", "Sales/Invoice"] });
    assert.equal(result.ok, true, result.summary);
    assert.match(await repo.git("ls-files", "features"), /features\/Sales\/Invoice\/kept\.log/);
    assert.equal(
      JSON.parse(((await repo.read(".features.json")) ?? "").replace(/^ *\/\/.*$/m, "")).known_features.Invoice,
      "Sales",
    );
    assert.match((await repo.read("features/Sales/Invoice/spec.md")) ?? "", /^# Invoice\n/);
  });

  it("a name without a domain stays in its own", async () => {
    await using bench = await start();
    const result = await run(bench, { words: ["Billing/Invoice", "Receipt"] });
    assert.equal((result.data as { readonly to: string }).to, "Billing/Receipt");
  });

  it("between apps: out of the one registry, into the other", async () => {
    const apps = {
      known_features: { Invoice: "Billing" },
      apps: { shop: { features_dir: "apps/shop/features", config: "apps/shop/.features.json", domains: ["Sales"] } },
    };
    await using bench = await start({
      files: {
        ...slice(dir),
        ".features.json": JSON.stringify(apps),
        "apps/shop/.features.json": registryText({ Cart: "Sales" }),
      },
    });
    const result = await run(bench);
    assert.equal((result.data as { readonly dir: string }).dir, "apps/shop/features/Sales/Bill", result.summary);
    const known = async (path: string): Promise<unknown> =>
      JSON.parse((await bench.repo.read(path)) ?? "").known_features;
    assert.deepEqual(
      [await known(".features.json"), await known("apps/shop/.features.json")],
      [{}, { Cart: "Sales", Bill: "Sales" }],
    );
    assert.equal(await bench.repo.git("status", "--porcelain"), "");
  });

  describe("puts everything back, byte for byte", () => {
    const rows: readonly (readonly [string, (bench: Bench) => Promise<unknown>, RegExp | string])[] = [
      [
        "when the slice's own tests go red",
        ({ repo }) =>
          repo.commit("absolute", {
            [`${dir}/Tests.py`]:
              "from features.Billing.Invoice.Handler import handle\n\n\ndef test_it() -> None:\n    assert handle(3) == 3\n",
          }),
        /^Not moved: with Billing\/Invoice as Sales\/Bill tests are red, everything is as it was: .*Tests\.py/,
      ],
      [
        "when the project's tests go red",
        async ({ repo }) => {
          await repo.git("switch", "-qc", "Billing/Invoice");
          await repo.commit("tests", {
            "tests/test_all.py":
              "from features.Billing.Invoice.Handler import handle\n\n\ndef test_all() -> None:\n    assert handle(1) == 1\n",
          });
        },
        /^Not moved: .*tests\/test_all\.py/,
      ],
      [
        "when the commit's hook says no",
        ({ repo }) => repo.write(".git/hooks/pre-commit", "#!/bin/sh\necho not like this\nexit 1\n", 0o755),
        "git.hook-failed",
      ],
    ];
    for (const [what, arrange, wanted] of rows) {
      it(what, async () => {
        await using bench = await start();
        await arrange(bench);
        await busy(bench);
        const before = await bench.state();
        const tree = await filesIn(bench.repo.root, "features");
        const text = await bench.repo.read(".features.json");
        if (typeof wanted === "string") assert.equal((await refused(run(bench))).code, wanted);
        else {
          const result = await run(bench);
          assert.deepEqual([result.ok, result.code], [false, 1]);
          assert.match(result.summary, wanted);
        }
        assert.deepEqual(await filesIn(bench.repo.root, "features"), tree);
        assert.deepEqual(await bench.state(), before);
        assert.equal(await bench.repo.read(".features.json"), text);
      });
    }

    it("from a branch that was entered; a person's edit of the registry meanwhile stays", async () => {
      await using bench = await start();
      const { repo } = bench;
      await repo.git("switch", "-qc", "Billing/Invoice");
      await repo.git("config", "branch.Billing/Invoice.orch", "Billing/Invoice");
      await repo.commit("red", { [`${dir}/Tests.py`]: "def test_it() -> None:\n    assert False\n" });
      await repo.git("switch", "-q", "main");
      const before = await bench.state();
      assert.equal((await run(bench)).code, 1);
      assert.deepEqual(await bench.state(), before);

      await repo.git("switch", "-q", "Billing/Invoice");
      const at = pipelineRoom(bench).context;
      const testRunner: typeof at.testRunner = {
        ...at.testRunner,
        async run(order, stop) {
          await repo.write(".features.json", ((await repo.read(".features.json")) ?? "").replace("true", "false"));
          return at.testRunner.run(order, stop);
        },
      };
      await move({ ...at, testRunner }, args({ words: ["Billing/Invoice", "Sales/Bill"] }), signal);
      assert.equal(await repo.read(".features.json"), registry.replace("true", "false"));
      assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
    });
  });

  it("tests that overwrite what is not committed: nothing is moved, and restore has it", async () => {
    await using bench = await start();
    const { repo } = bench;
    await repo.commit("tests that write", {
      "tests/test_all.py":
        'import pathlib\n\n\ndef test_all() -> None:\n    pathlib.Path("notes.txt").write_text("wiped")\n',
    });
    await repo.git("switch", "-qc", "Billing/Invoice");
    await repo.write("notes.txt", "mine\n");
    const before = await filesIn(repo.root, dir);
    const at = pipelineRoom(bench).context;
    const bystanders = openBystanders({ ...at, config: { ...at.config, sandbox: "off" } });
    const result = await move({ ...at, bystanders }, args({ words: ["Billing/Invoice", "Sales/Bill"] }), signal);
    assert.deepEqual([result.ok, result.code], [false, 1], result.summary);
    assert.match(
      result.summary,
      /^Not moved: the tests of Billing\/Invoice as Sales\/Bill did not leave your files alone/,
    );
    assert.deepEqual(await filesIn(repo.root, dir), before);
    const [item] = await at.trash.list();
    assert.deepEqual([item?.by, item?.files, result.next[0]], ["move", 1, `orch restore ${item?.id}`]);
    await rm(repo.path("notes.txt"));
    await at.trash.restore(item?.id ?? "");
    assert.equal(await repo.read("notes.txt"), "mine\n");
  });

  it("a file saved at the old place while tests went red stands there, and the slice is back around it", async () => {
    await using bench = await start();
    const { repo } = bench;
    await repo.commit("red", { [`${dir}/Tests.py`]: "def test_it() -> None:\n    assert False\n" });
    await busy(bench);
    const tree = await filesIn(repo.root, "features");
    const index = await repo.git("ls-files", "-s");
    const text = "# Invoice\n\nsaved by the person\n";
    const result = await runWhile(bench, () => repo.write(`${dir}/spec.md`, text));
    assert.deepEqual([result.ok, result.code], [false, 1]);
    assert.match(
      result.summary,
      /tests are red, everything else is as it was, and what was saved at its old place meanwhile stands: features\/Billing\/Invoice\/spec\.md: /,
    );
    const after = await filesIn(repo.root, "features");
    const spec = Object.keys(tree).find((path) => path.endsWith(`${dir}/spec.md`) || path === `${dir}/spec.md`) ?? "";
    assert.match(after[spec] ?? "", /saved by the person/);
    assert.deepEqual({ ...after, [spec]: "" }, { ...tree, [spec]: "" });
    assert.equal(await repo.git("ls-files", "-s"), index);
    const [restore = ""] = result.next;
    const id = /^orch restore (\S+)$/.exec(restore)?.[1] ?? "";
    const back = await bench.context.trash.restore(id);
    assert.deepEqual(
      back.beside.map(({ path }) => path),
      [`${dir}/spec.md`],
    );
    assert.equal(await repo.read(back.beside[0]?.wroteTo ?? ""), slice(dir)[`${dir}/spec.md`]);
    assert.equal(await repo.git("ls-files", "-s"), index);
  });

  it("a file saved at the old place while tests went green is named", async () => {
    await using bench = await start();
    const result = await runWhile(bench, () => bench.repo.write(`${dir}/mine.md`, "mine\n"));
    assert.equal(result.code, 0, result.summary);
    assert.match(
      result.summary,
      /Saved at its old place meanwhile, and still there: features\/Billing\/Invoice\/mine\.md/,
    );
    assert.equal(await bench.repo.read(`${dir}/mine.md`), "mine\n");
  });

  it("a runner that died is rolled back and done again; what it had committed is only told", async () => {
    await using bench = await start();
    const { context } = pipelineRoom(bench);
    const given = args({ words: ["Billing/Invoice", "Sales/Bill"] });
    await carryOutMove(context, await planMove(context, given, signal));
    const result = await move(context, given, signal);
    assert.equal(result.ok, true, result.summary);
    assert.equal(await bench.repo.git("log", "--format=%s", "main..HEAD"), "move: Billing/Invoice -> Sales/Bill");
    const again = await move(context, given, signal);
    assert.match(again.summary, /committed before the run was interrupted, pushed to origin$/);
    assert.equal(await bench.repo.git("log", "--format=%s", "main..HEAD"), "move: Billing/Invoice -> Sales/Bill");
  });

  it("a scaffold without a test is moved, and that no test ran is told", async () => {
    await using bench = await start();
    await bench.repo.commit("empty", { [`${dir}/Tests.py`]: '"""None yet."""\n' });
    assert.match((await run(bench)).summary, /No test ran in Sales\/Bill/);
  });

  it("changes nothing and runs nothing with --dry-run", async () => {
    await using bench = await start();
    const before = await bench.state();
    const result = await run(bench, { dryRun: true });
    assert.equal(
      result.summary,
      `Would make the branch Sales/Bill, then move ${dir} to ${to}, then run the tests of Sales/Bill and tests, then commit move: Billing/Invoice -> Sales/Bill on Sales/Bill, then push Sales/Bill to origin; nothing was changed`,
    );
    assert.deepEqual(await bench.state(), before);
    await bench.distrust();
    assert.equal((await refused(run(bench, { dryRun: true }))).code, "trust.needed");
  });

  describe("refuses, and everything is as it was", () => {
    const words = (...all: string[]): Partial<CommandArgs> => ({ words: all });
    const rows: readonly (readonly [string, Partial<CommandArgs>, (bench: Bench) => Promise<unknown>, string])[] = [
      ["without trust", {}, (bench) => bench.distrust(), "trust.needed"],
      ["an unknown feature", words("Billing/Invoise", "Sales/Bill"), async () => undefined, "target.unknown"],
      ["a name that is taken", words("Billing/Invoice", "Shop/Order"), async () => undefined, "target.exists"],
      ["its own place", words("Billing/Invoice", "Billing/Invoice"), async () => undefined, "target.exists"],
      ["a name that differs by case", words("Billing/Invoice", "Shop/order"), async () => undefined, "target.case"],
      [
        "a folder with files",
        words("Billing/Invoice", "Sales/Bill"),
        ({ repo }) => repo.commit("x", { [`${to}/mine.txt`]: "x" }),
        "target.exists",
      ],
      ["a reserved name", words("Billing/Invoice", "Sales/con"), async () => undefined, "target.invalid"],
      ["a path that leaves", words("Billing/Invoice", "../Bill"), async () => undefined, "target.invalid"],
      ["a dirty tree on main", {}, ({ repo }) => repo.write("README.md", "mine\n"), "tree.dirty"],
      ["somebody's branch", {}, ({ repo }) => repo.git("switch", "-qc", "mine"), "branch.wrong"],
      ["a branch in the way", {}, async ({ repo }) => repo.git("branch", "sales/bill"), "branch.taken"],
      ["a folder that is not there", words("User", "Accounts/Person"), async () => undefined, "target.unknown"],
      ["another command at work", {}, async (bench) => bench.occupy(), "run.locked"],
      ["a broken registry", {}, async ({ repo }) => repo.commit("x", { ".features.json": "{" }), "registry.invalid"],
    ];
    for (const [what, given, arrange, code] of rows) {
      it(what, async () => {
        await using bench = await start();
        await arrange(bench);
        const before = await bench.state();
        const error = await refused(run(bench, given));
        assert.equal(error.code, code, error.message);
        assert.match(error.hint, /\S/);
        assert.deepEqual(await bench.state(), before);
      });
    }
  });
});

describe("e2e: move on the command line @slow", function () {
  this.timeout(600_000);

  it("asks for trust, moves, and merge brings it to main", async () => {
    const made = Object.fromEntries(Object.entries(goodFiles).map(([name, text]) => [`${dir}/${name}`, text ?? ""]));
    await using work = await makeFeatureRepo("http://127.0.0.1:9/v1", {
      files: {
        ...projectFiles,
        ...made,
        [`${dir}/__init__.py`]: "",
        [`${dir}/spec.md`]: invoiceSpec,
        ".features.json": registryText({ Invoice: "Billing" }),
      },
    });
    const untrusted = await orchJson(work.place, "move", "Billing/Invoice", "Sales/Bill");
    assert.deepEqual([untrusted.code, untrusted.error?.code], [7, "trust.needed"]);
    await work.trust();
    const done = await orchJson(work.place, "move", "Billing/Invoice", "Sales/Bill");
    assert.deepEqual([done.code, done.data?.pushed, done.next], [0, true, ["orch merge"]], JSON.stringify(done));
    const merged = await orchJson(work.place, "merge");
    assert.deepEqual([merged.code, merged.data?.merged], [0, true], JSON.stringify(merged));
    assert.equal(await work.repo.git("branch", "--format=%(refname:short)"), "main");
    assert.match(await work.repo.git("ls-tree", "-r", "--name-only", "main"), /features\/Sales\/Bill\/Handler\.py/);
    const scanned = await orchJson(work.place, "scan");
    assert.deepEqual(
      scanned.data.domains[0].features.map((one: { target: string; registered: boolean }) => [
        one.target,
        one.registered,
      ]),
      [["Sales/Bill", true]],
    );
  });
});
