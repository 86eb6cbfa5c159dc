import assert from "node:assert/strict";
import fc from "fast-check";
import { absPath, type RepoPath } from "../../../shared/base/paths.ts";
import {
  parseRegistry,
  readRegistry,
  revertRegistry,
  rootRegistry,
  updateRegistry,
  withFeature,
  withMoved,
  withoutFeature,
} from "../../../shared/features/registry.ts";
import {
  featureIn,
  featuresIn,
  openProject,
  requireInside,
  resolveFacts,
  spaceFor,
} from "../../../shared/features/registry-space.ts";
import { resolveTarget } from "../../../shared/features/resolve.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { ContractId } from "../../../shared/model/names.ts";
import { targetText } from "../../../shared/model/target.ts";
import { MemoryFiles } from "../../support/memory-files.ts";

const root = absPath("/repo");
const invoice = { domain: "Billing", name: "Invoice" };

describe("withMoved", () => {
  const from = { domain: "Billing", name: "Invoice" };
  const to = { domain: "Sales", name: "Bill" };
  const rows: readonly (readonly [string, string, string])[] = [
    [
      "keeps the place of the entry, comments, layout, line ends and what it does not know",
      '\uFEFF{\r\n\t"x": [1,  2],\r\n\t"known_features": {\r\n\t\t"A": "Shop", // first\r\n\t\t"Invoice" : "Billing",\r\n\t\t"Z": "Shop"\r\n\t},\r\n\t"domain_keywords": {"invoice": ["Billing", "do"]}\r\n}',
      '\uFEFF{\r\n\t"x": [1,  2],\r\n\t"known_features": {\r\n\t\t"A": "Shop", // first\r\n\t\t"Bill" : "Sales",\r\n\t\t"Z": "Shop"\r\n\t},\r\n\t"domain_keywords": {"invoice": ["Billing", "do"]}\r\n}',
    ],
    ["makes an entry where there was none", "{}", '{\n  "known_features": {\n    "Bill": "Sales"\n  }\n}'],
  ];
  for (const [name, before, after] of rows) it(name, () => assert.equal(withMoved(before, from, to), after));

  it("there and back is the same text", () => {
    const [, text] = rows[0] ?? ["", ""];
    assert.equal(withMoved(withMoved(text, from, to), to, from), text);
  });
});

