import assert from "node:assert/strict";
import { specFacts } from "../../../shared/features/spec-rows.ts";
import { followsSpec } from "../../../shared/gates/follows-spec.ts";
import { createSpecCoverGate } from "../../../shared/gates/spec-cover.ts";
import { numbersIn, ownValues, valuesOf } from "../../../shared/gates/spec-values.ts";
import { speaksOf, wordsOf } from "../../../shared/gates/spec-words.ts";
import type { Finding } from "../../../shared/model/finding.ts";
import type { Gate, SpecFact } from "../../../shared/ports/gate.ts";
import { loadRules } from "../../../shared/rulebook/load.ts";
import { found, gateInput, type InputFacts, sliceDir, sliceFacts } from "../../support/gate-input.ts";
import { goodFiles, invoiceSpec } from "../../support/invoice-replies.ts";
import { installedRules } from "../../support/rulebook.ts";

const at = (name: string): string => `${sliceDir}/${name}`;
const book = loadRules({ sources: installedRules(), switches: {} });
const gate = createSpecCoverGate({ book });
const spec = invoiceSpec.replace(
  "| no lines | InvoiceError |",
  "| 17 at 23 | total_cents 391 |\n| no lines | InvoiceError |",
);
const slice = sliceFacts({ spec: specFacts(spec, undefined) });
const single = sliceFacts({ spec: specFacts(invoiceSpec, undefined) });
const bigger = `${goodFiles["Tests.py"] ?? ""}
    def test_many(self) -> None:
        """Many of one."""
        self.assertEqual(handle([Line(17, 23)]), 391)
`;

/** The good slice with these files instead. */
function written(files: Readonly<Record<string, string>> = {}): InputFacts {
  const all = { ...goodFiles, "Tests.py": bigger, ...files };
  return { slice, before: {}, after: Object.fromEntries(Object.entries(all).map(([name, text]) => [at(name), text])) };
}
const handler = (body: string): string => (goodFiles["Handler.py"] ?? "").replace(/return sum.*/, body);

