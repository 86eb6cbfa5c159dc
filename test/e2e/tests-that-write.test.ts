import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { goodFiles, goodReply } from "../support/invoice-replies.ts";
import { orch, orchJson } from "../support/orch-cli.ts";
import { type ReadyFeature, readyFeature, slice } from "../support/ready-feature.ts";
import type { Step } from "../support/scripted-model-server/script.ts";

/** Tests that do something beside testing, while they are collected. */
const testsWith = (...lines: readonly string[]): string =>
  (goodFiles["Tests.py"] ?? "").replace(
    "import unittest\n",
    `import pathlib\nimport unittest\n\n${lines.join("\n")}\n`,
  );
const writing = (files: Readonly<Record<string, string>>): string =>
  testsWith(
    `for name, text in ${JSON.stringify(Object.entries(files))}:`,
    "    try:",
    "        pathlib.Path(name).write_text(text)",
    "    except OSError:",
    "        pass",
  );
const replying = (tests: string): Step => ({
  match: { system: "backend engineer" },
  reply: { text: JSON.stringify({ files: { ...goodFiles, "Tests.py": tests }, notes: "x" }) },
});

function sandboxIs({ work }: ReadyFeature, sandbox: string): void {
  const at = path.join(work.repo.env["XDG_CONFIG_HOME"] ?? "", "orch", "config.json");
  fs.writeFileSync(at, JSON.stringify({ ...JSON.parse(fs.readFileSync(at, "utf8")), sandbox }));
}

interface Found {
  readonly rule: string;
  readonly severity: string;
  readonly path?: string;
  readonly message: string;
}
const found = (result: { readonly data?: { readonly findings?: readonly Found[] } }): string[] =>
  (result.data?.findings ?? []).flatMap(({ rule, severity, path: at }) =>
    /uncommitted_changed|check_left_change/.test(rule) ? `${severity} ${rule} ${at}` : [],
  );

const mine = { "notes.txt": "MY NOTES\n", "lib/real.py": "REAL = 1\nMY_EDIT = 2\n" };

