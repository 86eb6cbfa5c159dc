import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { newFeature } from "../../shared/app/handlers/new.ts";
import { scan, type ScanData } from "../../shared/app/handlers/scan.ts";
import type { SpecContext } from "../../shared/app/spec-draft.ts";
import { type AbsPath, absPath } from "../../shared/base/paths.ts";
import type { Files } from "../../shared/ports/files.ts";
import { args, refused } from "../support/bench.ts";
import { make, type NewData, type Room, room, spec } from "../support/new-room.ts";
import { registryText, slice } from "../support/sample-slice.ts";

const never = new AbortController().signal;
const dir = "features/Billing/Invoice";
describe("new @slow", function () {
  this.timeout(600_000);

  it("makes branch, spec by the model, files and registration, all uncommitted", async () => {
    await using at = await room([`\`\`\`markdown\n${spec}\`\`\``, "VALID"], {
      folder: "répo with space",
      remote: true,
    });
    const { repo } = at.bench;
    const main = await repo.git("rev-parse", "main");
    const result = await make(at.context, "Billing/Invoice", "Totals", "with", "sk-secret tax");
    assert.equal(result.ok, true);
    assert.match(
      result.summary,
      /^Billing\/Invoice: 6 files on branch Billing\/Invoice, spec.md by test\/one, found valid by spec QA$/,
    );
    assert.deepEqual(result.next, ["orch do"]);
    assert.equal(await repo.git("branch", "--show-current"), "Billing/Invoice");
    assert.equal(await repo.git("config", "branch.Billing/Invoice.orch"), "Billing/Invoice");
    assert.equal(await repo.git("rev-parse", "HEAD", "main"), `${main}\n${main}`);
    assert.equal(
      await repo.git("status", "--porcelain", "-uall"),
      [
        "?? .features.json",
        ...["Controller.py", "Handler.py", "Schema.py", "Tests.py", "__init__.py", "spec.md"].map(
          (name) => `?? ${dir}/${name}`,
        ),
      ].join("\n"),
    );
    assert.equal(await repo.read(`${dir}/spec.md`), spec);
    assert.deepEqual(JSON.parse((await repo.read(".features.json")) ?? ""), {
      features_dir: "features",
      known_features: { Invoice: "Billing" },
    });
    const [asked] = at.model.asked;
    assert.deepEqual([asked?.role, asked?.step, asked?.subject?.request], ["spec", 1, "Totals with [redacted] tax"]);
    assert.ok(asked?.messages.every(({ content }) => !content.includes("sk-secret")));

    const found = await scan(at.context, args(), never);
    assert.deepEqual(found.next, [
      'orch new domain/Feature "what it does"',
      'orch modify domain/Feature "what changes"',
    ]);
    assert.deepEqual(found.data, {
      domains: [
        {
          name: "Billing",
          features: [{ target: "Billing/Invoice", dir, lang: "python", registered: true, complete: true, missing: [] }],
        },
      ],
      skipped: [],
      text: ["Billing", "  Billing/Invoice  registered"],
    });
    assert.equal(found.summary, "1 feature in 1 domain");
  });

  it("leaves the controller out with --no-controller", async () => {
    await using at = await room();
    const result = await newFeature(at.context, args({ words: ["Billing/Invoice", "x"], controller: false }), never);
    assert.deepEqual((result.data as NewData).files.map((path) => path.slice(dir.length + 1)).toSorted(), [
      "Handler.py",
      "Schema.py",
      "Tests.py",
      "__init__.py",
      "spec.md",
    ]);
  });

  it("changes nothing and asks nobody with --dry-run", async () => {
    await using at = await room();
    const before = await at.bench.state();
    const result = await newFeature(at.context, args({ words: ["Billing/Invoice", "x"], dryRun: true }), never);
    assert.match(
      result.summary,
      /^Would make Billing\/Invoice: branch Billing\/Invoice, 6 files in features\/Billing\/Invoice/,
    );
    assert.deepEqual([await at.bench.state(), at.model.asked.length], [before, 0]);
  });

  it("takes the prompt from words, from an .md file, and from text; a file that is not there is refused", async () => {
    await using at = await room();
    await at.bench.repo.commit("notes", { "docs/what.md": "From the file.\n", ".gitignore": "" });
    const context = { ...at.context, cwd: at.bench.repo.path("docs") };
    for (const [prompt, expected] of [
      ["what.md", "first\n\nFrom the file."],
      ["as said in missing.md", "first\n\nas said in missing.md"],
      ["plain words", "first\n\nplain words"],
    ] as const) {
      const result = newFeature(
        context,
        args({ words: ["Billing/Invoice", "first"], prompt }),
        AbortSignal.timeout(60_000),
      );
      await result;
      assert.equal(at.model.asked.at(-1)?.subject?.request, expected);
      await at.bench.repo.git("clean", "-fdq");
      await at.bench.repo.git("switch", "-q", "main");
      await at.bench.repo.git("branch", "-qD", "Billing/Invoice");
    }
    await at.bench.repo.write("docs/binary.md", Uint8Array.of(0xff, 0xfe));
    const error = await refused(newFeature(context, args({ words: ["Billing/Invoice"], prompt: "binary.md" }), never));
    assert.equal(error.code, "file.invalid");
    const missing = await refused(
      newFeature(context, args({ words: ["Billing/Invoice"], prompt: "missing.md" }), never),
    );
    assert.deepEqual([missing.code, missing.exit], ["file.missing", 2]);
    assert.match(missing.message, /^missing\.md is no file here/);
  });

  it("infers the domain, mentions near misses, suggests a keyword's action only when it is a command", async () => {
    const registry = JSON.stringify({
      known_features: { Invoices: "Billing" },
      domain_keywords: { refund: ["Billing", "qa"], tax: ["Billing", "rm -rf ~"] },
    });
    await using at = await room([spec], { files: { ".features.json": `${registry}\n` } });
    const near = (await newFeature(at.context, args({ words: ["Billing/Invoice"], dryRun: true }), never))
      .data as NewData;
    assert.deepEqual(near.near, ["Billing/Invoices"]);
    const result = await make(at.context, "RefundJob", "Pays back");
    assert.match(result.summary, /^Billing\/RefundJob: /);
    assert.deepEqual(result.next, ["orch do", "orch qa features/Billing/RefundJob"]);
    await at.bench.repo.git("stash", "-uq");
    await at.bench.repo.git("switch", "-q", "main");
    const tax = await newFeature(at.context, args({ words: ["SalesTax"], allowOpen: true }), never);
    assert.deepEqual(tax.next, ["edit features/Billing/SalesTax/spec.md", "orch do"]);
    assert.match(tax.summary, /^Billing\/SalesTax: /);
  });

  it("keeps a CRLF registry as it is but for the new entry", async () => {
    const before = '{\r\n\t"custom": [1,2],\r\n\t"known_features": {\r\n\t\t"Order": "Shop"\r\n\t}\r\n}';
    await using at = await room([spec], { files: { ".features.json": before } });
    await make(at.context, "Billing/Invoice", "Totals");
    assert.equal(
      await at.bench.repo.read(".features.json"),
      before.replace('"Shop"', '"Shop",\r\n\t\t"Invoice": "Billing"'),
    );
  });

  it("works in an app of the registry, with the app's folder", async () => {
    const registry = JSON.stringify({ apps: { web: { features_dir: "apps/web/features", domains: ["Site"] } } });
    await using at = await room([spec.replace("Invoice", "Page")], { files: { ".features.json": registry } });
    const result = await make(at.context, "Site/Page", "A page");
    assert.equal((result.data as { dir: string }).dir, "apps/web/features/Site/Page");
    const found = (await scan(at.context, args({ app: "web" }), never)).data as ScanData;
    assert.deepEqual(
      found.domains[0]?.features.map(({ app, target }) => [app, target]),
      [["web", "Site/Page"]],
    );
  });

  describe("refuses, and everything is as it was", () => {
    const registered = { ".features.json": registryText({ Order: "Shop" }), ...slice("features/Shop/Order") };
    const rows: readonly (readonly [string, string, (at: Room) => Promise<unknown>, readonly string[], RegExp?])[] = [
      [
        "a dirty tree",
        "tree.dirty",
        (at) => at.bench.repo.write("README.md", "changed\n"),
        ["Billing/Invoice"],
        /README\.md/,
      ],
      [
        "an untracked file",
        "tree.dirty",
        (at) => at.bench.repo.write("nötes.txt", "mine\n"),
        ["Billing/Invoice"],
        /nötes\.txt/,
      ],
      [
        "a staged file",
        "tree.dirty",
        (at) => at.bench.repo.write("a.txt", "x").then(() => at.bench.repo.git("add", "a.txt")),
        ["Billing/Invoice"],
      ],
      ["a detached HEAD", "tree.detached", (at) => at.bench.repo.git("switch", "-q", "--detach"), ["Billing/Invoice"]],
      [
        "a branch of nobody's",
        "branch.wrong",
        (at) => at.bench.repo.git("switch", "-qc", "topic"),
        ["Billing/Invoice"],
      ],
      ["an open feature branch", "branch.open", (at) => openBranch(at), ["Billing/Invoice"], /Shop\/Cart/],
      ["a registered feature", "target.exists", () => Promise.resolve(), ["Shop/Order"], /registered/],
      ["a name taken in another domain", "target.exists", () => Promise.resolve(), ["Billing/Order"], /Shop\/Order/],
      ["a name that differs by case", "target.case", () => Promise.resolve(), ["Shop/order"]],
      ["a domain that differs by case", "target.case", () => Promise.resolve(), ["shop/Invoice"]],
      [
        "a folder that is not empty",
        "target.exists",
        (at) => at.bench.repo.commit("x", { [`${dir}/notes.md`]: "x" }),
        ["Billing/Invoice"],
        /not empty/,
      ],
      ["a taken branch", "branch.taken", (at) => at.bench.repo.git("branch", "Billing/Invoice"), ["Billing/Invoice"]],
      ["a branch in the way", "branch.taken", (at) => at.bench.repo.git("branch", "Billing"), ["Billing/Invoice"]],
      ["a reserved name", "target.invalid", () => Promise.resolve(), ["Billing/CON"]],
      ["a path that leaves", "target.invalid", () => Promise.resolve(), ["../../etc/passwd"]],
      ["no target", "target.missing", () => Promise.resolve(), []],
      [
        "a broken registry",
        "registry.invalid",
        (at) => at.bench.repo.commit("x", { ".features.json": '{\n  "known_features": {,\n}' }),
        ["Billing/Invoice"],
        /\.features\.json:2/,
      ],
      [
        "conflict markers",
        "registry.invalid",
        (at) => at.bench.repo.commit("x", { ".features.json": "{\n<<<<<<< a\n=======\n>>>>>>> b\n}" }),
        ["Billing/Invoice"],
        /conflict markers/,
      ],
      ["a merge in progress", "tree.in-progress", (at) => mergeInProgress(at), ["Billing/Invoice"]],
      ["a features folder that leads away", "path.refused", (at) => linkAway(at), ["Billing/Invoice"]],
    ];
    for (const [name, code, prepare, words, message] of rows) {
      it(name, async () => {
        await using at = await room([spec], {
          files: { "README.md": "# sample\n", ...(name.startsWith("a features folder") ? {} : registered) },
        });
        await prepare(at);
        const before = await at.bench.state();
        for (const dryRun of [true, false]) {
          const error = await refused(newFeature(at.context, args({ words, prompt: "x", dryRun }), never));
          assert.deepEqual([error.code, error.hint !== ""], [code, true], error.message);
          if (message !== undefined) assert.match(error.message, message);
        }
        assert.deepEqual([await at.bench.state(), at.model.asked.length], [before, 0]);
      });
    }

    it("an unborn branch", async () => {
      await using at = await room([spec], { firstCommit: false });
      assert.equal((await refused(make(at.context, "Billing/Invoice", "x"))).code, "tree.unborn");
    });

    it("another command at work", async () => {
      await using at = await room();
      at.bench.occupy();
      assert.equal((await refused(make(at.context, "Billing/Invoice", "x"))).code, "run.locked");
    });

    it("an unknown app", async () => {
      await using at = await room();
      assert.equal(
        (await refused(newFeature(at.context, args({ words: ["Billing/Invoice"], app: "web" }), never))).code,
        "usage.invalid",
      );
    });

    it("a tree that a person changed while the model wrote", async () => {
      await using at = await room();
      const context: SpecContext = {
        ...at.context,
        openModel: async (...given) => {
          await at.bench.repo.write("README.md", "typed meanwhile\n");
          return at.context.openModel(...given);
        },
      };
      assert.equal((await refused(make(context, "Billing/Invoice", "x"))).code, "tree.dirty");
      assert.deepEqual(
        [await at.bench.repo.read("README.md"), await at.bench.repo.git("branch", "--show-current")],
        ["typed meanwhile\n", "main"],
      );
    });
  });

  it("goes on beside an open branch with --allow-open", async () => {
    await using at = await room();
    await openBranch(at);
    const result = await newFeature(at.context, args({ words: ["Billing/Invoice", "x"], allowOpen: true }), never);
    assert.equal(result.ok, true);
  });

  describe("puts everything back when it fails midway", () => {
    const registry = registryText({ Order: "Shop" });
    /** Fails, or aborts, at the n-th write to the tree. */
    const failing = (files: Files, at: number, act: () => void): { files: Files; writes: () => number } => {
      let writes = 0;
      const count =
        <A extends readonly unknown[], R>(work: (...given: A) => Promise<R>) =>
        (...given: A): Promise<R> => {
          if (String(given[0]).includes("/repo")) writes += 1;
          if (writes === at && String(given[0]).includes("/repo")) act();
          return work(...given);
        };
      return {
        files: {
          ...files,
          makeDir: count(files.makeDir.bind(files)),
          createOnce: count(files.createOnce.bind(files)),
          write: count(files.write.bind(files)),
        },
        writes: () => writes,
      };
    };

    for (let step = 1; step <= 9; step += 1) {
      it(`at write ${step}, by a full disk or an abort`, async () => {
        await using at = await room([spec], { files: { "README.md": "x\n", ".features.json": registry } });
        const before = await at.bench.state();
        const full = failing(at.context.files, step, () => {
          throw new Error("disk full");
        });
        await assert.rejects(make({ ...at.context, files: full.files }, "Billing/Invoice", "x"), /disk full/);
        assert.deepEqual(await at.bench.state(), before);
        const controller = new AbortController();
        const stopped = failing(at.context.files, step, () => controller.abort());
        const work = newFeature(
          { ...at.context, files: stopped.files },
          args({ words: ["Billing/Invoice", "x"] }),
          controller.signal,
        );
        if (step < 8) {
          await assert.rejects(work, { name: "AbortError" });
          assert.deepEqual(await at.bench.state(), before);
        } else {
          await work; // past the last look at the signal: it is all there
        }
        assert.deepEqual(at.notices, []);
      });
    }

    it("keeps what a person wrote into the new files meanwhile", async () => {
      await using at = await room();
      const full = failing(at.context.files, 8, () => {
        throw new Error("disk full");
      });
      const spied: Files = {
        ...full.files,
        createOnce: async (place, data) => {
          if (place.endsWith("Tests.py"))
            await writeFile(join(at.bench.repo.root, dir, "spec.md"), "typed by a person\n");
          return full.files.createOnce(place, data);
        },
      };
      await assert.rejects(make({ ...at.context, files: spied }, "Billing/Invoice", "x"), /disk full/);
      assert.equal(await at.bench.repo.git("status", "--porcelain", "-uall"), `?? ${dir}/spec.md`);
      assert.equal(await at.bench.repo.read(`${dir}/spec.md`), "typed by a person\n");
      assert.equal(await at.bench.repo.git("branch", "--format=%(refname:short)"), "main");
    });

    it("when the model's call is aborted", async () => {
      await using at = await room(["hang"]);
      const before = await at.bench.state();
      const controller = new AbortController();
      const work = newFeature(at.context, args({ words: ["Billing/Invoice", "x"] }), controller.signal);
      const waiting = setInterval(() => at.model.asked.length > 0 && controller.abort(), 5);
      await assert.rejects(work, { name: "AbortError" });
      clearInterval(waiting);
      assert.deepEqual(await at.bench.state(), before);
    });
  });
});

async function openBranch({ bench: { repo } }: Room): Promise<void> {
  await repo.git("switch", "-qc", "Shop/Cart");
  await repo.git("config", "branch.Shop/Cart.orch", "Shop/Cart");
  await repo.commit("work", { "cart.txt": "x\n" });
  await repo.git("switch", "-q", "main");
}

async function mergeInProgress({ bench: { repo } }: Room): Promise<void> {
  await repo.git("switch", "-qc", "side");
  await repo.commit("side", { "README.md": "side\n" });
  await repo.git("switch", "-q", "main");
  await repo.commit("main", { "README.md": "main\n" });
  await repo.tryGit("merge", "side");
}

async function linkAway({ bench: { repo } }: Room): Promise<void> {
  const outside: AbsPath = absPath(join(repo.base, "outside"));
  await mkdir(outside);
  await symlink(outside, repo.path("features"));
  await repo.commit("link");
}