describe("withFeature and withoutFeature", () => {
  const rows: readonly (readonly [string, string | undefined, string])[] = [
    [
      "makes the file",
      undefined,
      '{\n  "features_dir": "features",\n  "known_features": {\n    "Invoice": "Billing"\n  }\n}\n',
    ],
    ["an empty object", "{}", '{\n  "known_features": {\n    "Invoice": "Billing"\n  }\n}'],
    [
      "unknown keys, key order, comments, four spaces, no final line end",
      '{\n    // ours\n    "zeta": [1,  2],\n    "known_features": {\n        "Order": "Shop"\n    },\n    "alpha": {"x": null}\n}',
      '{\n    // ours\n    "zeta": [1,  2],\n    "known_features": {\n        "Order": "Shop",\n        "Invoice": "Billing"\n    },\n    "alpha": {"x": null}\n}',
    ],
    [
      "tabs and CRLF",
      '{\r\n\t"known_features": {\r\n\t\t"Order": "Shop"\r\n\t}\r\n}\r\n',
      '{\r\n\t"known_features": {\r\n\t\t"Order": "Shop",\r\n\t\t"Invoice": "Billing"\r\n\t}\r\n}\r\n',
    ],
    [
      "a byte order mark",
      '\uFEFF{\n  "known_features": {}\n}\n',
      '\uFEFF{\n  "known_features": {\n    "Invoice": "Billing"\n  }\n}\n',
    ],
  ];
  for (const [name, before, after] of rows) it(name, () => assert.equal(withFeature(before, invoice), after));

  it("takes an entry out and leaves the rest", () => {
    const text =
      '{\n  "a": 1,\n  "known_features": {\n    "Order": "Shop",\n    "Invoice": "Billing",\n    "Cart": "Shop"\n  }\n}\n';
    assert.equal(withoutFeature(text, "Invoice"), text.replace('    "Invoice": "Billing",\n', ""));
    assert.equal(withoutFeature(text, "constructor"), text);
  });

  it("adding and removing gives the meaning of before, whatever else the file holds", () => {
    const name = fc.stringMatching(/^[A-Z][a-z]{0,6}$/).filter((one) => one !== "Invoice");
    const other = fc.dictionary(
      fc.string({ minLength: 1 }).map((key) => `x${key}`),
      fc.jsonValue(),
      { maxKeys: 4 },
    );
    fc.assert(
      fc.property(
        fc.dictionary(name, fc.constantFrom("Shop", "Core"), { maxKeys: 5 }),
        other,
        fc.constantFrom(0, 2, 4, "\t"),
        fc.boolean(),
        (known, rest, indent, crlf) => {
          const text = JSON.stringify({ ...rest, known_features: known }, null, indent).replaceAll(
            "\n",
            crlf ? "\r\n" : "\n",
          );
          const there = withFeature(text, invoice);
          assert.deepEqual(JSON.parse(there), {
            ...JSON.parse(text),
            known_features: { ...known, Invoice: "Billing" },
          });
          assert.deepEqual(JSON.parse(withoutFeature(there, "Invoice")), JSON.parse(text));
          assert.equal(text.includes("\r\n") && /[^\r]\n/.test(there), false);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe("a broken registry", () => {
  const rows: readonly (readonly [string, string | Uint8Array, RegExp, number | undefined])[] = [
    ["torn", '{\n  "known_features": {\n', /not JSON/, 3],
    ["a trailing comma", '{\n  "known_features": {\n    "A": "B",\n  }\n}', /not JSON/, 4],
    ["conflict markers", '{\n<<<<<<< HEAD\n  "a": 1\n=======\n  "a": 2\n>>>>>>> x\n}', /conflict markers/, 2],
    ["an array", "[]", /expected|object/i, 1],
    ["a bad domain", '{\n  "known_features": {\n    "Invoice": "9"\n  }\n}', /a domain is a letter/, 3],
    ["a bad name", '{"known_features": {"no way": "Shop"}}', /feature name/, 1],
    ["a name twice", '{\n  "known_features": {\n    "A": "B",\n    "A": "C"\n  }\n}', /stands twice/, 4],
    ["a keyword without an action", '{\n\n  "domain_keywords": {"tax": ["Billing"]}\n}', /domain_keywords/, 3],
    ["empty", "  \n", /empty/, 1],
    ["a folder outside", '{"features_dir": "../other"}', /inside the repository/, undefined],
    [
      "git's own folder",
      '{"features_dir": ".git/hooks"}',
      /features_dir is ".git\/hooks".*hold no features/,
      undefined,
    ],
    ["a git folder deeper down", '{"features_dir": "./lib/.GIT/hooks"}', /hold no features/, undefined],
    ["Orch's own folder", '{"features_dir": ".orch/personas"}', /hold no features/, undefined],
    [
      "Orch's own folder in an app",
      '{"apps": {"web": {"features_dir": ".Orch"}}}',
      /apps.web.*hold no features/,
      undefined,
    ],
    ["an absolute app folder", '{"apps": {"web": {"features_dir": "/srv"}}}', /apps.web.features_dir/, undefined],
    ["not UTF-8", Uint8Array.of(0x7b, 0xff, 0x7d), /UTF-8/, undefined],
  ];
  for (const [name, data, message, line] of rows) {
    it(`${name}: named with its line, nothing written`, async () => {
      const files = new MemoryFiles();
      files.put("/repo/.features.json", data);
      const before = await files.read(absPath("/repo/.features.json"));
      const refused = (error: unknown): boolean =>
        isOrchError(error, "registry.invalid") &&
        message.test(error.message) &&
        error.data["line"] === line &&
        error.message.includes(".features.json");
      await assert.rejects(readRegistry(files, root), refused);
      await assert.rejects(
        updateRegistry(files, root, rootRegistry, (text) => withFeature(text, invoice)),
        refused,
      );
      assert.deepEqual(await files.read(absPath("/repo/.features.json")), before);
      assert.deepEqual(files.paths(), ["/repo/.features.json"]);
    });
  }
});

describe("updateRegistry", () => {
  it("loses nothing when somebody else writes in between", async () => {
    const files = new MemoryFiles({ "/repo/.features.json": '{"known_features": {"A": "Shop"}}' });
    let others = 3;
    const add = (text: string | undefined): string => {
      // somebody else writes after we have read
      if (others-- > 0)
        files.put(
          "/repo/.features.json",
          withFeature(files.text("/repo/.features.json"), { domain: "Shop", name: `Other${others}` }),
        );
      return withFeature(text, invoice);
    };
    await updateRegistry(files, root, rootRegistry, add);
    const now = parseRegistry(files.text("/repo/.features.json"), rootRegistry);
    assert.deepEqual(Object.keys(now.known_features).toSorted(), ["A", "Invoice", "Other0", "Other1", "Other2"]);
  });

  it("loses nothing when the file appears in between", async () => {
    const files = new MemoryFiles();
    let once = true;
    files.beforeWrite = (path) => {
      if (once) files.put(path, '{"known_features": {"A": "Shop"}}');
      once = false;
    };
    await updateRegistry(files, root, rootRegistry, (text) => withFeature(text, invoice));
    assert.deepEqual(parseRegistry(files.text("/repo/.features.json"), rootRegistry).known_features, {
      A: "Shop",
      Invoice: "Billing",
    });
  });

  it("queues updates of one process", async () => {
    const files = new MemoryFiles();
    const names = Array.from({ length: 20 }, (_, at) => `F${at}`);
    await Promise.all(
      names.map((name) =>
        updateRegistry(files, root, rootRegistry, (text) => withFeature(text, { domain: "Shop", name })),
      ),
    );
    assert.deepEqual(
      Object.keys(parseRegistry(files.text("/repo/.features.json"), rootRegistry).known_features),
      names,
    );
  });

  it("a failed edit writes nothing and does not hold up the next one", async () => {
    const files = new MemoryFiles({ "/repo/.features.json": "{}" });
    const failing = updateRegistry(files, root, rootRegistry, () => {
      throw new Error("no");
    });
    const next = updateRegistry(files, root, rootRegistry, (text) => withFeature(text, invoice));
    await assert.rejects(failing, /no/);
    await next;
    assert.ok(files.text("/repo/.features.json")?.includes("Invoice"));
  });

  it("reverts to the bytes of before, or takes only its entry out of a file that changed since", async () => {
    const before = '{ "known_features": {"A": "Shop"}   }';
    for (const changed of [false, true]) {
      const files = new MemoryFiles({ "/repo/.features.json": before });
      const update = await updateRegistry(files, root, rootRegistry, (text) => withFeature(text, invoice));
      if (changed)
        files.put(
          "/repo/.features.json",
          withFeature(files.text("/repo/.features.json"), { domain: "Shop", name: "B" }),
        );
      await revertRegistry(files, root, rootRegistry, update, "Invoice");
      if (changed)
        assert.deepEqual(parseRegistry(files.text("/repo/.features.json"), rootRegistry).known_features, {
          A: "Shop",
          B: "Shop",
        });
      else assert.equal(files.text("/repo/.features.json"), before);
    }
    const files = new MemoryFiles();
    const update = await updateRegistry(files, root, rootRegistry, (text) => withFeature(text, invoice));
    await revertRegistry(files, root, rootRegistry, update, "Invoice");
    assert.deepEqual(files.paths(), []);
  });
});

describe("openProject", () => {
  const texts = {
    "/repo/.features.json": JSON.stringify({
      features_dir: "src/features",
      known_features: { Invoice: "Billing", Page: "Site" },
      domain_keywords: { tax: ["Billing", "do"] },
      apps: {
        web: { features_dir: "apps/web/features", domains: ["Site"] },
        api: { features_dir: "apps/api/slices", config: "apps/api/.features.json" },
      },
    }),
    "/repo/apps/api/.features.json": JSON.stringify({ known_features: { Invoice: "Ledger" } }),
    "/repo/tools/.features.json": JSON.stringify({ known_features: { Lint: "Dev" } }),
  };

  it("a feature's id holds its app where another app may hold the name, and nowhere else", async () => {
    const ids = async (apps: Record<string, object>, target = invoice): Promise<readonly string[]> => {
      const at = (key: string): string => `apps/${key}/.features.json`;
      const entries = Object.entries(apps).map(([key, own]) => [
        key,
        { features_dir: `apps/${key}/parts`, ...("config" in own ? { config: at(key) } : own) },
      ]);
      const files = new MemoryFiles({
        "/repo/.features.json": JSON.stringify({
          known_features: { Invoice: "Billing" },
          apps: Object.fromEntries(entries),
        }),
        ...Object.fromEntries(
          Object.keys(apps).map((key) => [
            `/repo/${at(key)}`,
            JSON.stringify({ known_features: { Invoice: "Ledger" } }),
          ]),
        ),
      });
      return (await openProject(files, root)).spaces.map((space) => featureIn(space, target).id);
    };
    const own = { config: true };
    assert.deepEqual(
      [
        await ids({}),
        await ids({ web: own }),
        await ids({ web: own, api: own }),
        // Apps that share the project's file share its names, too: there a name is there once.
        await ids({ web: { domains: ["Site"] }, api: own }),
        await ids({ "r-1 é": own, b_c: own }),
      ],
      [
        ["Invoice"],
        ["Invoice", "Invoice"],
        ["Invoice", "Invoice.web", "Invoice.api"],
        ["Invoice", "Invoice", "Invoice.api"],
        ["Invoice", "Invoice.r-1_20_e9", "Invoice.b_c"],
      ],
    );
    const short = await ids({ web: own, api: own }, { ...invoice, name: "r" });
    assert.deepEqual(
      short.filter((id) => !ContractId.safeParse(id).success),
      [],
    );
  });

  it("picks the space by app, by listed domain, by an app's own file, else the project", async () => {
    const project = await openProject(new MemoryFiles(texts), root);
    const dir = (want: { app?: string; domain?: string }): string =>
      featureIn(spaceFor(project, want), { domain: want.domain ?? "X", name: "F" }).dir;
    assert.deepEqual(
      [
        dir({}),
        dir({ domain: "Billing" }),
        dir({ domain: "Site" }),
        dir({ domain: "Ledger" }),
        dir({ app: "web", domain: "Billing" }),
      ],
      [
        "src/features/X/F",
        "src/features/Billing/F",
        "apps/web/features/Site/F",
        "apps/api/slices/Ledger/F",
        "apps/web/features/Billing/F",
      ],
    );
    assert.throws(
      () => spaceFor(project, { app: "mobile" }),
      (error) => isOrchError(error, "usage.invalid") && /web, api/.test(error.message),
    );
  });

  it("lists each feature in the space it belongs to", async () => {
    const project = await openProject(new MemoryFiles(texts), root);
    const all = project.spaces.map((space) => featuresIn(project, space).map(({ dir }) => dir));
    assert.deepEqual(all, [
      ["src/features/Billing/Invoice"],
      ["apps/web/features/Site/Page"],
      ["apps/api/slices/Ledger/Invoice"],
    ]);
  });

  it("resolves against one app's file when it is named, else the project's first", async () => {
    const project = await openProject(new MemoryFiles(texts), root);
    assert.equal(resolveFacts(project).file.known_features["Invoice"], "Billing");
    assert.throws(
      () => resolveTarget("Invoice", resolveFacts(project)),
      (error) => isOrchError(error, "target.invalid") && /\.features\.json, api/.test(error.message),
    );
    assert.equal(resolveTarget("Invoice", resolveFacts(project, "api")).target.domain, "Ledger");
    assert.equal(resolveTarget("Page", resolveFacts(project)).target.domain, "Site");
    assert.equal(resolveFacts(project, "api").file.known_features["Invoice"], "Ledger");
    assert.deepEqual(resolveFacts(project).file.domain_keywords, { tax: ["Billing", "do"] });
  });

  it("takes the nearest registry upwards", async () => {
    const files = new MemoryFiles(texts);
    const at = async (from: string): Promise<string> =>
      (await openProject(files, root, from as RepoPath)).spaces[0].featuresDir;
    assert.deepEqual(
      [await at("tools/deep/folder"), await at("docs"), await at("apps/api")],
      ["tools/features", "src/features", "apps/api/features"],
    );
  });

  it("is the defaults without a file", async () => {
    const project = await openProject(new MemoryFiles(), root);
    const feature = featureIn(project.spaces[0], invoice);
    assert.deepEqual(
      { ...feature, target: targetText(feature.target) },
      {
        target: "Billing/Invoice",
        dir: "features/Billing/Invoice",
        spec: "features/Billing/Invoice/spec.md",
        branch: "Billing/Invoice",
        id: "Invoice",
        registry: ".features.json",
      },
    );
  });
});

describe("requireInside", () => {
  it("refuses folders that links lead out of the repository, also for what is still to be made", async () => {
    const files = new MemoryFiles({ "/repo/a/x": "", "/outside/y": "" });
    await files.symlink("/outside", absPath("/repo/features"));
    await files.symlink("a", absPath("/repo/inner"));
    await files.symlink("nowhere", absPath("/repo/broken"));
    await files.symlink("circle", absPath("/repo/circle"));
    await requireInside(files, root, "a/new/deep" as RepoPath);
    await requireInside(files, root, "inner/new" as RepoPath);
    await requireInside(files, root, "fresh/new" as RepoPath);
    for (const path of ["features/Billing/Invoice", "features", "broken/x", "circle/x"]) {
      await assert.rejects(
        requireInside(files, root, path as RepoPath),
        (error) => isOrchError(error, "path.refused"),
        path,
      );
    }
  });
});
