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
const at = (line: number): readonly string[] => [`FAIL example_weak ${path}:${line}`];
const failures = (all: readonly string[]): readonly string[] => all.filter((one) => one.startsWith("FAIL"));

/** Tests that name what the examples of the spec expect where no failure comes of it, read by the real grammars. */
describe("tests that only name the examples of their spec", function () {
  this.timeout(600_000);
  const gate = createTestsGate({ book: loadRules({ sources: installedRules(), switches: {} }), syntax: realSyntax() });
  const said = (text: string, of = spec): Promise<readonly string[]> =>
    found(
      gate,
      gateInput({ slice: sliceFacts({ spec: specFacts(of, undefined) }), before: {}, after: { [path]: text } }),
    );

  // Each holds the value, and none of them fails when the code says something else.
  const silent: readonly (readonly [string, string, readonly string[]])[] = [
    ["swallowed", test("try:", `    assert ${half} == 50`, "except AssertionError:", "    pass"), at(8)],
    [
      "swallowed with everything",
      test("try:", `    assert ${half} == 50`, "except Exception as e:", "    print(e)"),
      at(8),
    ],
    ["suppressed", test("with suppress(AssertionError):", `    assert ${half} == 50`), at(8)],
    ["expected to fail", test("with raises(AssertionError):", `    assert ${half} == 50`), at(8)],
    [
      "swallowed in a helper",
      `${test("check()")}\n\ndef check():\n    try:\n        assert ${half} == 50\n    except Exception:\n        return\n`,
      at(12),
    ],
    [
      "given to a helper that swallows",
      `${test("check(50)")}\n\ndef check(want):\n    try:\n        assert ${half} == want\n    except AssertionError:\n        return\n`,
      at(7),
    ],
    [
      "given to a helper of another kind of name that swallows",
      `${test("same(50)")}\n\ndef same(want):\n    try:\n        assert ${half} == want\n    except Exception:\n        pass\n`,
      at(6),
    ],
    [
      "under a mark that swallows",
      test(`assert ${half} == 50`).replace(
        "def test",
        "def calm(run):\n    def inner():\n        try:\n            run()\n        except Exception:\n            pass\n    return inner\n\n\n@calm\ndef test",
      ),
      at(17),
    ],
    ["over nothing", test("for _ in []:", `    assert ${half} == 50`), at(8)],
    ["in a function that is no test", `${test("handle('', 1)")}\n\ndef half():\n    assert ${half} == 50\n`, at(11)],
    ["in a function nobody calls", test("def later():", `    assert ${half} == 50`), at(8)],
    ["when it is there anyway", test(`got = ${half}`, "if got == 50:", "    assert got == 50"), at(9)],
    ["after the end", test("return", `assert ${half} == 50`), at(8)],
    ["or True", test(`assert ${half} == 50 or True`), at(7)],
    ["or another value", test(`assert ${half} == 50 or ${half} == 60`), at(7)],
    ["one of several", test(`assert ${half} in (50, 60)`), at(7)],
    ["as the message", test(`assert ${half}, 50`), at(7)],
    ["as the message of a comparison with itself", test(`assert ${half} == ${half}, 50`), at(7)],
    ["under a name nobody asks for", test("want = 50", `assert isinstance(${half}, float)`), at(7)],
    ["the answer of a stand-in", test("fake = Mock(return_value=50)", 'assert fake("HALF", 100.01) == 50'), at(8)],
    ["asserted by nobody", test('for code, want in [("HALF", 50)]:', "    handle(code, 100.01)"), at(6)],
    ["compared and not asserted", test(`${half} == 50`), at(6)],
    ["printed", test(`print(${half} == 50)`), at(6)],
    ["in the documentation, and not held", test('"""50"""', `assert ${half} >= 50`), at(8)],
  ];
  for (const [name, text, wanted] of silent)
    it(`the value is there, ${name}`, async () => assert.deepEqual(failures(await said(text)), wanted));

  it("async tests of a class that waits for nothing do not run", async () => {
    const of = (head: string, base: string): string =>
      `${head}\nfrom .Handler import handle\n\n\nclass HalfTests(${base}):\n    async def test_half(self) -> None:\n        assert ${half} == 50\n`;
    const none = [`FAIL test_disabled ${path}:6`];
    assert.deepEqual(failures(await said(of("import unittest", "unittest.TestCase"))), none);
    assert.deepEqual(failures(await said(of("from unittest import TestCase", "TestCase"))), none);
    assert.deepEqual(failures(await said(of("import unittest", "unittest.IsolatedAsyncioTestCase"))), []);
    assert.deepEqual(failures(await said(of("from django.test import TestCase", "TestCase"))), []);
  });

  const loud: readonly (readonly [string, string])[] = [
    [
      "an error that is expected on the way",
      test("try:", '    handle("", 1)', "except ValueError:", "    pass", `assert ${half} == 50`),
    ],
    ["a narrow handler around it", test("try:", `    assert ${half} == 50`, "except KeyError:", "    print(1)")],
    [
      "a handler that tells more",
      test("try:", `    assert ${half} == 50`, "except AssertionError as e:", "    raise AssertionError(half) from e"),
    ],
    ["a condition about the machine", test('if os.name == "posix":', `    assert ${half} == 50`)],
    [
      "one way or the other",
      test("got = 1", "if got > 1:", `    assert ${half} == 50`, "else:", `    assert ${half} == 50`),
    ],
    [
      "a condition about the case",
      test(
        'for code in ("HALF", "FULL"):',
        "    got = handle(code, 100.01)",
        '    if code == "HALF":',
        "        assert got == 50",
      ),
    ],
    ["a list without blanks", test(`assert [${half},${half}] == [50,400]`)],
    [
      "failures that are gathered",
      test("try:", `    assert ${half} == 50`, "except Exception as e:", "    wrong.append(e)", "assert not wrong"),
    ],
    ["a message", test(`assert ${half} == 50, "half of 100"`)],
    ["the message says it, too", test(`assert ${half} == 50, 50`)],
    ["the value under a name that is asked for", test("want = 50", `assert ${half} == want`)],
    [
      "a method of a stand-in that the code calls",
      test("class Bus:", "    def send(self, total):", "        assert total == 50", 'handle("HALF", 100.01, Bus())'),
    ],
    [
      "a function that is handed on",
      test("def seen(total):", "    assert total == 50", 'handle("HALF", 100.01, seen)'),
    ],
    [
      "under a mark that tidies up",
      test(`assert ${half} == 50`).replace(
        "def test",
        "def tidy(run):\n    def inner():\n        run()\n        try:\n            remove(PATH)\n        except Exception:\n            pass\n    return inner\n\n\n@tidy\ndef test",
      ),
    ],
    [
      "under a mark that tries twice",
      test(`assert ${half} == 50`).replace(
        "def test",
        "def twice(run):\n    def inner():\n        try:\n            run()\n        except AssertionError:\n            run()\n            raise\n    return inner\n\n\n@twice\ndef test",
      ),
    ],
    ["a helper that a test calls", `${test("check()")}\n\ndef check():\n    assert ${half} == 50\n`],
    [
      "what every test does at its end",
      `${test("handle('', 1)")}\n\ndef teardown_function():\n    assert ${half} == 50\n`,
    ],
    ["a fixture", `${test("handle('', 1)")}\n\n@fixture(autouse=True)\ndef half():\n    assert ${half} == 50\n`],
    [
      "a method of a stand-in of the file",
      `${test("handle('', 1, Bus())")}\n\nclass Bus:\n    def send(self, total):\n        assert total == 50\n`,
    ],
    ["a helper of another file", test('check("HALF", 100.01, 50)')],
    [
      "a stand-in for what the code calls",
      test("clock = Mock(return_value=7)", 'assert handle("HALF", 100.01, clock) == 50'),
    ],
    ["several claims at once", test(`assert ${half} == 50 and ${half} > 0`)],
  ];
  for (const [name, text] of loud)
    it(`held to the value: ${name}`, async () => assert.deepEqual(failures(await said(text)), []));

  it("one of several texts, and a text with a comma in it", async () => {
    const words = rows('code = HALF | "fifty"');
    const one = test('assert handle("HALF") in ("fifty", "sixty")');
    const part = test('assert "fifty" in "fifty, sixty"', 'assert "fifty" in handle("HALF")');
    assert.deepEqual([failures(await said(one, words)), failures(await said(part, words))], [at(7), []]);
  });

  const ts = `${sliceDir}/Tests.ts`;
  const body = (...lines: string[]): string =>
    `import assert from "node:assert/strict";\nimport { it } from "node:test";\nimport { handle } from "./Handler.ts";\n\nit("halves", () => {\n${lines.map((line) => `  ${line}\n`).join("")}});\n`;
  const scripts: readonly (readonly [string, string, readonly string[]])[] = [
    ["the very value", body(`assert.equal(${half}, 50);`), []],
    ["the reason of an error", body(`assert.throws(() => ${half}, { code: 50 });`), []],
    ["swallowed", body("try {", `  assert.equal(${half}, 50);`, "} catch {}"), [`FAIL example_weak ${ts}:7`]],
    ["as the message", body(`assert.ok(${half}, "50");`), [`FAIL example_weak ${ts}:6`]],
    [
      "taken up by the end of the chain",
      body(`await ready.then(() => assert.equal(${half}, 50)).catch(() => undefined);`),
      [`FAIL example_weak ${ts}:6`],
    ],
    [
      "what an error is looked at with",
      body(`assert.throws(() => ${half}, (error) => {`, "  assert.equal(error.half, 50);", "  return true;", "});"),
      [],
    ],
    [
      "a condition about the case",
      body(
        'for (const code of ["HALF", "FULL"]) {',
        '  if (code === "HALF") assert.equal(handle(code, 100.01), 50);',
        "}",
      ),
      [],
    ],
    ["a chain that tells its failure", body(`return ready.then(() => assert.equal(${half}, 50)).catch(done);`), []],
    [
      "under a function that swallows",
      body(`calm(() => assert.equal(${half}, 50));`).replace(
        "\nit(",
        "\nfunction calm(run: () => void): void {\n  try {\n    run();\n  } catch {}\n}\nit(",
      ),
      [`FAIL example_weak ${ts}:11`],
    ],
    ["asked to fail", body(`assert.throws(() => assert.equal(${half}, 50));`), [`FAIL example_weak ${ts}:6`]],
    [
      "when it is there anyway",
      body(`const got = ${half};`, "if (got === 50) assert.equal(got, 50);"),
      [`FAIL example_weak ${ts}:7`],
    ],
    [
      "in a function nobody calls",
      body("const check = () => {", `  assert.equal(${half}, 50);`, "};"),
      [`FAIL example_weak ${ts}:7`],
    ],
    [
      "the answer of a stand-in",
      body("const fake = mock.fn(() => 50);", "assert.equal(fake(), 50);"),
      [`FAIL example_weak ${ts}:7`],
    ],
    ["asserted by nobody", body(`console.log(${half} === 50);`), [`FAIL example_weak ${ts}:5`]],
    ["one of several", body(`assert.ok([50, 60].includes(${half}));`), [`FAIL example_weak ${ts}:6`]],
  ];
  for (const [name, text, wanted] of scripts)
    it(`in TypeScript: ${name}`, async () => {
      const facts = sliceFacts({ spec: specFacts(spec, undefined), pack: typescriptPack });
      const input = gateInput({ slice: facts, before: {}, after: { [ts]: text } });
      assert.deepEqual(failures(await found(gate, input)), wanted);
    });
});
