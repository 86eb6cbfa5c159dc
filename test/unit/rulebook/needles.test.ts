import { deepEqual, equal, ok } from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { FirstLook } from "../../../shared/rulebook/first-look.ts";
import { loadRules } from "../../../shared/rulebook/load.ts";
import { needlesOf } from "../../../shared/rulebook/needles.ts";
import { installedRules } from "../../support/rulebook.ts";
import { sourceRoot } from "../../support/source-root.ts";

describe("the texts that every match of an expression holds", () => {
  for (const [pattern, flags, wanted] of [
    ["\\bos\\._exit\\(", "gm", ["os._exit("]],
    ["^[ \\t]*(?:sys\\.exit|quit)\\(", "gm", ["sys.exit(", "quit("]],
    ["(?:pytest\\.)?mark\\.(?:skip|xfail)\\b", "", ["mark.skip", "mark.xfail"]],
    ["\\b(?:TODO|FIXME)\\b", "", ["TODO", "FIXME"]],
    ["(?:noqa|type:[ \\t]*Ignore)", "i", ["noqa", "ignore"]],
    ["<{7}", "", ["<<<<<<<"]],
    ["(?:ab){2,}", "", ["abab"]],
    ["(?<value>AKIA)[A-Z0-9]{16}", "g", ["AKIA"]],
    ["[Ss]ecret", "", ["Secret", "secret"]],
    ["\\x61\\u0062c", "", ["abc"]],
    ["(?<=long before)x(?=long after)", "", undefined],
    ["(?:long)?x", "", undefined],
    ["(?:long)*x", "", undefined],
    ["long|x", "", undefined],
    ["ab", "", undefined],
    ["(long)\\1", "", undefined],
    ["long\\p{L}", "u", undefined],
    ["(?i:long)", "", undefined],
  ] as const) {
    it(`/${pattern}/${flags}`, () => deepEqual(needlesOf(pattern, flags)?.toSorted(), wanted?.toSorted()));
  }

  it("stand in whatever the installed rules match in this project's own files", () => {
    const { sets } = loadRules({ sources: installedRules(), switches: {} });
    const expressions = sets.flatMap(({ rules }) => rules.flatMap(({ rows }) => rows.map(({ regex }) => regex)));
    const folder = path.join(sourceRoot, "test/contract");
    const texts = fs.readdirSync(folder).map((name) => fs.readFileSync(path.join(folder, name), "utf8"));
    let matches = 0;
    for (const expression of expressions) {
      const needles = needlesOf(expression.source, expression.flags);
      const once = new RegExp(expression.source, expression.flags.replace("g", ""));
      for (const text of needles === undefined ? [] : texts) {
        const match = once.exec(text)?.[0];
        if (match === undefined) continue;
        matches += 1;
        const said = once.ignoreCase ? match.toLowerCase() : match;
        ok(
          needles?.some((one) => said.includes(one)),
          `${once} ${match} ${needles}`,
        );
      }
    }
    ok(matches > 100, `${matches}`);
  });
});

describe("a first look for an expression", () => {
  const source = (text: string): { text: string; lower(): string } => ({ text, lower: () => text.toLowerCase() });

  it("finds nothing in a text without its word, whatever the case where case does not count", () => {
    deepEqual(
      [
        new FirstLook(/\bprint\(/gm).lacksSource(source("say(1)")),
        new FirstLook(/\bprint\(/gm).lacksSource(source("print(1)")),
        new FirstLook(/\bprint\(/gim).lacksSource(source("PRINT(1)")),
        new FirstLook(/\bprint\(/gm).lacks("say(1)"),
      ],
      [true, false, false, true],
    );
  });

  it("does not judge by the source what muted strings and blanked comments may make", () => {
    equal(new FirstLook(/"xxx/gm).lacksSource(source('"abc"')), false);
    equal(new FirstLook(/import abc/gm).lacksSource(source("import#abc")), false);
  });

  it("is given up once the expression is used often", () => {
    const look = new FirstLook(/\bprint\(/gm);
    const answers = Array.from({ length: 30 }, () => look.lacks("say(1)"));
    deepEqual([answers[0], answers.at(-1)], [true, false]);
  });
});
