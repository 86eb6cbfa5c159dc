import assert from "node:assert/strict";
import { makeFeatureRepo, projectFiles } from "../support/feature-repo.ts";
import { goodFiles, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import type { Step } from "../support/scripted-model-server/script.ts";
import { startScriptedModelServer } from "../support/scripted-model-server/server.ts";
import {
  typescriptFiles,
  typescriptMend,
  typescriptProject,
  typescriptRed,
  typescriptReply,
  typescriptSloppy,
} from "../support/typescript-replies.ts";

const specStep: Step = { name: "spec", match: { system: "You write spec.md" }, reply: { text: invoiceSpec } };
const qaStep: Step = { name: "qa", match: { system: "reads specifications" }, reply: { text: "VALID" } };
const dir = "features/Billing/Invoice";
interface Attempt {
  readonly verdict: string;
}

describe("e2e: the main job in TypeScript @slow", function () {
  this.timeout(600_000);

  it("with the real pi client: new, do (rules, then a red test, then green), qa, merge", async () => {
    await using server = await startScriptedModelServer({
      steps: [
        specStep,
        qaStep,
        { name: "sloppy", match: { system: "backend engineer" }, times: 1, reply: { text: typescriptSloppy } },
        { name: "red", match: { user: "last attempt" }, times: 1, reply: { text: typescriptRed } },
        { name: "mend", match: { user: "last attempt" }, times: 1, reply: { text: typescriptMend } },
      ],
    });
    await using work = await makeFeatureRepo(server.baseUrl, { files: typescriptProject });
    const { repo, place } = work;

    const made = await orchJson(place, "new", "Billing/Invoice", "Totals of an invoice", "--model", "lab/scripted");
    assert.deepEqual([made.code, made.data?.lang, made.data?.spec?.review?.kind], [0, "typescript", "valid"]);
    assert.deepEqual(
      made.data.files.map((file: string) => file.replace(`${dir}/`, "")),
      ["spec.md", "Schema.ts", "Handler.ts", "Tests.ts", "Controller.ts"],
    );
    await work.trust();

    const early = await orchJson(place, "qa");
    assert.deepEqual(
      [early.code, early.data.tests.map((one: { outcome: string; why: string }) => [one.outcome, one.why])],
      [1, [["no-tests", "no tests ran"]]],
      JSON.stringify(early),
    );

    const done = await orchJson(place, "do", "--model", "lab/scripted");
    assert.deepEqual(
      [done.code, done.data?.state, done.data.attempts.map(({ verdict }: Attempt) => verdict)],
      [0, "accepted", ["fail", "fail", "pass"]],
      JSON.stringify(done, undefined, 1),
    );
    const asked = server.calls.filter(({ system }) => system.includes("backend engineer")).map(({ user }) => user);
    assert.match(asked[0] ?? "", /any switches the types off \[ts\.any\]/, "the rules of its own language are told");
    assert.doesNotMatch(asked[0] ?? "", /\[pep8|\[py\./);
    assert.match(asked[0] ?? "", /```typescript Schema\.ts/);
    for (const rule of ["ts.any", "ts.eqeqeq", "ts.import-extension", "constitution.9", "skip_marker"])
      assert.match(asked[1] ?? "", new RegExp(rule.replace(".", "\\.")), rule);
    assert.match(asked[2] ?? "", /counts quantities failed: Expected values to be strictly equal: 200 !== 350/);
    assert.match(asked[2] ?? "", /features\/Billing\/Invoice\/Tests\.ts:\d+/);

    assert.equal(await repo.git("log", "-1", "--format=%s"), "feat: Invoice");
    assert.equal(await repo.git("status", "--porcelain"), "");
    const qa = await orchJson(place, "qa");
    assert.deepEqual(
      [qa.code, qa.data.files, qa.data.findings, qa.data.tests[0]?.counts, qa.data.syntax.verified],
      [0, 4, [], { passed: 2, failed: 0, errors: 0, skipped: 0 }, true],
      JSON.stringify(qa),
    );

    const merged = await orchJson(place, "merge");
    assert.deepEqual([merged.code, merged.data?.merged, merged.data?.pushed], [0, true, true], JSON.stringify(merged));
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
    assert.equal(await repo.gitIn(repo.remote ?? "", "rev-parse", "main"), await repo.git("rev-parse", "main"));
    assert.match(await repo.git("show", `main:${dir}/Handler.ts`), /line\.quantity \* line\.unitCents/);
    assert.equal(await repo.git("status", "--porcelain", "--ignored"), "!! .agents\n!! .orch/");
  });

  it("side by side with Python: each slice is judged, tested and shown in its own language", async () => {
    const order = "features/Billing/Order";
    const renamed = (text: string): string => text.replaceAll("Invoice", "Order").replaceAll("invoice", "order");
    const python = Object.fromEntries(
      Object.entries({ ...goodFiles, "spec.md": invoiceSpec }).map(([name, text]) => [
        `${order}/${name}`,
        renamed(text),
      ]),
    );
    const money = Object.fromEntries(
      Object.entries({ ...typescriptFiles, "spec.md": invoiceSpec }).map(([name, text]) => [
        `features/Billing/Refund/${name}`,
        text.replaceAll("Invoice", "Refund"),
      ]),
    );
    const files = {
      ...projectFiles,
      ...typescriptProject,
      ".gitignore": "__pycache__/\nnode_modules/\n",
      ...python,
      ...money,
      "lib/a.ts": "export const a = 1;\n",
      "lib/b.ts": "export const b = 1;\n",
      ".features.json":
        '{\n  "features_dir": "features",\n  "known_features": { "Order": "Billing", "Refund": "Billing" }\n}\n',
    };
    await using server = await startScriptedModelServer({
      steps: [specStep, qaStep, { match: { system: "backend engineer" }, reply: { text: typescriptReply } }],
    });
    await using work = await makeFeatureRepo(server.baseUrl, { files });
    const { repo, place } = work;
    const made = await orchJson(place, "new", "Billing/Invoice", "Totals");
    assert.deepEqual([made.code, made.data?.lang], [0, "typescript"], JSON.stringify(made));
    await work.trust();
    const done = await orchJson(place, "do");
    assert.deepEqual([done.code, done.data?.state], [0, "accepted"], JSON.stringify(done, undefined, 1));
    const asked = server.calls.find(({ system }) => system.includes("backend engineer"))?.user ?? "";
    assert.match(asked, /A working feature, Billing\/Refund/);
    assert.doesNotMatch(asked, /Billing\/Order/, "a neighbour of another language is no example");

    const scan = await orchJson(place, "scan");
    assert.deepEqual(
      scan.data.domains[0].features.map((one: Record<string, unknown>) => [
        one["target"],
        one["lang"],
        one["complete"],
      ]),
      [
        ["Billing/Invoice", "typescript", true],
        ["Billing/Order", "python", true],
        ["Billing/Refund", "typescript", true],
      ],
    );
    const qa = await orchJson(place, "qa");
    assert.deepEqual(
      [qa.code, qa.data.tests.map((one: Record<string, unknown>) => [one["target"], one["outcome"]])],
      [
        0,
        [
          ["Billing/Invoice", "passed"],
          ["Billing/Order", "passed"],
          ["Billing/Refund", "passed"],
        ],
      ],
      JSON.stringify(qa),
    );
    assert.match(qa.data.syntax.by, /^Python 3.*TypeScript parser/);
    const [, before] = [
      await repo.write("lib/a.ts", "export const a: = 1;\n"),
      await repo.write("lib/c.py", "x = (\n"),
    ];
    assert.equal(before, undefined);
    const broken = await orchJson(place, "qa", "lib");
    assert.deepEqual(
      broken.data.findings
        .filter(({ rule }: { rule: string }) => rule === "syntax")
        .map((one: Record<string, unknown>) => [one["path"], one["line"]]),
      [
        ["lib/a.ts", 1],
        ["lib/c.py", 1],
      ],
      JSON.stringify(broken.data.findings),
    );
    await repo.git("checkout", "-q", "--", "lib/a.ts");
    await repo.git("clean", "-qf", "lib");

    const merged = await orchJson(place, "merge");
    assert.deepEqual([merged.code, merged.data?.merged], [0, true], JSON.stringify(merged));
    assert.equal(await repo.git("branch", "--format=%(refname:short)"), "main");
  });

  it("the app of a feature decides its language, a repository without Node's types says what to install", async () => {
    const apps = {
      api: { features_dir: "api/features", domains: ["Billing"] },
      web: { features_dir: "web/features", domains: ["Cart"] },
    };
    const files = {
      "README.md": "# shop\n",
      ".features.json": `${JSON.stringify({ known_features: {}, apps }, undefined, 2)}\n`,
      "api/pyproject.toml": '[project]\nname = "api"\nversion = "0.1.0"\n',
      "web/package.json": '{ "name": "web", "type": "module" }\n',
      "web/tsconfig.json": "{}\n",
    };
    await using server = await startScriptedModelServer({ steps: [] });
    await using work = await makeFeatureRepo(server.baseUrl, { files });
    const { repo, place } = work;
    for (const [target, lang, at] of [
      ["Billing/Invoice", "python", "api/features/Billing/Invoice"],
      ["Cart/Total", "typescript", "web/features/Cart/Total"],
    ] as const) {
      const planned = await orchJson(place, "new", target, "--dry-run");
      assert.deepEqual([planned.code, planned.data?.lang, planned.data?.dir], [0, lang, at], JSON.stringify(planned));
    }
    const made = await orchJson(place, "new", "Cart/Total");
    assert.deepEqual([made.code, made.data?.lang, server.calls.length], [0, "typescript", 0]);
    await work.trust();
    const old = repo.path("..", "old-node");
    await repo.write("../old-node/node", "#!/bin/sh\nexit 9\n", 0o755);
    const search = [old, ...(place.env["PATH"] ?? "").split(":").filter((folder) => !folder.includes("node"))].join(
      ":",
    );
    const without = await orchJson(
      { ...place, env: { ...place.env, PATH: search } },
      "do",
      "--model",
      "direct/scripted",
    );
    assert.deepEqual([without.code, without.error?.code], [5, "env.missing-tool"], JSON.stringify(without));
    assert.match(without.error?.message ?? "", /Install Node\.js 22\.18 or newer/);
  });

  it("init adopts a TypeScript repository with the files of its language", async () => {
    await using server = await startScriptedModelServer({ steps: [] });
    const { "README.md": readme = "", "tsconfig.json": tsconfig = "" } = typescriptProject;
    await using work = await makeFeatureRepo(server.baseUrl, {
      files: { "README.md": readme, "tsconfig.json": tsconfig, "src/a.ts": "export const a = 1;\n" },
    });
    const { repo, place } = work;
    const adopted = await orchJson(place, "init", ".");
    assert.equal(adopted.code, 0, JSON.stringify(adopted));
    assert.match((await repo.read("AGENTS.md")) ?? "", /`\.nvmrc`[\s\S]*Rules?: `constitution\.1`/);
    assert.match((await repo.read(".nvmrc")) ?? "", /^2\d\n$/);
    assert.equal(await repo.read("tsconfig.json"), tsconfig, "what is there is never overwritten");
    assert.equal(JSON.parse((await repo.read("package.json")) ?? "").type, "module");
    assert.equal(await repo.read("pyproject.toml"), undefined);
  });
});
