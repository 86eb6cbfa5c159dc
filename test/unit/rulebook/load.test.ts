import assert from "node:assert/strict";
import { loadRules } from "../../../shared/rulebook/load.ts";
import type { RuleSettings, RuleSource } from "../../../shared/ports/pool.ts";

const good = {
  id: "t.good",
  group: "standards",
  kind: "line",
  severity: "WARN",
  message: "m",
  remedy: "r",
  pattern: "a",
};

function source(
  checks: readonly unknown[],
  more: Readonly<Record<string, unknown>> = {},
  path = "rules/test/core.json",
): RuleSource {
  return {
    path,
    text: JSON.stringify({ set: "test", extensions: [".py"], checks, ...more }, null, 1),
    project: path.startsWith(".orch"),
  };
}

const project = (checks: readonly unknown[], more: Readonly<Record<string, unknown>> = {}): RuleSource =>
  source(checks, more, ".orch/rules/test/own.json");

function load(sources: readonly RuleSource[], switches: RuleSettings["switches"] = {}): ReturnType<typeof loadRules> {
  return loadRules({ sources, switches });
}

const ids = (book: ReturnType<typeof loadRules>): string[] =>
  book.sets.flatMap(({ rules }) => rules.map(({ rule }) => rule.id));

const faults: readonly {
  readonly what: string;
  readonly source: RuleSource;
  readonly line: number;
  readonly reason: RegExp;
  readonly rule?: string;
}[] = [
  {
    what: "not JSON",
    source: { path: "rules/test/core.json", text: '{\n "set": \n}', project: false },
    line: 3,
    reason: /not JSON/,
  },
  {
    what: "conflict markers",
    source: { path: "rules/test/core.json", text: "<<<<<<< a\n{}\n", project: false },
    line: 1,
    reason: /conflict markers/,
  },
  { what: "an unknown key in the head", source: source([], { colour: 1 }), line: 7, reason: /colour/i },
  {
    what: "an unknown kind",
    source: source([{ ...good, kind: "magic" }]),
    line: 10,
    reason: /kind must be one of line, /,
    rule: "t.good",
  },
  {
    what: "a missing field",
    source: source([{ ...good, message: undefined }]),
    line: 7,
    reason: /message/,
    rule: "t.good",
  },
  {
    what: "a broken expression",
    source: source([{ ...good, pattern: "(" }]),
    line: 7,
    reason: /^pattern: .*Unterminated group/,
    rule: "t.good",
  },
  {
    what: "a broken expression in a table row",
    source: source([{ ...good, pattern: undefined, patterns: ["a", { pattern: "[" }] }]),
    line: 7,
    reason: /^patterns\.1: /,
    rule: "t.good",
  },
  {
    what: "no pattern at all",
    source: source([{ ...good, pattern: undefined }]),
    line: 7,
    reason: /needs pattern, patterns or table/,
    rule: "t.good",
  },
  {
    what: "a table that is not there",
    source: source([{ ...good, table: "none" }]),
    line: 7,
    reason: /no table none/,
    rule: "t.good",
  },
  {
    what: "an id that stands twice",
    source: source([{ ...good, id: "t.first" }, good, good].slice(1)),
    line: 16,
    reason: /t\.good stands twice \(also in rules\/test\/core\.json:7\)/,
    rule: "t.good",
  },
  {
    what: "a tree rule without paths",
    source: source([{ ...good, kind: "tree", pattern: undefined, must: "exist" }]),
    line: 7,
    reason: /paths: is missing/,
    rule: "t.good",
  },
];

