import assert from "node:assert/strict";
import { specFacts } from "../../shared/features/spec-rows.ts";
import { createTestsGate } from "../../shared/gates/tests.ts";
import { loadRules } from "../../shared/rulebook/load.ts";
import { found, gateInput, sliceDir, sliceFacts, typescriptPack } from "../support/gate-input.ts";
import { invoiceSpec } from "../support/invoice-replies.ts";
import { installedRules, realSyntax } from "../support/rulebook.ts";

const path = `${sliceDir}/Tests.py`;
const rows = (...lines: string[]): string =>
  invoiceSpec.replace(/\| 2 at 150[\s\S]*?\| InvoiceError \|/, lines.map((line) => `| ${line} |`).join("\n"));
const spec = rows("code = HALF, total = 100.01 | payable = 50.00");
const test = (...lines: string[]): string =>
  `from pytest import approx\n\nfrom .Handler import handle\n\n\ndef test_half() -> None:\n${lines.map((line) => `    ${line}\n`).join("")}`;
const half = 'handle("HALF", 100.01)';
const weak = [`FAIL example_weak ${path}:7`];

/** Tests whose assertions let wrong code pass, by what the examples of the spec say, read by the real grammar. */
describe("tests held to the examples of their spec", function () {
  this.timeout(600_000);
  const gate = createTestsGate({ book: loadRules({ sources: installedRules(), switches: {} }), syntax: realSyntax() });
  const said = (text: string, of = spec): Promise<readonly string[]> =>
    found(
      gate,
      gateInput({ slice: sliceFacts({ spec: specFacts(of, undefined) }), before: {}, after: { [path]: text } }),
    );

  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ["the very value", test(`assert ${half} == 50`), []],
    ["the very value of a decimal", test(`assert ${half} == Decimal("50.00")`), []],
    ["a cent around it", test(`assert ${half} == approx(50, abs=0.01)`), []],
    ["the usual room of a float", test(`assert ${half} == approx(50)`), []],
    ["the value under a name", test("want = 50.00", `assert ${half} >= want`), []],
    ["compared by order, and once more for itself", test(`assert ${half} > 50 - 1`, `assert ${half} == 50`), []],
    ["compared by order", test(`assert ${half} >= 50.00 - 10`), weak],
    ["much room around it", test(`assert ${half} == approx(50, abs=10)`), weak],
    ["much room, written out", test(`assert abs(${half} - 50) < 1`), weak],
    ["not something else", test(`assert ${half} != 50`), weak],
    [
      "a table of cases",
      test('for code, total, want in [("HALF", 100.01, 50.00)]:', "    assert handle(code, total) == want"),
      [],
    ],
  ];
  for (const [name, text, wanted] of cases) it(name, async () => assert.deepEqual(await said(text), wanted));

  /** A row of the examples, what the test says, and what is found. */
  const warned = [weak[0]?.replace("FAIL", "WARN") ?? ""];
  const rowCases: readonly (readonly [string, string, readonly string[], readonly string[]])[] = [
    [
      "a range of another input",
      "done = 4, all = 4 | percent = 100",
      ["assert handle(4, 4) == 100", "assert handle(1, 3) >= 0 and handle(1, 3) <= 100"],
      [],
    ],
    [
      "a range of its own input",
      "done = 4, all = 4 | percent = 100",
      ["assert handle(4, 4) >= 0 and handle(4, 4) <= 100"],
      weak,
    ],
    ["an error by its class", "bad | ValueError", ["assert isinstance(handle('bad').error, ValueError)"], []],
    [
      "an error that was caught",
      "bad | ValueError",
      ["with raises(Exception) as caught:", "    handle('bad')", "assert isinstance(caught.value, ValueError)"],
      [],
    ],
    ["another error", "bad | ValueError", ["assert handle('bad').error != ValueError"], weak],
    ["a value by its type", "bad | 17", ["assert isinstance(handle('bad'), int)", "assert handle('bad') > 17"], weak],
    ["a named tolerance", "c = 36.6 | f = 97.88", ["assert abs(handle(36.6) - 97.88) < EPS"], []],
    [
      "a tolerance of the system",
      "c = 36.6 | f = 97.88",
      ["assert abs(handle(36.6) - 97.88) <= sys.float_info.epsilon"],
      [],
    ],
    [
      "a tolerance that is named and wide",
      "c = 36.6 | f = 97.88",
      ["room = 20", "assert abs(handle(36.6) - 97.88) < room"],
      weak,
    ],
    ["a wide one, turned round", "c = 36.6 | f = 97.88", ["assert 20 > abs(handle(36.6) - 97.88)"], weak],
    ["a wide one of isclose", "c = 36.6 | f = 97.88", ["assert math.isclose(handle(36.6), 97.88, abs_tol=20)"], weak],
    ["half a unit of the last place", "f = 98 | c = 36.7", ["assert handle(98) == approx(36.7, abs=0.05)"], []],
    [
      "a little more",
      "Paris, London | 343.5 km",
      ["assert handle('Paris', 'London') == approx(343.5, abs=0.5)"],
      warned,
    ],
    [
      "half of the value",
      "Paris, London | 343.5 km",
      ["assert handle('Paris', 'London') == approx(343.5, rel=0.5)"],
      weak,
    ],
    ["a die", "sides = 6 | 1 to 6", ["assert 1 <= handle(6) <= 6"], []],
    ["up to", '"a title that is long" | up to 12 characters', ['assert len(handle("a title that is long")) <= 12'], []],
    ["longer than", 'user = "ann" | a token longer than 31 characters', ['assert len(handle("ann")) > 31'], []],
    ["a maximum", "n = 9 | a maximum of 5 retries", ["assert handle(9) <= 5"], []],
    ["after", 'user = "ann" | expires after 1700000000', ['assert handle("ann") > 1700000000'], []],
    ["differs from", "previous = 7 | an id that differs from 7", ["assert handle(7) != 7"], []],
    ["a range in signs", "n = 9 | 3..5", ["assert 3 <= handle(9) <= 5"], []],
    ["prose of another language", 'user = "ann" | mindestens 32 Zeichen', ['assert len(handle("ann")) >= 32'], warned],
    ["a value with a unit", 'user = "ann" | 32 chars', ['assert len(handle("ann")) >= 32'], weak],
    ["a value under an output's name", "2 at 150 | total_cents 350", ["assert handle([(2, 150)]) <= 350"], weak],
    [
      "a day",
      'day = "2024-05-01", plus = 2 | 2024-05-03',
      ['assert handle("2024-05-01", 2) >= date(2024, 5, 3)'],
      weak,
    ],
    ["a word that leaves room, quoted", 'code = 7 | "not before 9"', ['assert handle(7) != "not before 9"'], weak],
    ["a number of something else", "no lines | total 0", ["assert not handle([])", "assert len(found) > 0"], []],
    ["nothing, by order", "no lines | total 0", ["assert handle([]) >= 0"], warned],
    [
      "another text that begins the same",
      '"a b c" | 3',
      ['assert handle("a b c") == len(["a", "b", "c"])', "assert handle('a b c d') > 3"],
      [],
    ],
    ["that very text", '"a b c" | 3', ['assert handle("a b c") >= 3'], weak],
    ["an input under a name", '"a b c" | 3', ['given = "a b c"', "found = handle(given)", "assert found >= 3"], weak],
    ["an input without quotes", "bad | 17", ["assert handle('bad') != 17"], weak],
  ];
  for (const [name, row, lines, wanted] of rowCases)
    it(`rows: ${name}`, async () => {
      const seen = await said(test(...lines), rows(row));
      assert.deepEqual(
        seen.map((one) => one.replace(/:\d+$/, "")),
        wanted.map((one) => one.replace(/:\d+$/, "")),
      );
    });

  const tsPath = `${sliceDir}/Tests.ts`;
  const tsCases: readonly (readonly [string, string, string, readonly string[]])[] = [
    [
      "a range of another input",
      "done = 4, all = 4 | percent = 100",
      "assert.equal(handle(4, 4), 100);\n  const p = handle(1, 3);\n  assert.ok(p >= 0 && p <= 100);",
      [],
    ],
    [
      "a range of its own",
      "done = 4, all = 4 | percent = 100",
      "const p = handle(4, 4);\n  assert.ok(p >= 0 && p <= 100);",
      weak,
    ],
    [
      "the machine's own tolerance",
      "c = 36.6 | f = 97.88",
      "assert.ok(Math.abs(handle(36.6) - 97.88) < Number.EPSILON);",
      [],
    ],
    ["a wide one", "c = 36.6 | f = 97.88", "assert.ok(Math.abs(handle(36.6) - 97.88) < 20);", weak],
    [
      "an error that was caught",
      "bad | RangeError",
      'let error: unknown;\n  try {\n    handle("bad");\n  } catch (e) {\n    error = e;\n  }\n  assert.ok(error instanceof RangeError);',
      [],
    ],
    ["an error that is expected", "bad | RangeError", 'expect(handle("bad")).toBeInstanceOf(RangeError);', []],
    ["not the value", "bad | 17", 'assert.notEqual(handle("bad"), 17);', weak],
  ];
  for (const [name, row, body, wanted] of tsCases)
    it(`TypeScript: ${name}`, async () => {
      const text = `import assert from "node:assert/strict";\nimport { test } from "node:test";\nimport { handle } from "./Handler.ts";\n\ntest("a", () => {\n  ${body}\n});\n`;
      const slice = sliceFacts({ spec: specFacts(rows(row), undefined), pack: typescriptPack });
      const seen = await found(gate, gateInput({ slice, before: {}, after: { [tsPath]: text } }));
      assert.deepEqual(
        seen.map((one) => one.split(" ").slice(0, 2)),
        wanted.map((one) => one.split(" ").slice(0, 2)),
      );
    });

  it("an example that leaves room itself is held to nothing", async () => {
    const open = rows("code = HALF, total = 100.01 | payable is at least 50.00");
    assert.deepEqual(await said(test(`assert ${half} >= 50.00`), open), []);
  });

  it("of several results one that is told exactly is enough", async () => {
    const two = rows("total = 100.01 | payable = 50.00, saved = 50.01");
    assert.deepEqual(await said(test(`assert ${half}[0] > 50 - 1`, `assert ${half}[1] == 50.01`), two), []);
  });

  it("tests of no feature are not held to a spec", async () => {
    const input = gateInput({ after: { [path]: test(`assert ${half} > 50`) } });
    assert.deepEqual(await found(gate, input), []);
  });
});
