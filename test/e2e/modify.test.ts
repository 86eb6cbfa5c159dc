import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { CommandArgs } from "../../shared/app/context.ts";
import { modify } from "../../shared/app/handlers/modify.ts";
import { parseSpec } from "../../shared/features/spec.ts";
import { neovims } from "../nvim/harness/neovims.ts";
import { args, type Bench, makeBench, refused } from "../support/bench.ts";
import { eventually } from "../support/eventually.ts";
import { type FeatureRepo, makeFeatureRepo, projectFiles } from "../support/feature-repo.ts";
import { invoiceSpec } from "../support/invoice-replies.ts";
import { orch, orchJson } from "../support/orch-cli.ts";
import { type PipelineOptions, type PipelineRoom, pipelineRoom } from "../support/pipeline-room.ts";
import { registryText, slice } from "../support/sample-slice.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import type { TempRepoOptions } from "../support/temp-repo.ts";

const signal = new AbortController().signal;
const dir = "features/Billing/Invoice";
const spec = `${dir}/spec.md`;
const better = invoiceSpec
  .replace("## Errors", "2. Each line is rounded up.\n\n## Errors")
  .replace("unit_cents.\n\n2.", "unit_cents.\n2.");
const files = {
  "README.md": "# sample\n",
  ...slice(dir),
  [spec]: invoiceSpec,
  ".features.json": registryText({ Invoice: "Billing" }),
};

interface ModifyData {
  readonly target: string;
  readonly branch: string;
  readonly amendment: number;
  readonly trash: string | null;
  readonly files: readonly string[];
  readonly spec: { readonly by: string; readonly note?: string };
  readonly text: readonly string[];
}

interface Room extends AsyncDisposable, PipelineRoom {
  readonly bench: Bench;
  run(given: Partial<CommandArgs>): ReturnType<typeof modify>;
}

async function room(options: PipelineOptions = {}, repo: TempRepoOptions = {}): Promise<Room> {
  const bench = await makeBench({ files, ...repo });
  const at = pipelineRoom(bench, { said: [better], ...options });
  return {
    ...at,
    bench,
    run: (given) => modify(at.context, args(given), signal),
    [Symbol.asyncDispose]: () => bench[Symbol.asyncDispose](),
  };
}

const today = (): string => new Date().toISOString().slice(0, 10);

