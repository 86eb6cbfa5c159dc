import { deepEqual, equal, throws } from "node:assert/strict";
import { resolveConfig } from "../../../shared/app/config.ts";
import { isOrchError } from "../../../shared/model/error.ts";

describe("settings", () => {
  it("are the defaults of the schema without a file", () => {
    const { config, sources } = resolveConfig([]);
    deepEqual(
      [
        config.features,
        config.models.timeout_s,
        config.limits.parallel,
        config.sandbox,
        config.keep_runs,
        config.judge,
      ],
      [
        { few_shot_count: 2, max_attempts: 3, push: true },
        300,
        3,
        "preferred",
        50,
        { accept_revise: 0.85, accept_warn: 0.7 },
      ],
    );
    equal(
      sources.every(({ source }) => source === "default"),
      true,
    );
  });

  it("merge key by key, the later file wins, each value knows its source", () => {
    const { config, sources } = resolveConfig([
      {
        source: "user",
        text: '{ "features": { "max_attempts": 5 }, "rules": { "py.print": "off", "x": "warn" } } // mine',
      },
      { source: "project", text: '{ "features": { "push": false }, "rules": { "py.print": "fail" } }' },
    ]);
    deepEqual(config.features, { few_shot_count: 2, max_attempts: 5, push: false });
    deepEqual(config.rules, { "py.print": "fail", x: "warn" });
    const from = new Map(sources.map(({ key, source }) => [key, source]));
    deepEqual(
      ["features.max_attempts", "features.push", "features.few_shot_count", "rules.py.print", "rules.x"].map((key) =>
        from.get(key),
      ),
      ["user", "project", "default", "project", "user"],
    );
  });

  for (const [name, text, line] of [
    ["a typo", '{\n "featurs": {}\n}', 2],
    ["a wrong type", '{\n "keep_runs": "many"\n}', 2],
    ["broken JSON", '{\n "keep_runs": \n}', 3],
  ] as const) {
    it(`refuse ${name} with its place`, () => {
      throws(
        () => resolveConfig([{ source: "c.json", text }]),
        (error) => isOrchError(error, "config.invalid") && error.message.startsWith(`c.json:${line}: `),
      );
    });
  }
});
