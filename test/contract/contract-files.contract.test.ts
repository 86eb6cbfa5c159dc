import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { check, type CheckData } from "../../shared/app/handlers/check.ts";
import { loadContracts, requireTrustedContracts, trustContracts } from "../../shared/app/contract-files.ts";
import { contractKinds } from "../../shared/model/contract-kinds.ts";
import { Contract, type ContractInput } from "../../shared/model/contract.ts";
import { jsonPaths } from "../../shared/model/json-paths.ts";
import { readJson } from "../../shared/model/json-text.ts";
import { contractTemplate } from "../../shared/app/contract-template.ts";
import type { DoContext } from "../../shared/app/do-context.ts";
import { absPath } from "../../shared/base/paths.ts";
import type { DiffView } from "../../shared/ports/editor.ts";
import type { Finding } from "../../shared/model/finding.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { sourceRoot } from "../support/source-root.ts";

const never = new AbortController().signal;

const contract: ContractInput = {
  id: "T1",
  title: "Round tax line by line",
  goal: "Cart.total in src/cart.py rounds the tax of each line",
  allowed: ["src/cart.py"],
  max_minutes: 10,
  estimate_lines: 40,
  max_diff_lines: 100,
  acceptance: [{ id: "a1", text: "A cart of 3 lines totals 1.00", check: "cart" }],
  checks: [{ name: "cart", argv: ["python3", "-m", "pytest", "tests/test_cart.py"] }],
};
const text = (more: Partial<ContractInput> = {}): string => `${JSON.stringify({ ...contract, ...more }, null, 2)}\n`;
const at = (id: string): string => `.orch/contracts/${id}.json`;

async function makeRoom(files: Readonly<Record<string, string>> = {}): Promise<{
  readonly bench: Bench;
  readonly context: DoContext;
  readonly shown: (readonly Finding[])[];
  readonly diffs: DiffView[];
}> {
  const bench = await makeBench({ files: { "src/cart.py": "x = 1\n", "tests/test_cart.py": "pass\n", ...files } });
  const shown: (readonly Finding[])[] = [];
  const diffs: DiffView[] = [];
  const { editor } = bench.context;
  editor.showFindings = (findings) => void shown.push(findings);
  editor.showDiff = (diff) => Promise.resolve(void diffs.push(diff));
  return { bench, context: { ...bench.context, cwd: bench.repo.root } as unknown as DoContext, shown, diffs };
}

const data = (result: { readonly data?: unknown }): CheckData => result.data as CheckData;
const told = ({ findings }: CheckData): string[] =>
  findings.map(({ severity, rule, path, line }) => `${severity} ${rule} ${path}:${line}`);

