import assert from "node:assert/strict";
import { deleteFeature } from "../../shared/app/handlers/delete.ts";
import { mergeFeature } from "../../shared/app/handlers/merge.ts";
import { modify } from "../../shared/app/handlers/modify.ts";
import { move } from "../../shared/app/handlers/move.ts";
import { newFeature } from "../../shared/app/handlers/new.ts";
import { qa } from "../../shared/app/handlers/qa.ts";
import { scan, type ScanData } from "../../shared/app/handlers/scan.ts";
import { undo } from "../../shared/app/handlers/undo.ts";
import { planDo } from "../../shared/app/do-plan.ts";
import { args, makeBench } from "../support/bench.ts";
import { judging } from "../support/feature-bench.ts";
import { invoiceSpec } from "../support/invoice-replies.ts";
import { pipelineRoom } from "../support/pipeline-room.ts";
import { registryText, slice } from "../support/sample-slice.ts";

const signal = new AbortController().signal;
const root = registryText({ Invoice: "Billing" });
const nested = `{\n  "zeta": [1,  2],\n  "features_dir": "parts",\n  "known_features": {\n    "Cart": "Shop"\n  },\n  "domain_keywords": { "order": ["Shop", "scan"] }\n}\n`;
const files = {
  "README.md": "#\n",
  ".gitignore": "__pycache__/\n",
  ...slice("features/Billing/Invoice"),
  ".features.json": root,
  ...slice("apps/web/parts/Shop/Cart"),
  "apps/web/parts/Shop/Cart/spec.md": invoiceSpec.replace("# Invoice", "# Cart"),
  "apps/web/.features.json": nested,
  "apps/web/src/deep/x.py": "X = 1\n",
};

describe("a registry below the root @slow", function () {
  this.timeout(600_000);

  it("holds for every command that is given below it, and only there", async () => {
    await using bench = await makeBench({ files });
    const { repo } = bench;
    const at = (folder: string, said: readonly string[] = []) =>
      pipelineRoom(bench, { cwd: repo.path(...folder.split("/")), said }).context;
    const below = at("apps/web/src/deep");
    const targets = async (folder: string): Promise<readonly string[]> =>
      ((await scan(at(folder), args(), signal)).data as ScanData).domains.flatMap(({ features }) =>
        features.map(({ dir }) => dir),
      );
    assert.deepEqual(await targets("apps/web/src/deep"), ["apps/web/parts/Shop/Cart"]);
    assert.deepEqual(await targets("apps"), ["features/Billing/Invoice"]);
    const audit = await qa({ ...below, testRunner: below.testRunner }, args(), signal);
    assert.deepEqual(
      (audit.data as { readonly tests: readonly { readonly target: string }[] }).tests.map(({ target }) => target),
      ["Shop/Cart"],
    );

    // A keyword of the nested file names the domain, its action is suggested, and the rest of the file stays.
    const made = await newFeature(below, args({ words: ["OrderList"] }), signal);
    assert.deepEqual(made.next, ["edit apps/web/parts/Shop/OrderList/spec.md", "orch do", "orch scan"]);
    assert.equal(await repo.read(".features.json"), root);
    assert.equal(
      await repo.read("apps/web/.features.json"),
      nested.replace('"Cart": "Shop"\n', '"Cart": "Shop",\n    "OrderList": "Shop"\n'),
    );
    assert.ok((await repo.read("apps/web/parts/Shop/OrderList/spec.md")) !== undefined);
    assert.equal((await planDo(below, args())).feature.registry, "apps/web/.features.json");
    assert.equal((await undo(below, args({ yes: true }), signal)).ok, true);
    assert.equal(await repo.git("status", "--porcelain"), "");

    const amended = await modify(
      at("apps/web", [invoiceSpec.replace("# Invoice", "# Cart")]),
      args({ words: ["Cart", "x"] }),
      signal,
    );
    assert.match(amended.summary, /^Shop\/Cart: amendment 1 on branch modify\/Cart/);
    await repo.git("commit", "-qam", "amended");
    const judged = judging();
    const merged = await mergeFeature({ ...below, judgeTree: judged.judgeTree }, args(), signal);
    assert.equal(merged.ok, true, merged.summary);
    assert.equal(judged.subjects[0]?.feature.dir, "apps/web/parts/Shop/Cart");

    const moved = await move(below, args({ words: ["Cart", "Shop/Basket"] }), signal);
    assert.equal(moved.ok, true, moved.summary);
    assert.equal(await repo.read("apps/web/.features.json"), nested.replace('"Cart"', '"Basket"'));
    await repo.git("switch", "-q", "main");
    await repo.git("branch", "-qD", "Shop/Basket");
    const gone = await deleteFeature(below, args({ words: ["Shop/Cart"], yes: true }), signal);
    assert.equal(gone.ok, true, gone.summary);
    assert.equal(await repo.read(".features.json"), root);
    assert.deepEqual(JSON.parse((await repo.read("apps/web/.features.json")) ?? "").known_features, {});
    assert.equal(await repo.git("status", "--porcelain"), "");
  });

  it("an app is picked from the domain, or named; what is not defined is refused", async () => {
    const apps = {
      first: 1,
      apps: {
        web: { features_dir: "web/features", domains: ["Shop"] },
        api: { features_dir: "api/features", config: "api/.features.json", domains: ["Core"] },
      },
      last: 2,
    };
    await using bench = await makeBench({
      files: {
        "README.md": "#\n",
        ".features.json": `${JSON.stringify(apps, null, 2)}\n`,
        "api/.features.json": registryText({}),
      },
    });
    const { repo } = bench;
    const { context } = pipelineRoom(bench);
    const make = async (words: string[], app?: string): Promise<string> => {
      const made = await newFeature(
        context,
        args({ words, allowOpen: true, ...(app === undefined ? {} : { app }) }),
        signal,
      );
      await repo.git("add", "-A");
      await repo.git("commit", "-qm", "feature");
      await repo.git("switch", "-q", "main");
      return (made.data as { readonly dir: string }).dir;
    };
    assert.equal(await make(["Shop/Cart"]), "web/features/Shop/Cart");
    assert.equal(await make(["Core/User"]), "api/features/Core/User");
    assert.equal(await make(["Other/Thing"]), "features/Other/Thing");
    assert.equal(await make(["Other/Extra"], "api"), "api/features/Other/Extra");
    const at = async (branch: string, path: string): Promise<Record<string, unknown>> =>
      JSON.parse(await repo.git("show", `${branch}:${path}`));
    assert.deepEqual((await at("Core/User", "api/.features.json"))["known_features"], { User: "Core" });
    const written = await at("Shop/Cart", ".features.json");
    assert.deepEqual(Object.keys(written), ["first", "apps", "last", "known_features"]);
    assert.deepEqual(written["known_features"], { Cart: "Shop" });
    await assert.rejects(
      newFeature(context, args({ words: ["Shop/X"], app: "none", allowOpen: true }), signal),
      /There is no app none: .* defines web, api/,
    );
  });
});
