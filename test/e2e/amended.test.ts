import assert from "node:assert/strict";
import { goodFiles, invoiceSpec } from "../support/invoice-replies.ts";
import { orchJson } from "../support/orch-cli.ts";
import { goodStep, readyFeature, slice } from "../support/ready-feature.ts";

/** The invoice without its error: nobody is told any more that there are no lines. */
const lenient = invoiceSpec
  .replace(/\| case[\s\S]*?no lines \|\n/, "None.\n")
  .replace("| no lines | InvoiceError |\n", "");
const tests = goodFiles["Tests.py"] ?? "";
const handler = goodFiles["Handler.py"] ?? "";
const reply = (files: Readonly<Record<string, string>>): string => JSON.stringify({ files });
const withoutCheck = handler.replace(/ {4}if not lines:\n.*\n/, "");
const testOfLines = /\n {4}def test_no_lines[\s\S]*$/;

describe("e2e: a feature whose spec gave something up @slow", function () {
  this.timeout(600_000);

  it("its test may go with it, another one may not, and one that stays away is missed", async () => {
    const amend = { match: { system: "You amend spec.md" }, times: 2, reply: { text: lenient } };
    await using ready = await readyFeature({
      steps: [
        { ...goodStep, times: 1 },
        amend,
        // First the worker also loses the test of the total, then it takes out only what the spec gave up.
        {
          match: { system: "backend engineer" },
          times: 1,
          reply: {
            text: reply({
              "Handler.py": withoutCheck,
              "Tests.py": tests
                .replace(testOfLines, "")
                .replace("self.assertEqual(handle([Line(2, 150), Line(1, 50)]), 350)", "handle([])"),
            }),
          },
        },
        {
          match: { user: "last attempt" },
          times: 1,
          reply: { text: reply({ "Handler.py": withoutCheck, "Tests.py": tests.replace(testOfLines, "\n") }) },
        },
      ],
    });
    const { repo, place } = ready.work;
    assert.equal((await orchJson(place, "do")).code, 0);
    const amended = await orchJson(place, "modify", "Billing/Invoice", "Take the error out: no lines is a total of 0");
    assert.deepEqual([amended.code, amended.next], [0, ["orch do"]], JSON.stringify(amended, undefined, 1));
    assert.match(amended.summary, /gone from the spec: Errors: no lines .*; Examples: no lines/);
    const done = await orchJson(place, "do");
    assert.deepEqual(
      [done.code, done.data?.attempts.map((one: { verdict: string }) => one.verdict)],
      [0, ["fail", "pass"]],
      JSON.stringify(done, undefined, 1),
    );
    const kept = done.data.findings.map(
      ({ rule, severity }: { rule: string; severity: string }) => `${severity} ${rule}`,
    );
    assert.ok(
      kept.some((one: string) => /^WARN (?:assertion|test)_removed$/.test(one)),
      kept.join(),
    );
    const feedback = await repo.read(".orch/runs/Invoice/attempt-1/feedback.md");
    assert.match(feedback ?? "", /no test has this row of Examples: 2 at 150, 1 at 50/);
    assert.doesNotMatch((await repo.read(`${slice}/Tests.py`)) ?? "", /test_no_lines/);
    assert.equal(ready.calls.length, 5);
  });
});
