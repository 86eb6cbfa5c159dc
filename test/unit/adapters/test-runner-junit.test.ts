import assert from "node:assert/strict";
import { countTests, parseJunit } from "../../../shared/adapters/test-runner-junit.ts";

const suite = (body: string): string =>
  `<?xml version="1.0"?><testsuites><testsuite name="pytest">${body}</testsuite></testsuites>`;

it("pytest's headings of streams that nothing was written to are left out", () => {
  const out = "--- Captured Log ---&#10;&#10;--- Captured Out ---&#10;total 3&#10;&#10;&#10;";
  const xml = suite(
    `<testcase name="t"><failure message="f">E   f</failure><system-out>${out}</system-out><system-err>--- Captured Err ---&#10;&#10;</system-err></testcase>`,
  );
  assert.equal(parseJunit(xml, "/r")?.[0]?.output, "E   f\n--- Captured Out ---\ntotal 3");
});

describe("parseJunit", () => {
  const rows: readonly (readonly [
    string,
    string,
    readonly (readonly [string, string, number | undefined, string])[],
  ])[] = [
    [
      "a failure, placed in the test's own file",
      '<testcase classname="a.Tests" name="test_x" file="a/Tests.py" line="3"><failure message="assert 1 == 2&#10;more">E   assert\n\na/Tests.py:9: AssertionError\n/usr/lib/x.py:700: in f</failure></testcase>',
      [["test_x", "failed", 9, "assert 1 == 2"]],
    ],
    [
      "an error beside a failure counts as error",
      '<testcase classname="m" name="t"><failure message="f"/><error message="teardown"/></testcase>',
      [["m::t", "error", undefined, "teardown"]],
    ],
    [
      "many entities",
      `<testcase classname="m" name="t[&lt;&amp;amp;]"><failure message="&quot;">${"&lt;".repeat(5000)}</failure></testcase>`,
      [["m::t[<&amp;]", "failed", undefined, '"']],
    ],
    [
      "nested suites",
      '<testsuite name="inner"><testcase classname="m" name="t"/></testsuite>',
      [["m::t", "passed", undefined, ""]],
    ],
    [
      "names that are special to JavaScript",
      '<testcase classname="constructor" name="__proto__"><skipped message="toString"/></testcase>',
      [["constructor::__proto__", "skipped", undefined, "toString"]],
    ],
    [
      "Node's tests: the place is in the cause, the message goes on behind its colon",
      `<testcase name="adds" classname="test" file="/r/a b/Tests.ts"><failure type="testCodeFailure" message="Expected values to be strictly equal:&#10;&#10;2 !== 3&#10;">[Error [ERR_TEST_FAILURE]: x] {
    at Parent.&lt;anonymous> (file:///r/a%20b/Tests.ts:90:3)
  cause: AssertionError
      at check (file:///r/a%20b/Handler.ts:5:1)
      at TestContext.&lt;anonymous> (file:///r/a%20b/Tests.ts:4:28)
      at Test.run (node:internal/test_runner/test:1402:25)
}</failure></testcase>`,
      [["adds", "failed", 4, "Expected values to be strictly equal: 2 !== 3"]],
    ],
    [
      "Node's comparison of objects: what differs",
      '<testcase name="a" classname="test"><failure message="Expected values to be strictly deep-equal:&#10;+ actual - expected&#10;&#10;  {&#10;    net: 30,&#10;+   tax: 2,&#10;+   total: 32&#10;-   tax: 3,&#10;-   total: 33&#10;  }&#10;"/></testcase>',
      [["a", "failed", undefined, "Expected values to be strictly deep-equal: + tax: 2 - tax: 3"]],
    ],
    [
      "Node's suites",
      '<testsuite name="outer"><testcase name="a" classname="outer"/><testcase name="b" classname="outer.deep"/></testsuite>',
      [
        ["outer::a", "passed", undefined, ""],
        ["outer::deep::b", "passed", undefined, ""],
      ],
    ],
    [
      "a test to do that is red",
      '<testcase name="a" classname="test"><skipped type="todo"/><failure message="1 !== 2"/></testcase>',
      [["a", "failed", undefined, "1 !== 2"]],
    ],
    [
      "a file without a test, which Node calls passed",
      '<testcase name="a/Tests.ts" classname="test" file="/r/a/Tests.ts"/>',
      [],
    ],
    [
      "a file that could not be loaded",
      '<testcase name="a/Tests.ts" classname="test" file="/r/a/Tests.ts"><failure message="Cannot find module"/></testcase>',
      [["a/Tests.ts", "failed", undefined, "Cannot find module"]],
    ],
    ["no tests", "", []],
  ];
  for (const [name, body, expected] of rows) {
    it(`reads ${name}`, () => {
      const tests = parseJunit(suite(body), "/r");
      assert.deepEqual(
        tests?.map((test) => [test.name, test.outcome, test.line, test.message]),
        expected,
      );
    });
  }

  for (const [name, xml] of [
    ["nothing", ""],
    ["a torn file", '<testsuites><testsuite><testcase name="a"/>'],
    ["another document", "<html></html>"],
    ["entities of its own", '<!DOCTYPE x [<!ENTITY a "b">]><testsuites></testsuites>'],
    ["unbalanced tags", '<testsuites><testsuite><testcase name="a"></testsuite></testsuites>'],
  ] as const) {
    it(`does not read ${name}`, () => assert.equal(parseJunit(xml, "/r"), undefined));
  }

  it("finds the file in the stack where the report names none", () => {
    const frames = [
      "at ok (file:///r/node_modules/x/index.js:1:1)",
      "at Object.run (node:internal/x:1:1)",
      "at file:///r/b%/Tests.ts:7:3",
      "at file:///r/c/Tests.ts:8:3",
    ].map((line) => `    ${line}\n`);
    const xml = suite(
      `<testcase name="t" classname="test"><failure message="m">${frames.join("")}</failure></testcase>`,
    );
    assert.deepEqual(
      parseJunit(xml, "/r")?.map(({ file, line }) => [file, line]),
      [["b%/Tests.ts", 7]],
    );
    assert.deepEqual(
      parseJunit(xml, "/other")?.map(({ file, line }) => [file, line]),
      [[undefined, undefined]],
    );
  });

  it("keeps the end of a long output, which says what went wrong", () => {
    const [test] =
      parseJunit(
        suite(`<testcase classname="m" name="t"><failure message="m">${"x".repeat(100_000)}END</failure></testcase>`),
        "/r",
      ) ?? [];
    assert.ok(test !== undefined && test.output.length < 21_000 && test.output.endsWith("END"));
  });

  it("counts by outcome", () => {
    const tests =
      parseJunit(
        suite(
          '<testcase name="a"/><testcase name="b"><failure/></testcase><testcase name="c"><error/></testcase><testcase name="d"><skipped/></testcase>',
        ),
        "/r",
      ) ?? [];
    assert.deepEqual(countTests(tests), { passed: 1, failed: 1, errors: 1, skipped: 1 });
  });
});