describe("contract files", function () {
  this.timeout(600_000);

  it("by id and by path alike: a link is followed, and what is no plain file is refused by its name", async () => {
    const { bench, context } = await makeRoom();
    await using _end = bench;
    await bench.repo.write(at("T1"), text());
    await bench.repo.link(at("T2"), "T1.json");
    execFileSync("mkfifo", [bench.repo.path(at("T3"))]);
    await bench.repo.write(".orch/contracts/T4.json/x", "");
    for (const word of ["T2", at("T2")]) assert.equal((await loadContracts(context, [word]))[0]?.contract.id, "T1");
    for (const [id, message] of [
      ["T3", /T3\.json is a device or a pipe/],
      ["T4", /T4\.json is a folder/],
    ] as const)
      for (const word of [id, at(id)]) {
        const error = await refused(loadContracts(context, [word]));
        assert.deepEqual([word, error.code], [word, "path.refused"]);
        assert.match(error.message, message);
      }
  });

  it("are read by path, from a folder below, and by id; comments and trailing commas are allowed", async () => {
    const { bench, context } = await makeRoom();
    await using _end = bench;
    await bench.repo.write(at("T1"), `// why\n${text().replace("\n}", ",\n}")}`);
    for (const [cwd, word] of [
      [bench.repo.root, at("T1")],
      [bench.repo.path("src"), "../.orch/contracts/T1.json"],
      [bench.repo.path("src"), bench.repo.path(at("T1"))],
      [bench.repo.path("src"), "T1"],
    ] as const) {
      const [one] = await loadContracts({ ...context, cwd: absPath(cwd) }, [word]);
      assert.deepEqual([one?.contract.id, one?.path, one?.lineOf(["allowed", 0])], ["T1", at("T1"), 7], word);
    }
    assert.equal((await refused(loadContracts(context, ["../elsewhere.json"]))).code, "path.refused");
    const gone = await refused(loadContracts(context, ["T9.json"]));
    assert.deepEqual([gone.code, gone.exit, gone.message], ["contract.unknown", 2, "there is no contract T9.json"]);
  });

  const broken: readonly (readonly [string, string, RegExp])[] = [
    ["not JSON", '{\n  "id": "T1",\n  "title" "x"\n}', /T1\.json:3: it is not JSON here/],
    ["conflict markers", '{\n<<<<<<< ours\n"id": "T1"\n', /T1\.json:2: .*conflict markers/],
    [
      "an unknown key",
      text({}).replace('"goal"', '"gaol"'),
      /T1\.json:4: "gaol": unknown key|T1\.json:1: goal is missing/,
    ],
    ["a key twice", text().replace('"title"', '"id": "T2",\n  "title"'), /T1\.json:3: the key "id" stands twice/],
    [
      "a wrong type",
      text().replace('[\n    "src/cart.py"\n  ]', '"src/cart.py"'),
      /T1\.json:5: allowed must be a list/,
    ],
    ["a wrong kind", text({ kind: "ui" }).replace('"ui"', '"web"'), /kind must be one of mechanical/],
    ["an id of a run", text({ id: "r-1" }), /T1\.json:2: id is wrong: .*does not start with r-/],
    ["no allowed files", text({ allowed: [] }), /T1\.json:5: allowed must not be empty/],
  ];
  for (const [name, bytes, said] of broken)
    it(`name what is wrong, where: ${name}`, async () => {
      const { bench, context, shown } = await makeRoom();
      await using _end = bench;
      await bench.repo.write(at("T1"), bytes);
      const error = await refused(loadContracts(context, ["T1"]));
      assert.deepEqual([error.code, error.exit], ["contract.invalid", 3]);
      assert.match(error.message, said);
      assert.match(error.hint, /orch check/);
      const before = await bench.state();
      const result = await check(context, args({ words: ["T1"] }), never);
      assert.deepEqual([result.ok, result.code, data(result).contracts], [false, 1, []]);
      const [finding] = data(result).findings;
      assert.deepEqual([finding?.rule, finding?.severity, shown.length], ["contract.schema", "FAIL", 1]);
      assert.match(`${finding?.path}:${finding?.line}: ${finding?.message}`.replace(".orch/contracts/", ""), said);
      assert.notEqual(finding?.remedy, "");
      assert.deepEqual(await bench.state(), before, "nothing is changed");
    });

  it("check says nothing about a good one, and names all of .orch/contracts without words", async () => {
    const { bench, context, shown } = await makeRoom();
    await using _end = bench;
    const none = await refused(check(context, args({ words: [] }), never));
    assert.equal(none.code, "usage.invalid");
    await bench.repo.write(at("T1"), text());
    await bench.repo.write(at("T2"), text({ id: "T2", allowed: ["src/tax.py"], max_diff_lines: 500 }));
    const result = await check(context, args({ words: [] }), never);
    assert.deepEqual([result.ok, result.summary], [true, "2 contracts, 0 failures, 1 warning"]);
    assert.deepEqual(told(data(result)), [`WARN contract.budget-ratio ${at("T2")}:10`]);
    assert.deepEqual(
      shown.at(-1)?.map(({ message }) => message),
      ["max_diff_lines 500 is over 3 times estimate_lines 40. Between 80 and 120"],
      "what is shown says what mends it",
    );
    const alone = await check(context, args({ words: ["T1"] }), never);
    assert.deepEqual(
      [alone.summary, alone.next],
      ["1 contract, 0 failures, 0 warnings", ['orch run --title "..." T1']],
    );
    const again = await check(context, args({ words: ["T1", at("T1"), "T1"] }), never);
    assert.equal(again.summary, "1 contract, 0 failures, 0 warnings", "one file is one contract, however it is named");
    assert.equal((await loadContracts(context, ["T1", at("T1"), "T1"])).length, 1);
  });

  it("check has nothing to say about the sample of the documentation", async () => {
    const page = fs.readFileSync(path.join(sourceRoot, "docs", "contracts.md"), "utf8");
    const [, sample = ""] = /```jsonc\n([\s\S]*?)```/.exec(page) ?? [];
    const { bench, context } = await makeRoom({
      "src/slug.py": "def slugify(text: str) -> str:\n    return text\n",
      "src/api.py": "# a line\n".repeat(24),
    });
    await using _end = bench;
    await bench.repo.write(at("T1"), sample);
    const result = await check(context, args({ words: ["T1"] }), never);
    assert.deepEqual([result.summary, told(data(result))], ["1 contract, 0 failures, 0 warnings", []]);
  });

  it("check looks at the repository: tracked, untracked, hidden, other contracts, workers of the settings", async () => {
    const { bench, context } = await makeRoom();
    await using _end = bench;
    await bench.repo.write("notes/plan.md", "x\n");
    await bench.repo.write("../hidden.py", "x\n");
    await bench.repo.write(at("OLD"), text({ id: "OLD" }));
    await bench.repo.write(
      at("T1"),
      text({
        goal: "Do what notes/plan.md says",
        worker: "mine",
        after: ["OLD"],
        pattern_refs: ["src/cart.py:1", "src/cart.py:7"],
        hidden_files: [
          { from: "../hidden.py", to: "tests/test_hidden.py" },
          { from: "../gone.py", to: "tests/test_gone.py" },
          { from: "src/cart.py", to: "tests/test_inside.py" },
        ],
      }),
    );
    const rules = async (from: DoContext): Promise<string[]> => {
      const result = await check(from, args({ words: ["T1"] }), never);
      return data(result)
        .findings.map(({ severity, rule, message }) => `${severity} ${rule.replace("contract.", "")}: ${message}`)
        .toSorted();
    };
    const wanted = [
      "FAIL hidden-missing: the hidden file ../gone.py cannot be read",
      "FAIL hidden-missing: the hidden file src/cart.py lies in the repository, where every worker sees it",
      "FAIL reference-missing: src/cart.py has 1 lines, and src/cart.py:7 names line 7",
      "WARN after-unknown: OLD is not among the contracts that are checked",
      "WARN reference-missing: notes/plan.md is untracked, so the worker does not see it",
    ];
    assert.deepEqual(await rules(context), ["FAIL worker-unknown: there is no worker mine", ...wanted].toSorted());
    const config = { ...context.config, workers: { mine: {} } };
    assert.deepEqual(await rules({ ...context, config }), wanted);
  });

  describe("check --template", () => {
    for (const kind of contractKinds)
      it(`${kind}: every field with a comment, read by the schema, and only what is not filled in is named`, () => {
        const written = contractTemplate("T1", kind);
        const read = readJson(written, Contract, { trailingCommas: true });
        if (read.kind === "bad") assert.fail(`${read.fault.line}: ${read.fault.message}\n${written}`);
        assert.deepEqual([read.value.id, read.value.kind], ["T1", kind]);
        const keys = Object.keys(Contract.shape).filter((key) => key !== "$schema");
        const lines = written.split("\n");
        for (const key of keys) {
          const line = lines.findIndex((one) => one.replace(/^ *(?:\/\/ *)?/, "").startsWith(`"${key}":`));
          assert.ok(line > 0, `${key} is missing`);
          assert.match(lines[line - 1] ?? "", /^ {2}\/\/ \S/, `${key} has no comment`);
        }
        assert.deepEqual(new Set(jsonPaths(written).map(({ path }) => path.split(".")[0])).has("goal"), true);
        // Uncommented, what is there to be known is read as well.
        const all = written.replace(/^ {2}\/\/ {2}(?=\S|\s)/gm, "  ").replace(/^ {2}\/\/ ("\w+":|[\]}])/gm, "  $1");
        const whole = readJson(all, Contract, { trailingCommas: true });
        assert.equal(
          whole.kind,
          "ok",
          whole.kind === "bad" ? `${whole.fault.line}: ${whole.fault.message}\n${all}` : "",
        );
      });

    it("writes .orch/contracts/<ID>.json once, which is trusted and checked", async () => {
      const { bench, context } = await makeRoom();
      await using _end = bench;
      const template = (...words: string[]): ReturnType<typeof check> =>
        check(context, args({ words, template: true }), never);
      const result = await template("tests", "T1");
      assert.deepEqual([result.ok, result.next], [true, [`orch check ${at("T1")}`]]);
      assert.equal(await bench.repo.read(at("T1")), contractTemplate("T1", "tests"));
      assert.notEqual(await context.trust.trustedFile(at("T1") as never), undefined);
      const again = await refused(template("T1"));
      assert.deepEqual([again.code, again.exit], ["contract.exists", 5]);
      assert.equal(await bench.repo.read(at("T1")), contractTemplate("T1", "tests"));
      await template("T2");
      const found = data(await check(context, args({ words: ["T2"] }), never)).findings;
      assert.ok(found.filter(({ rule }) => rule === "contract.unfilled").length >= 3, JSON.stringify(found));
      for (const [words, said] of [
        [["web", "T3"], /web is no kind of contract: mechanical/],
        [["r-1"], /does not start with r-/],
        [["../x"], /letters, digits/],
        [[], /takes a kind/],
      ] as const)
        assert.match((await refused(template(...words))).message, said);
    });
  });

  describe("trust", () => {
    it("written here: nothing is asked, nor when it is committed later", async () => {
      const { bench, context } = await makeRoom();
      await using _end = bench;
      bench.answer({ choice: "no", by: "person" });
      await bench.repo.write(at("T1"), text());
      const loaded = await loadContracts(context, ["T1"]);
      await trustContracts(context, loaded, "it runs checks", never);
      await bench.repo.commit("contract");
      await trustContracts(context, await loadContracts(context, ["T1"]), "it runs checks", never);
      assert.deepEqual(bench.asked, []);
      await bench.repo.write(at("T1"), text({ title: "Another title" }));
      await trustContracts(context, await loadContracts(context, ["T1"]), "it runs checks", never);
      assert.deepEqual(bench.asked, []);
    });

    it("arrived by a pull: refused without a person, naming what it would run; calling is not the answer", async () => {
      const { bench, context } = await makeRoom({ [at("T1")]: text() });
      await using _end = bench;
      const [loaded] = await loadContracts(context, ["T1"]);
      assert.ok(loaded !== undefined);
      await bench.distrust();
      await bench.context.trust.grant({ ...(await bench.context.trust.state()), files: [] });
      for (let times = 0; times < 2; times += 1) {
        const error = await refused(trustContracts(context, [loaded], "it runs checks", never));
        assert.deepEqual([error.code, error.exit], ["trust.needed", 7]);
        assert.match(
          error.message,
          /T1\.json came with the repository .*would run python3 -m pytest tests\/test_cart\.py/,
        );
        assert.match(error.hint, /orch trust/);
      }
    });

    it("a dry run asks nobody and notes nothing: refused where the command would ask, quiet where it would go on", async () => {
      const { bench, context, diffs } = await makeRoom({ [at("T1")]: text() });
      await using _end = bench;
      const dry = async (id: string): Promise<void> =>
        requireTrustedContracts(context, await loadContracts(context, [id]), "it runs checks", never);
      bench.answer({ choice: "trust", by: "person" });
      await bench.distrust();
      const before = await refused(dry("T1"));
      assert.deepEqual(
        [before.code, before.message],
        ["trust.needed", "this repository is not trusted: it runs checks"],
      );
      await bench.context.trust.grant({ ...(await bench.context.trust.state()), files: [] });
      const error = await refused(dry("T1"));
      assert.equal(error.code, "trust.needed");
      assert.match(error.message, /T1\.json came with the repository .*would run python3 -m pytest/);
      await bench.repo.write(at("T2"), text({ id: "T2" }));
      await dry("T2");
      assert.equal(await context.trust.trustedFile(at("T2") as never), undefined);
      assert.deepEqual([bench.asked, diffs], [[], []]);
      await trustContracts(context, await loadContracts(context, ["T1"]), "it runs checks", never);
      await dry("T1");
    });

    it("arrived by a pull: shown and asked about once; a changed one is asked about again", async () => {
      const { bench, context, diffs } = await makeRoom({ [at("T1")]: text() });
      await using _end = bench;
      const load = async (): Promise<void> =>
        trustContracts(context, await loadContracts(context, ["T1"]), "it runs checks", never);
      await bench.distrust();
      bench.answer({ choice: "no", by: "person" });
      assert.equal((await refused(load())).code, "trust.needed");
      bench.answer({ choice: "trust", by: "person" });
      await load();
      assert.ok(diffs.some(({ path, right }) => path === at("T1") && right === text()));
      const asked = bench.asked.length;
      await load();
      assert.equal(bench.asked.length, asked);
      await bench.repo.commit("theirs", { [at("T1")]: text({ checks: [{ name: "cart", argv: ["rm", "-rf", "x"] }] }) });
      bench.answer({ choice: "no", by: "person" });
      assert.equal((await refused(load())).code, "trust.needed");
      assert.ok(bench.asked.length > asked);
    });
  });
});