describe("modify @slow", function () {
  this.timeout(600_000);

  it("from main makes modify/<Feature>, amends the body by a model and appends the request, uncommitted", async () => {
    await using at = await room({}, { remote: true, folder: "répo with space" });
    const { repo } = at.bench;
    const main = await repo.git("rev-parse", "main");
    const result = await at.run({ words: ["Billing/Invoice", "Round", "each line up", "with sk-secret"] });
    const data = result.data as ModifyData;
    assert.equal(result.ok, true, result.summary);
    assert.match(
      result.summary,
      /^Billing\/Invoice: amendment 1 on branch modify\/Invoice, spec\.md amended by test\/one$/,
    );
    assert.deepEqual(result.next, ["orch do"]);
    assert.equal(await repo.git("branch", "--show-current"), "modify/Invoice");
    assert.equal(await repo.git("config", "branch.modify/Invoice.orch"), "Billing/Invoice");
    assert.equal(await repo.git("rev-parse", "HEAD", "main"), `${main}\n${main}`);
    assert.equal(await repo.git("status", "--porcelain"), `M ${spec}`.padStart(spec.length + 3));
    assert.equal(
      await repo.read(spec),
      `${better}\n## CONTRACT AMENDMENT 1 (${today()})\n\nRound each line up with sk-secret\n`,
    );
    assert.deepEqual(at.diffs, [
      { title: `${spec}: amendment 1`, path: spec, left: invoiceSpec, right: await repo.read(spec) },
    ]);
    assert.ok(data.text.includes("+ 2. Each line is rounded up."));
    assert.equal(data.trash, null, "git has the spec of before");
    const [asked] = at.model.asked;
    assert.deepEqual([asked?.role, asked?.subject?.spec], ["amend", invoiceSpec]);
    assert.ok(asked?.messages.every(({ content }) => !content.includes("sk-secret")));

    const again = await at.run({ words: ["Billing/Invoice", "Again"] });
    assert.deepEqual([(again.data as ModifyData).amendment, (again.data as ModifyData).branch], [2, "modify/Invoice"]);
    assert.deepEqual(
      parseSpec((await repo.read(spec)) ?? "").amendments.map(({ number, body }) => [number, body]),
      [
        [1, "Round each line up with sk-secret"],
        [2, "Again"],
      ],
    );
  });

  it("a row that the model drops is asked about, and named to the person where it stays gone", async () => {
    const shorter = better.replace("| no lines | InvoiceError |\n", "");
    assert.notEqual(shorter, better);
    await using careless = await room({ said: [shorter, better] });
    const kept = await careless.run({ words: ["Billing/Invoice", "Round each line up"] });
    assert.doesNotMatch(kept.summary, /gone from the spec/);
    assert.match(
      careless.model.asked[1]?.messages.at(-1)?.content ?? "",
      /a row of the old spec is gone: Examples: no lines \| InvoiceError/,
    );
    assert.ok((await careless.bench.repo.read(spec))?.startsWith(better));

    await using meant = await room({ said: [shorter] });
    const gone = await meant.run({ words: ["Billing/Invoice", "Round each line up, and take the error out"] });
    assert.equal(meant.model.asked.length, 2);
    assert.match(gone.summary, /gone from the spec: Examples: no lines \| InvoiceError/);
    assert.ok(gone.ok && (await meant.bench.repo.read(spec))?.startsWith(shorter));

    const other = better.replace(/\n1\. [\s\S]*?\n2\./, "\n2.");
    await using restless = await room({ said: [shorter, other] });
    const refusedToo = await restless.run({ words: ["Billing/Invoice", "Round each line up"] });
    assert.match(refusedToo.summary, /would have damaged the spec: a row of the old spec is gone: Rules: /);
    assert.ok((await restless.bench.repo.read(spec))?.startsWith(invoiceSpec), "only the amendment was appended");
  });

  it("on the feature's own branch amends there; a spec that no commit has goes into the trash first", async () => {
    await using at = await room();
    const { repo } = at.bench;
    await repo.git("switch", "-qc", "Billing/Invoice");
    const mine = invoiceSpec.replace("Adds up", "Adds up, as I typed it,");
    await repo.write(spec, mine);
    await repo.write("notes.txt", "mine\n");
    const { data, summary } = await at.run({ words: ["Invoice"], prompt: "Round up" });
    const { branch, trash } = data as ModifyData;
    assert.equal(branch, "Billing/Invoice");
    assert.match(summary, /stored: orch restore/);
    await rm(repo.path(spec));
    await at.context.trash.restore(trash ?? "");
    assert.equal(await repo.read(spec), mine);
    assert.equal(await repo.read("notes.txt"), "mine\n");
  });

  it("from main enters the feature's open branch, whatever line ends git gives its files", async () => {
    for (const globalConfig of ["", "[core]\n\tautocrlf = true\n"]) {
      await using at = await room({}, { globalConfig });
      const { repo } = at.bench;
      await repo.git("switch", "-qc", "Billing/Invoice");
      await repo.git("config", "branch.Billing/Invoice.orch", "Billing/Invoice");
      await repo.commit("more", { [spec]: invoiceSpec.replace("Adds up", "Sums") });
      await repo.git("switch", "-q", "main");
      const { data } = await at.run({ words: ["Billing/Invoice", "Round up"] });
      assert.equal((data as ModifyData).branch, "Billing/Invoice");
      assert.match((await repo.read(spec)) ?? "", /CONTRACT AMENDMENT 1/);
      const crlf = globalConfig !== "";
      assert.equal(/\r\n/.test((await repo.read(spec)) ?? ""), crlf);
      assert.equal(/[^\r]\n/.test((await repo.read(spec)) ?? ""), !crlf);
    }
  });

  it("a merged leftover is not entered: the amending starts from main", async () => {
    await using at = await room();
    await at.bench.repo.git("branch", "Billing/Invoice");
    await at.bench.repo.git("config", "branch.Billing/Invoice.orch", "Billing/Invoice");
    assert.equal(((await at.run({ words: ["Billing/Invoice", "x"] })).data as ModifyData).branch, "modify/Invoice");
  });

  it("without a model's answer, or with one that would damage the spec, only the amendment is appended, and it says so", async () => {
    const torn = better.replace(/## Errors[\s\S]*?(?=## Examples)/, "## Errors\n\nSome.\n\n");
    for (const [said, note] of [
      [[], /no model can be asked: pi is not installed/],
      [
        [{ kind: "failed", why: "timeout", detail: "no reply within 300 s" }],
        /only the amendment was appended to spec\.md \(test\/one: no reply/,
      ],
      [["I would rather not."], /test\/one gave no spec/],
      [[torn], /would have damaged the spec: .*Errors holds no table/],
    ] as const) {
      await using at = await room({ said });
      const result = await at.run({ words: ["Billing/Invoice", "Round up"] });
      assert.match(result.summary, note);
      assert.equal((result.data as ModifyData).spec.by, "template");
      const text = (await at.bench.repo.read(spec)) ?? "";
      assert.equal(text, `${invoiceSpec}\n## CONTRACT AMENDMENT 1 (${today()})\n\nRound up\n`);
    }
    await using secret = await room({}, { files: { ...files, [spec]: `${invoiceSpec}sk-secret\n` } });
    assert.match((await secret.run({ words: ["Billing/Invoice", "x"] })).summary, /holds a secret, which is not sent/);
    assert.equal(secret.model.asked.length, 0);
  });

  it("keeps the person's own sections and amendments when the model leaves them out", async () => {
    const mine = `${invoiceSpec}\n## Notes of ours\n\nKeep me.\n\n## CONTRACT AMENDMENT 1 (2026-01-01)\n\nFirst.\n`;
    await using at = await room(
      { said: [`${better}\n## CONTRACT AMENDMENT 1 (2020-01-01)\n\nForged.\n`] },
      { files: { ...files, [spec]: mine } },
    );
    await at.run({ words: ["Billing/Invoice", "Round up"] });
    assert.equal(
      await at.bench.repo.read(spec),
      `${better}\n## Notes of ours\n\nKeep me.\n\n## CONTRACT AMENDMENT 1 (2026-01-01)\n\nFirst.\n\n## CONTRACT AMENDMENT 2 (${today()})\n\nRound up\n`,
    );
  });

  it("makes a missing folder without a controller, and registers a slice that is not", async () => {
    await using missing = await room(
      {},
      { files: { "README.md": "#\n", ".features.json": registryText({ Invoice: "Billing" }) } },
    );
    const made = (await missing.run({ words: ["Invoice", "Totals"] })).data as ModifyData;
    assert.deepEqual(made.files.map((file) => path.basename(file)).toSorted(), [
      "Handler.py",
      "Schema.py",
      "Tests.py",
      "__init__.py",
      "spec.md",
    ]);
    assert.equal(await missing.bench.repo.read(".features.json"), registryText({ Invoice: "Billing" }));
    assert.equal(made.branch, "modify/Invoice");

    await using loose = await room({}, { files: { ...files, ".features.json": registryText({}) } });
    await loose.run({ words: ["Invoice", "x"] });
    assert.deepEqual(JSON.parse((await loose.bench.repo.read(".features.json")) ?? "").known_features, {
      Invoice: "Billing",
    });
  });

  describe("without a target", () => {
    it("the active buffer decides; its unsaved text and selection are shown to the model and never written", async () => {
      await using probe = await room();
      const at = pipelineRoom(probe.bench, {
        said: [better],
        buffer: {
          path: probe.bench.repo.path(dir, "Handler.py"),
          text: "def handle():\n    UNSAVED = 1\n    sk-secret\n",
          selection: { startLine: 2, endLine: 3 },
          changed: true,
        },
      });
      const before = await probe.bench.repo.read(`${dir}/Handler.py`);
      const result = await modify(at.context, args({ words: ["round each line up"] }), signal);
      assert.equal((result.data as ModifyData).target, "Billing/Invoice");
      const shown = at.model.asked[0]?.messages.at(-1)?.content ?? "";
      assert.match(shown, /looking at features\/Billing\/Invoice\/Handler\.py \(lines 2-3, selected, unsaved\)/);
      assert.match(shown, / {4}UNSAVED = 1\n {4}\[redacted\]\n/);
      assert.equal(await probe.bench.repo.read(`${dir}/Handler.py`), before);
      assert.equal(await probe.bench.repo.git("status", "--porcelain"), ` M ${spec}`);
    });

    it("a spec.md with unsaved text is not touched: neither the file nor the buffer could win", async () => {
      for (const words of [["round up"], ["Billing/Invoice", "round up"]]) {
        await using probe = await room();
        const buffer = { path: probe.bench.repo.path(spec), text: "# half typed\n", changed: true };
        const at = pipelineRoom(probe.bench, { said: [better], buffer });
        const before = await probe.bench.state();
        const error = await refused(modify(at.context, args({ words }), signal));
        assert.deepEqual([error.code, error.exit], ["tree.dirty", 5]);
        assert.match(`${error.message} ${error.hint}`, /unsaved changes in the editor.*Save it/);
        assert.deepEqual(await probe.bench.state(), before);
      }
    });

    it("nothing of what .orchignore names is shown", async () => {
      await using probe = await room({}, { files: { ...files, ".orchignore": "Handler.py\n" } });
      const buffer = { path: probe.bench.repo.path(dir, "Handler.py"), text: "PRIVATE\n", changed: true };
      const at = pipelineRoom(probe.bench, { said: [better], buffer });
      await modify(at.context, args({ words: ["round up"] }), signal);
      assert.ok(at.model.asked[0]?.messages.every(({ content }) => !content.includes("PRIVATE")));
    });

    it("refuses, naming --file, where no file is looked at; and says what a file lacks", async () => {
      await using at = await room();
      const none = await refused(at.run({ words: ["round up"] }));
      assert.deepEqual([none.code, none.exit], ["target.missing", 2]);
      assert.match(none.message, /--file/);
      const outside = await refused(at.run({ words: ["round up"], file: "/etc/passwd" }));
      assert.equal(outside.code, "path.refused");
      const elsewhere = await refused(at.run({ words: ["round up"], file: "README.md" }));
      assert.deepEqual([elsewhere.code, elsewhere.exit], ["target.missing", 2]);
      assert.match(elsewhere.message, /README\.md is in no feature's folder/);
      const named = await at.run({ words: ["round up"], file: `${dir}/Tests.py` });
      assert.equal((named.data as ModifyData).target, "Billing/Invoice");
    });
  });

  describe("refuses, and everything is as it was", () => {
    const rows: readonly (readonly [
      string,
      Partial<CommandArgs>,
      (bench: Bench) => Promise<unknown>,
      string,
      RegExp,
    ])[] = [
      [
        "no words",
        { words: ["Billing/Invoice"] },
        async () => undefined,
        "usage.invalid",
        /what changes in Billing\/Invoice/,
      ],
      ["an unknown feature", { words: ["Billing/Invoise", "x"] }, async () => undefined, "target.unknown", /Invoise/],
      [
        "a dirty tree on main",
        { words: ["Invoice", "x"] },
        ({ repo }) => repo.write("README.md", "mine\n"),
        "tree.dirty",
        /README/,
      ],
      [
        "somebody's branch",
        { words: ["Invoice", "x"] },
        ({ repo }) => repo.git("switch", "-qc", "mine"),
        "branch.wrong",
        /mine/,
      ],
      [
        "another open feature",
        { words: ["Invoice", "x"] },
        async ({ repo }) => {
          await repo.git("switch", "-qc", "Shop/Cart");
          await repo.git("config", "branch.Shop/Cart.orch", "Shop/Cart");
          await repo.commit("wip", { "cart.txt": "x" });
          await repo.git("switch", "-q", "main");
        },
        "branch.open",
        /Shop\/Cart/,
      ],
      [
        "a branch in the way",
        { words: ["Invoice", "x"] },
        async ({ repo }) => {
          await repo.git("switch", "-qc", "modify");
          await repo.git("switch", "-q", "main");
        },
        "branch.taken",
        /modify is in the way/,
      ],
      [
        "a spec that is a link",
        { words: ["Invoice", "x"] },
        async ({ repo }) => {
          await rm(repo.path(spec));
          await repo.link(spec, "/etc/passwd");
          await repo.commit("linked");
        },
        "path.refused",
        /no plain file/,
      ],
      [
        "a spec that is no text",
        { words: ["Invoice", "x"] },
        async ({ repo }) => {
          await repo.write(spec, new Uint8Array([255, 254, 0]));
          await repo.commit("binary");
        },
        "file.invalid",
        /not UTF-8/,
      ],
      [
        "another command at work",
        { words: ["Invoice", "x"] },
        async (bench) => bench.occupy(),
        "run.locked",
        /orch do works/,
      ],
    ];
    for (const [what, given, arrange, code, message] of rows) {
      it(what, async () => {
        await using at = await room();
        await arrange(at.bench);
        const before = await at.bench.state();
        const error = await refused(at.run(given));
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.match(error.hint, /\S/);
        assert.deepEqual(await at.bench.state(), before);
      });
    }

    it("a spec that a person saved while the model wrote", async () => {
      await using at = await room();
      const { repo } = at.bench;
      const complete = at.model.complete.bind(at.model);
      at.model.complete = async (request, stop) => {
        await repo.write(spec, `${invoiceSpec}\nmine\n`);
        await repo.commit("saved and committed");
        return complete(request, stop);
      };
      const error = await refused(at.run({ words: ["Invoice", "x"] }));
      assert.equal(error.code, "tree.changed");
      assert.equal(await repo.read(spec), `${invoiceSpec}\nmine\n`);
      assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    });

    it("a disk that is full: the branch is gone, the spec as it was", async () => {
      await using at = await room();
      const { OrchError } = await import("../../shared/model/error.ts");
      const files = {
        ...at.context.files,
        write: () => Promise.reject(new OrchError("env.disk-full", "The disk is full")),
      };
      const before = await at.bench.state();
      const error = await refused(modify({ ...at.context, files }, args({ words: ["Invoice", "x"] }), signal));
      assert.equal(error.code, "env.disk-full");
      assert.deepEqual(await at.bench.state(), before);
    });
  });

  it("changes nothing and asks nobody with --dry-run", async () => {
    await using at = await room();
    const before = await at.bench.state();
    const result = await at.run({ words: ["Invoice", "x"], dryRun: true });
    assert.equal(result.summary, `Would amend ${spec} on a new branch modify/Invoice; nothing was changed`);
    assert.equal(at.model.asked.length, 0);
    assert.deepEqual(await at.bench.state(), before);
  });

  it("asks which near miss was meant", async () => {
    await using at = await room();
    at.bench.answer({ choice: "Billing/Invoice", by: "test" });
    const result = await at.run({ words: ["Billing/Invoise", "Round", "up"], input: true });
    assert.equal((result.data as ModifyData).target, "Billing/Invoice");
    assert.match((await at.bench.repo.read(spec)) ?? "", /\n\nRound up\n$/);
  });

  it("a run that goes on after it had written says so, and does not amend twice", async () => {
    await using at = await room();
    await at.run({ words: ["Invoice", "Round up"] });
    const text = await at.bench.repo.read(spec);
    const context = { ...at.context, history: [{ kind: "bad", why: "any" } as const] };
    const result = await modify(context, args({ words: ["Invoice", "Round up"] }), signal);
    assert.match(result.summary, /amended before the run was interrupted/);
    assert.equal(await at.bench.repo.read(spec), text);
  });
});

describe("e2e: modify on the command line @slow", function () {
  this.timeout(600_000);
  const steps: readonly Step[] = [{ match: { system: "You amend spec.md" }, reply: { text: better } }];

  async function project(): Promise<FeatureRepo & { readonly calls: readonly { readonly user: string }[] }> {
    const server = await startScriptedModelServer({ steps });
    const work = await makeFeatureRepo(server.baseUrl, { files: { ...projectFiles, ...files } });
    return {
      ...work,
      calls: server.calls,
      async [Symbol.asyncDispose]() {
        await work[Symbol.asyncDispose]();
        await server[Symbol.asyncDispose]();
      },
    };
  }

  it("--file names a file of the feature, from a subfolder, and the diff is printed", async () => {
    await using work = await project();
    const place = { ...work.place, cwd: work.repo.path(dir) };
    const refusedOnce = await orchJson(place, "modify", "round each line up");
    assert.deepEqual([refusedOnce.code, refusedOnce.error?.code], [2, "target.missing"]);
    assert.match(refusedOnce.error?.message ?? "", /--file/);
    const end = await orch(place, "modify", "round each line up", "--file", "Handler.py");
    assert.equal(end.code, 0, `${end.stdout}\n${end.stderr}`);
    assert.match(end.stdout, /^\+ 2\. Each line is rounded up\.$/m);
    assert.match(end.stdout, /^\+ ## CONTRACT AMENDMENT 1 \(/m);
    assert.match(end.stdout, /Next: orch do/);
    assert.equal(await work.repo.git("branch", "--show-current"), "modify/Invoice");
  });

  for (const { name, program, version } of neovims) {
    it(`the Neovim at $NVIM is asked for its buffer (${name})`, async function () {
      if (version === undefined) this.skip();
      await using work = await project();
      const folder = await mkdtemp(path.join(tmpdir(), "orch-nvim-"));
      const socket = path.join(folder, "socket");
      const ready = path.join(folder, "ready");
      const { repo } = work;
      const edit = "call setline(1, '# UNSAVED by a person')";
      const nvim = spawn(
        program,
        [
          "--clean",
          "--headless",
          "-n",
          "--listen",
          socket,
          repo.path(dir, "Handler.py"),
          "-c",
          edit,
          "-c",
          "split | terminal cat",
          "-c",
          `call writefile([], '${ready}')`,
        ],
        { stdio: "ignore", env: { ...work.place.env, HOME: folder } },
      );
      try {
        // Its socket is there before its file is.
        await eventually("Neovim is in the terminal window", () => existsSync(ready), 60_000);
        const before = await stat(repo.path(dir, "Handler.py"));
        const PATH = [path.dirname(program), work.place.env["PATH"]].join(path.delimiter);
        const place = { ...work.place, env: { ...work.place.env, NVIM: socket, PATH } };
        const done = await orchJson(place, "modify", "round each line up");
        assert.deepEqual([done.code, done.data?.target], [0, "Billing/Invoice"], JSON.stringify(done));
        assert.match(work.calls.at(-1)?.user ?? "", /Handler\.py \(unsaved\)[\s\S]*# UNSAVED by a person/);
        assert.equal((await stat(repo.path(dir, "Handler.py"))).mtimeMs, before.mtimeMs);
        assert.equal(await repo.git("status", "--porcelain"), ` M ${spec}`);
      } finally {
        nvim.kill("SIGKILL");
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});