describe("e2e: tests that write where they must not @slow", function () {
  this.timeout(600_000);

  it("without a sandbox: uncommitted work that tests overwrite fails the attempt, and restore has it", async () => {
    const vandal = writing({ "notes.txt": "wiped", "lib/real.py": "wiped", [`${slice}/spec.md`]: "# wiped" });
    await using feature = await readyFeature({
      files: { "lib/real.py": "REAL = 1\n" },
      steps: [replying(vandal)],
    });
    sandboxIs(feature, "off");
    const { repo, place } = feature.work;
    for (const [name, text] of Object.entries(mine)) await repo.write(name, text);
    const spec = await repo.read(`${slice}/spec.md`);

    const done = await orchJson(place, "do", "--max-attempts", "1");

    assert.deepEqual([done.code, done.data?.state], [1, "failed"], JSON.stringify(done));
    assert.deepEqual(
      found(done).toSorted(),
      [`${slice}/spec.md`, "lib/real.py", "notes.txt"].map((at) => `FAIL uncommitted_changed ${at}`),
    );
    assert.match(done.next[0] ?? "", /^orch restore t-/);
    assert.equal(/your edit/i.test(JSON.stringify(done)), false, "nobody says that a person wrote it");
    assert.match(await repo.git("log", "--format=%s"), /^(?!.*feat:)/);
    const { entries } = (await orchJson(place, "restore")).data;
    const before = entries.find((one: { readonly what: string }) => one.what.startsWith("uncommitted files before"));
    assert.deepEqual([before.by, before.files], ["do", 3], "what did not change is not in it");
    for (const { rule, message } of done.data.findings as readonly Found[])
      if (rule === "uncommitted_changed") assert.match(message, new RegExp(`orch restore ${before.id}$`));

    const back = await orchJson(place, "restore", before.id);
    assert.equal(back.code, 4, "what stands there is as young as the tests, and is left");
    const beside = new Map<string, string>(
      back.data.beside.map((one: { path: string; wroteTo: string }) => [one.path, one.wroteTo]),
    );
    for (const [name, text] of Object.entries({ ...mine, [`${slice}/spec.md`]: spec }))
      assert.equal(await repo.read(beside.get(name) ?? ""), text, name);
  });

  it("in the sandbox: they cannot be written, the work goes on, and nothing is left to restore", async () => {
    const vandal = writing({ "notes.txt": "wiped", "lib/real.py": "wiped", [`${slice}/spec.md`]: "# wiped" });
    await using feature = await readyFeature({
      files: { "lib/real.py": "REAL = 1\n" },
      steps: [replying(vandal)],
    });
    sandboxIs(feature, "required");
    const { repo, place } = feature.work;
    for (const [name, text] of Object.entries(mine)) await repo.write(name, text);
    const spec = await repo.read(`${slice}/spec.md`);

    const done = await orchJson(place, "do", "--max-attempts", "1");

    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done));
    for (const [name, text] of Object.entries({ ...mine, [`${slice}/spec.md`]: spec }))
      assert.equal(await repo.read(name), text, name);
    assert.match((await orch(place, "restore")).stdout, /Nothing to restore/);
  });

  it("in the sandbox: a folder moved away under a file that cannot be written is found out", async () => {
    const vandal = testsWith(
      'pathlib.Path("lib").rename("lib2")',
      'pathlib.Path("lib").mkdir()',
      'pathlib.Path("lib/real.py").write_text("wiped")',
    );
    await using feature = await readyFeature({ files: { "lib/real.py": "REAL = 1\n" }, steps: [replying(vandal)] });
    sandboxIs(feature, "required");
    const { repo, place } = feature.work;
    await repo.write("lib/real.py", mine["lib/real.py"]);

    const done = await orchJson(place, "do", "--max-attempts", "1");

    assert.equal(done.code, 1, JSON.stringify(done));
    assert.ok(found(done).includes("FAIL uncommitted_changed lib/real.py"), JSON.stringify(found(done)));
    const { entries } = (await orchJson(place, "restore")).data;
    const before = entries.find((one: { readonly what: string }) => one.what.startsWith("uncommitted files before"));
    const back = await orchJson(place, "restore", before.id);
    assert.equal(await repo.read(back.data.beside[0].wroteTo), mine["lib/real.py"]);
  });

  for (const sandbox of ["off", "required"]) {
    it(`sandbox ${sandbox}: a conftest.py that tests drop fails the attempt and does not steer the next one`, async () => {
      const vandal = writing({ "conftest.py": "raise SystemExit(1)\n", "left.txt": "over\n" });
      await using feature = await readyFeature({
        steps: [
          { ...replying(vandal), times: 1 },
          { match: { system: "backend engineer" }, reply: { text: goodReply } },
        ],
      });
      sandboxIs(feature, sandbox);
      const { repo, place } = feature.work;

      const done = await orchJson(place, "do");

      assert.deepEqual([done.code, done.data?.attempts?.length], [0, 2], JSON.stringify(done));
      assert.equal(await repo.read("conftest.py"), undefined, "taken away before the second attempt");
      assert.equal(await repo.read("left.txt"), "over\n", "a file that nothing loads is told and left");
      const { entries } = (await orchJson(place, "restore")).data;
      assert.deepEqual(
        entries.map(({ what, files }: { what: string; files: number }) => [
          what.endsWith("new files they left"),
          files,
        ]),
        [[true, 1]],
      );
    });

    it(`sandbox ${sandbox}: tests that write caches, reports and build folders pass, and nothing is stored`, async () => {
      const honest = testsWith(
        'pathlib.Path("build").mkdir(exist_ok=True)',
        'for name in (".coverage", "coverage.xml", "build/new.o", "tmp.out"):',
        '    pathlib.Path(name).write_text("from a run")',
        'pathlib.Path("tmp.out").unlink()',
      );
      await using feature = await readyFeature({ steps: [replying(honest)] });
      sandboxIs(feature, sandbox);
      const { repo, place } = feature.work;
      await repo.write(".coverage", "of an earlier run");
      await repo.write("notes.txt", mine["notes.txt"]);

      const done = await orchJson(place, "do", "--max-attempts", "1");

      assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done));
      assert.equal(await repo.read(".coverage"), "from a run");
      assert.match((await orch(place, "restore")).stdout, /Nothing to restore/);
    });
  }

  for (const sandbox of ["off", "required"]) {
    it(`sandbox ${sandbox}: edits that git status does not show, and a nested repository's, are kept from tests`, async () => {
      const names = ["settings.json", "settings2.json", "vendor/lib/note.txt", "mod/real.py"];
      const vandal = testsWith(
        `for name in ${JSON.stringify(names)}:`,
        "    try:",
        '        pathlib.Path(name).write_text("{}")',
        "    except OSError:",
        "        pass",
        'pathlib.Path("mod/build").mkdir(exist_ok=True)',
        'pathlib.Path("mod/build/a.o").write_text("honest")',
      );
      await using feature = await readyFeature({
        files: { "settings.json": "{}", "settings2.json": "{}", ".gitignore": "build/\n" },
        steps: [replying(vandal)],
      });
      sandboxIs(feature, sandbox);
      const { repo, place } = feature.work;
      for (const folder of ["vendor/lib", "mod"]) {
        await repo.write(`${folder}/real.py`, "REAL = 1\n");
        await repo.write(`${folder}/.gitignore`, "build/\n");
        await repo.gitIn(repo.path(folder), "init", "-q");
        await repo.gitIn(repo.path(folder), "add", ".");
        await repo.gitIn(repo.path(folder), "commit", "-qm", "own");
      }
      await repo.git("add", "mod");
      await repo.git("commit", "-qm", "a submodule");
      await repo.git("update-index", "--skip-worktree", "settings.json");
      await repo.git("update-index", "--assume-unchanged", "settings2.json");
      for (const name of names) await repo.write(name, `my ${name}`);

      const done = await orchJson(place, "do", "--max-attempts", "1");

      assert.equal(await repo.read("mod/build/a.o"), "honest", JSON.stringify(done));
      if (sandbox === "required") {
        assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done));
        for (const name of names) assert.equal(await repo.read(name), `my ${name}`);
        assert.match((await orch(place, "restore")).stdout, /Nothing to restore/);
        return;
      }
      assert.deepEqual(
        [done.code, found(done).toSorted()],
        [1, names.map((name) => `FAIL uncommitted_changed ${name}`).toSorted()],
        JSON.stringify(done),
      );
      const { entries } = (await orchJson(place, "restore")).data;
      const before = entries.find((one: { readonly what: string }) => one.what.startsWith("uncommitted files before"));
      for (const name of names) fs.rmSync(repo.path(name));
      const back = await orchJson(place, "restore", before.id);
      assert.equal(back.code, 0, JSON.stringify(back));
      for (const name of names) assert.equal(await repo.read(name), `my ${name}`);
    });
  }

  it("a committed file that tests write fails the attempt: git has what it held", async () => {
    const vandal = writing({ "lib/real.py": "wiped" });
    await using feature = await readyFeature({ files: { "lib/real.py": "REAL = 1\n" }, steps: [replying(vandal)] });
    sandboxIs(feature, "off");

    const done = await orchJson(feature.work.place, "do", "--max-attempts", "1");

    assert.deepEqual([done.code, found(done)], [1, ["FAIL check_left_change lib/real.py"]], JSON.stringify(done));
  });

  it("qa tells what tests did to uncommitted work, keeps it, and is red", async () => {
    await using feature = await readyFeature({ files: { "lib/real.py": "REAL = 1\n" } });
    sandboxIs(feature, "off");
    const { repo, place } = feature.work;
    assert.equal((await orchJson(place, "do")).code, 0);
    await repo.write(`${slice}/Tests.py`, writing({ "notes.txt": "wiped", "lib/real.py": "wiped" }));
    await repo.git("commit", "-qam", "tests that write");
    await repo.write("notes.txt", mine["notes.txt"]);

    const red = await orchJson(place, "qa");

    assert.equal(red.code, 1, JSON.stringify(red));
    assert.deepEqual(found(red), ["FAIL uncommitted_changed notes.txt", "WARN check_left_change lib/real.py"]);
    const { entries } = (await orchJson(place, "restore")).data;
    assert.equal(red.next[0], `orch restore ${entries[0].id}`);
    assert.deepEqual([entries[0].by, entries[0].files], ["qa", 1]);
    const back = await orchJson(place, "restore", entries[0].id);
    assert.equal(await repo.read(back.data.beside[0].wroteTo), mine["notes.txt"]);
  });
});