describe("loading rules", () => {
  for (const { what, source: broken, line, reason, rule } of faults) {
    it(`${what}: named with path, line and reason, the rest runs`, () => {
      const neighbour: RuleSource = {
        ...source([{ ...good, id: "n.rule" }], { set: "other" }),
        path: "rules/other/core.json",
      };
      const book = load([broken, neighbour]);
      assert.equal(book.broken.length, 1, JSON.stringify(book.broken));
      const [fault] = book.broken;
      assert.deepEqual({ path: fault?.path, line: fault?.line, rule: fault?.rule }, { path: broken.path, line, rule });
      assert.match(fault?.reason ?? "", reason);
      assert.ok(ids(book).includes("n.rule"));
    });
  }

  it("a broken check does not spoil the others of its file", () => {
    const book = load([source([{ ...good, id: "t.bad", pattern: "(" }, good])]);
    assert.deepEqual([ids(book), book.broken.map(({ rule }) => rule)], [["t.good"], ["t.bad"]]);
  });

  it("a project's check replaces the installed one by id, and adds new ones, whatever the order of the sources", () => {
    const own = project([
      { ...good, severity: "FAIL", pattern: "b" },
      { ...good, id: "t.new" },
    ]);
    const book = load([own, source([good])]);
    const [set] = book.sets;
    assert.deepEqual(
      set?.rules.map(({ rule, severity, source: from }) => [rule.id, severity, from]),
      [
        ["t.good", "FAIL", own.path],
        ["t.new", "WARN", own.path],
      ],
    );
    assert.deepEqual(book.broken, []);
  });

  it("of some groups only: other rules are not read, and one that the project moved to another group is gone", () => {
    const bad = { ...good, id: "t.bad", pattern: "(" };
    const kept = { ...good, id: "t.kept", group: "integrity" };
    const moved = { ...kept, id: "t.moved" };
    const sources = [source([good, bad, kept, moved]), project([{ ...moved, group: "standards" }])];
    const book = loadRules({ sources, switches: {} }, ["integrity"]);
    assert.deepEqual([ids(book), book.broken], [["t.kept"], []]);
  });

  it("a rule knows its line, which is looked for when it is asked", () => {
    const [set] = load([source([good, { ...good, id: "t.second" }])]).sets;
    assert.deepEqual(
      set?.rules.map(({ line }) => line),
      [7, 16],
    );
  });

  it("a project's set of a new language stands beside the installed ones", () => {
    const book = load([source([good]), project([{ ...good, id: "r.rule" }], { set: "ruby", extensions: [".rb"] })]);
    assert.deepEqual(
      book.sets.map((set) => [set.set, set.holds("a.rb"), set.holds("a.py")]),
      [
        ["test", false, true],
        ["ruby", true, false],
      ],
    );
  });

  it("a switch of the project also holds where the rule is milder", () => {
    const rule = { ...good, severity: "FAIL", warnIn: ["tests/**"] };
    const at = (switches: RuleSettings["switches"]): readonly unknown[] => {
      const loaded = load([source([rule])], switches).sets[0]?.rules[0];
      return [loaded?.severityAt("a.py"), loaded?.severityAt("tests/a.py")];
    };
    assert.deepEqual(
      [at({}), at({ "t.good": "fail" }), at({ "t.good": "warn" })],
      [
        ["FAIL", "WARN"],
        ["FAIL", "FAIL"],
        ["WARN", "WARN"],
      ],
    );
  });

  const switched: readonly {
    readonly what: string;
    readonly switches: RuleSettings["switches"];
    readonly wanted: readonly (readonly [string, string])[];
  }[] = [
    {
      what: "nothing",
      switches: {},
      wanted: [
        ["a.one", "WARN"],
        ["a.two", "FAIL"],
      ],
    },
    { what: "a rule off", switches: { "a.one": "off" }, wanted: [["a.two", "FAIL"]] },
    {
      what: "severities",
      switches: { "a.one": "fail", "a.two": "warn" },
      wanted: [
        ["a.one", "FAIL"],
        ["a.two", "WARN"],
      ],
    },
    {
      what: "all below an id",
      switches: { a: "warn" },
      wanted: [
        ["a.one", "WARN"],
        ["a.two", "WARN"],
        ["a.off", "WARN"],
      ],
    },
    { what: "the nearest switch wins", switches: { a: "off", "a.two": "fail" }, wanted: [["a.two", "FAIL"]] },
    {
      what: "one that is off by default on",
      switches: { "a.off": "warn" },
      wanted: [
        ["a.one", "WARN"],
        ["a.two", "FAIL"],
        ["a.off", "WARN"],
      ],
    },
    {
      what: "a name of Object's own",
      switches: Object.assign(Object.create(null) as RuleSettings["switches"], { constructor: "off" as const }),
      wanted: [
        ["a.one", "WARN"],
        ["a.two", "FAIL"],
      ],
    },
  ];
  for (const { what, switches, wanted } of switched) {
    it(`switches: ${what}`, () => {
      const rules = [
        { ...good, id: "a.one" },
        { ...good, id: "a.two", severity: "FAIL" },
        { ...good, id: "a.off", default: "off" },
      ];
      const book = load([source(rules)], switches);
      assert.deepEqual(
        book.sets[0]?.rules.map(({ rule, severity }) => [rule.id, severity]),
        wanted,
      );
    });
  }
});