describe("gate: spec", () => {
  const rows: readonly (readonly [string, InputFacts, readonly string[]])[] = [
    ["a good slice", written(), []],
    ["nobody read the spec", { ...written(), slice: sliceFacts() }, ["skipped: there is no spec to compare with"]],
    [
      "nothing changed: that alone is said",
      {
        ...written({ "Tests.py": goodFiles["Tests.py"] ?? "" }),
        soFar: [{ rule: "no_change", severity: "FAIL", message: "nothing changed", evidence: "", remedy: "r" }],
      },
      ["skipped: nothing changed"],
    ],
    [
      "an example without a test",
      written({ "Tests.py": goodFiles["Tests.py"] ?? "" }),
      [`FAIL example_untested ${at("Tests.py")}`],
    ],
    [
      "an example that only a comment speaks of",
      written({ "Tests.py": `${goodFiles["Tests.py"] ?? ""}# Line(17, 23) gives 391\n` }),
      [`FAIL example_untested ${at("Tests.py")}`],
    ],
    [
      "an error without a test, and the example that expects it",
      written({ "Tests.py": bigger.replaceAll("InvoiceError", "Exception") }),
      [`FAIL example_untested ${at("Tests.py")}`, `FAIL example_untested ${at("Tests.py")}`],
    ],
    ["a value said another way", written({ "Tests.py": bigger.replace("Line(2, 150)", "Line(2, 100 + 50)") }), []],
    [
      "the spec read at run time",
      written({ "Handler.py": handler('return len(open("features/Billing/Invoice/spec.md").read())') }),
      [`FAIL spec_read ${at("Handler.py")}:15`],
    ],
    [
      "the spec read by a name in pieces",
      written({ "Handler.py": handler('return len(open("spec" + ".md").read())') }),
      [`FAIL spec_read ${at("Handler.py")}:15`],
    ],
    [
      "its tests read by a name in pieces",
      written({ "Handler.py": handler('return len(open(HERE / ("Tests" + ".py")).read())') }),
      [`FAIL tests_read ${at("Handler.py")}:15`],
    ],
    [
      "documentation that speaks of the tests",
      written({ "Handler.py": handler('"""Tests.py shows how."""\n    return 1  # see Tests.py') }),
      [],
    ],
    [
      "documentation that speaks of the spec",
      written({ "Handler.py": handler('"""As spec.md says."""\n    return 1  # see spec.md') }),
      [],
    ],
    [
      "answers by a list of the examples",
      written({
        "Handler.py": handler(
          "known = {((2, 150), (1, 50)): 350, ((17, 23),): 391}\n    return known[tuple((x.quantity, x.unit_cents) for x in lines)]",
        ),
      }),
      [`FAIL example_special_cased ${at("Handler.py")}:15`],
    ],
    [
      "one answer by its example",
      written({
        "Handler.py": handler(
          "if lines[0].quantity == 17 and lines[0].unit_cents == 23:\n        return 391\n    return 0",
        ),
      }),
      [`WARN example_special_cased ${at("Handler.py")}:16`],
    ],
    [
      "answers behind another question than the example's input",
      written({ "Handler.py": handler("if len(lines) == 1:\n        return 391\n    return 350") }),
      [`WARN example_special_cased ${at("Handler.py")}:16`],
    ],
    ...(
      [
        ["the only result of a spec, returned", "return 350", [`WARN example_special_cased ${at("Handler.py")}:15`]],
        [
          "the only result of a spec, for a shape",
          "return 350 if len(lines) == 2 else 0",
          [`WARN example_special_cased ${at("Handler.py")}:15`],
        ],
        ["the only result of a spec, as a bound", "return min(350, sum(line.quantity for line in lines))", []],
      ] as const
    ).map(
      ([name, body, wanted]) =>
        [
          name,
          { ...written({ "Handler.py": handler(body), "Tests.py": goodFiles["Tests.py"] ?? "" }), slice: single },
          wanted,
        ] as const,
    ),
    ["one result alone", written({ "Handler.py": handler("return 391 if lines else 0") }), []],
    [
      "examples in the documentation of the code",
      written({
        "Handler.py": handler(
          '"""Two at 150 and one at 50 give 350.\n\n    17 at 23 give 391.\n    """\n    return sum(line.quantity * line.unit_cents for line in lines)',
        ),
      }),
      [],
    ],
  ];
  for (const [name, facts, wanted] of rows) it(name, async () => assert.deepEqual(await found(gate, facts), wanted));

  const sized = (body: string): Promise<readonly string[]> => {
    const cells = ['lines = 40 | "small"', 'lines = 700 | "large"', 'lines = "a hundred" | "middle"'];
    const examples = spec.replace(
      /(## Examples[\s\S]*?\|---\|---\|\n)[\s\S]*?\n\n/,
      `$1${cells.map((one) => `| ${one} |\n`).join("")}\n`,
    );
    const tests = `from .Handler import handle\n\n\ndef test_all() -> None:\n    assert handle(40) == "small"\n    assert handle(700) == "large"\n    assert handle("a hundred") == "middle"\n    InvoiceError\n`;
    const facts = written({ "Handler.py": handler(body), "Tests.py": tests });
    return found(gate, { ...facts, slice: sliceFacts({ spec: specFacts(examples, undefined) }) });
  };
  it("words for cases, told apart by a threshold, are no answers", async () =>
    assert.deepEqual(await sized('if lines < 100:\n        return "small"\n\n    return "large"'), []));
  it("a threshold that an example happens to give is one, too", async () =>
    assert.deepEqual(
      await sized(
        'if lines <= 40:\n        return "small"\n    if lines >= 700:\n        return "large"\n    return "middle"',
      ),
      [],
    ));
  it("words behind the examples' own inputs are answers", async () =>
    assert.deepEqual(
      await sized(
        'if lines == 40:\n        return "small"\n    if lines == 700:\n        return "large"\n    return ""',
      ),
      [`WARN example_special_cased ${at("Handler.py")}:16`],
    ));
  it("also behind a piece of them", async () =>
    assert.deepEqual(
      await sized(
        'if str(lines).endswith("hundred"):\n        return "middle"\n    if lines in (700,):\n        return "large"\n    return ""',
      ),
      [`WARN example_special_cased ${at("Handler.py")}:16`],
    ));

  it("what the rules say may stand in the code", async () => {
    const table = specFacts(
      spec.replace("1. The total is", "1. 17 at 23 is 391 by contract, 2 at 150 and 50 is 350.\n2. The total is"),
      undefined,
    );
    const facts = written({ "Handler.py": handler("return {17: 391, 23: 391, 150: 350, 50: 350}[lines[0].quantity]") });
    assert.deepEqual(await found(gate, { ...facts, slice: sliceFacts({ spec: table }) }), []);
  });
});

describe("values of a spec's cells", () => {
  it("are numbers, quoted texts and errors", () => {
    const cell = '`2 at 1,500.50` and "Ann Lee", else NoLinesError; it is late';
    assert.deepEqual([...valuesOf(cell)], ["Ann Lee", "NoLinesError", "2", "1500.5"]);
    assert.deepEqual(
      [...numbersIn("Decimal('1500.50') + 1_500 + 007 + x1 + 2026-01-02")],
      ["1500.5", "1500", "7", "2026", "1", "2"],
    );
  });

  it("are an example's own when neither common nor said elsewhere", () => {
    const rule: SpecFact = { section: "Rules", line: 1, cells: ['19 percent, "net" first, over 250'] };
    assert.deepEqual(ownValues('"net" 19 100 5 250 1234 "Ann"', [rule]), ["Ann", "1234"]);
  });
});

describe("words of code and of a spec", () => {
  const row = (text: string): SpecFact => ({ section: "Rules", line: 1, cells: [text] });
  it("are the same however they are spelled", () => {
    assert.deepEqual([...wordsOf("roundHalfUp round_half_up")], ["round", "half"]);
  });
  const left = [row("The total is the sum of all lines")];
  for (const [code, text, speaks] of [
    ["def test_discount_refused(): ...", "Discounts above 100 percent are refused", true],
    ["def test_total(): assert total([1]) == 1", "Discounts above 100 percent are refused", false],
    ["assert total([]) == 0  # sum of lines", "The sum of the lines", true],
    ["assert name == 1", "The sum of the lines", false],
  ] as const)
    it(`${code} ${speaks ? "speaks" : "does not speak"} of: ${text}`, () =>
      assert.equal(speaksOf(code, row(text), left), speaks));
});

describe("tests follow their spec", () => {
  const before = `class T:
    def test_total(self):
        assert total([1, 2]) == 3
        assert total([4]) == 4

    def test_discount_is_refused(self):
        with raises(DiscountError):
            total([1], discount=101)
`;
  const removed = (line: number, path = at("Tests.py"), rule = "assertion_removed"): Gate => {
    const one: Finding = {
      rule,
      severity: "FAIL",
      message: "an assertion was removed",
      path,
      line,
      side: "old",
      evidence: "",
      remedy: "r",
    };
    return { id: "integrity", phase: "change", run: () => Promise.resolve({ kind: "ran", findings: [one] }) };
  };
  const ruled = invoiceSpec.replace(
    "unit_cents.\n\n## Errors",
    "unit_cents.\n2. A discount above 100 percent is refused.\n\n## Errors",
  );
  const lost = sliceFacts({ spec: specFacts(invoiceSpec, ruled) });
  const kept = sliceFacts({ spec: specFacts(ruled, ruled) });
  const without = before.replace(/\n {4}def test_discount[\s\S]*$/, "");
  const facts = (after: string, of = lost): InputFacts => ({
    slice: of,
    before: { [at("Tests.py")]: before },
    after: { [at("Tests.py")]: after },
  });
  const fails = `FAIL assertion_removed ${at("Tests.py")}`;
  const rows: readonly (readonly [string, Gate, InputFacts, readonly string[]])[] = [
    ["the test of a rule that is gone", removed(7), facts(without), [fails.replace("FAIL", "WARN") + ":7"]],
    ["the same while the rule stands", removed(7), facts(without, kept), [`${fails}:7`]],
    [
      "a test of another rule",
      removed(4),
      facts(before.replace("        assert total([4]) == 4\n", "")),
      [`${fails}:4`],
    ],
    ["another file", removed(7, "tests/test_all.py"), facts(without), ["FAIL assertion_removed tests/test_all.py:7"]],
    [
      "a skipped test",
      removed(7, at("Tests.py"), "skip_marker"),
      facts(without),
      [`FAIL skip_marker ${at("Tests.py")}:7`],
    ],
  ];
  for (const [name, inner, input, wanted] of rows)
    it(name, async () => assert.deepEqual(await found(followsSpec(inner), input), wanted));

  it("says which row let it go", async () => {
    const result = await followsSpec(removed(7)).run(gateInput(facts(without)), new AbortController().signal);
    assert.match(
      result.kind === "ran" ? (result.findings[0]?.message ?? "") : "",
      /no longer says: Rules: A discount above 100/,
    );
  });
});
