import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { orchJson, startCli } from "../support/orch-cli.ts";
import { makeTempRepo, type TempRepo } from "../support/temp-repo.ts";

/** The built command line over Python's own standard library, copied into a fresh repository. */
const library = "/usr/lib/python3.11";

describe("orch qa over the standard library", function () {
  this.timeout(600_000);
  let repo: TempRepo;
  let count = 0;

  before(async function () {
    if (!fs.existsSync(library)) this.skip();
    repo = await makeTempRepo();
    fs.cpSync(library, path.join(repo.root, "lib"), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (from) => !from.endsWith("__pycache__") && (fs.lstatSync(from).isDirectory() || from.endsWith(".py")),
    });
    count = fs
      .readdirSync(path.join(repo.root, "lib"), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".py")).length;
  });
  after(() => repo?.cleanup());

  const place = (): { cwd: string; env: Readonly<Record<string, string>> } => ({ cwd: repo.root, env: repo.env });

  it("one document answers for every file; the second run gives the same from its cache @slow", async () => {
    const first = await orchJson(place(), "qa");
    assert.deepEqual([first.ok, first.code, first.error], [false, 1, null], first.summary);
    assert.ok(count > 600, `${count} files`);
    assert.equal(first.data.files, count);
    assert.deepEqual([first.data.tests, first.data.rules.broken, first.data.syntax.verified], [[], [], true]);
    const skipped = (first.data.skipped as { path: string; why: string }[]).map(({ path: at, why }) => [
      fs.lstatSync(path.join(repo.root, at)).isSymbolicLink(),
      why,
    ]);
    assert.ok(
      skipped.every(([link, why]) => link === true && why === "a symbolic link"),
      JSON.stringify(skipped),
    );
    const findings = first.data.findings as { rule: string; path?: string }[];
    assert.ok(findings.length > 1000);
    assert.ok(findings.every(({ path: at }) => at === undefined || fs.existsSync(path.join(repo.root, at))));
    assert.deepEqual(
      findings.filter(({ rule }) => ["syntax", "no_syntax_tree", "syntax_unverified"].includes(rule)),
      [],
    );
    const second = await orchJson(place(), "qa");
    assert.deepEqual(second.data.findings, first.data.findings);
    assert.equal(await repo.git("status", "--porcelain"), "?? lib/");
  });

  it("on a terminal it shows the worst first, counts the rest and names the next step", async () => {
    const { code, stdout, stderr } = await startCli(place(), "qa", "lib/distutils").end;
    const text = stdout + stderr;
    assert.equal(code, 1);
    assert.match(text, /FAIL py\.unused-import lib\/distutils/);
    assert.match(text, /\d+ source files, \d+ failures?, \d+ warnings?/);
    assert.match(text, /^  Remove the import; a re-export/m);
    assert.match(text, /^Edit lib\/distutils\/\S+\.py$/m);
    assert.match(text, /^Next: orch qa$/m);
  });

  it("a folder outside of the repository is refused with the way out", async () => {
    const outside = await orchJson(place(), "qa", library);
    assert.deepEqual([outside.code, outside.error?.code], [2, "path.refused"]);
    assert.match(outside.error?.message ?? "", /outside of this repository/);
    assert.match(outside.error?.hint ?? "", /path inside the repository/);
  });
});
