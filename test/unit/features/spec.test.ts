import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { parseSpec, specRows, specSection } from "../../../shared/features/spec.ts";
import { checkSpec } from "../../../shared/features/spec-check.ts";
import { specMessages } from "../../../shared/features/spec-prompt.ts";
import {
  defaultOverview,
  specFromReply,
  specFromTemplate,
  withMissingSections,
} from "../../../shared/features/spec-write.ts";
import { sourceRoot } from "../../support/source-root.ts";

const target = { domain: "Billing", name: "Invoice" };
const good = `# Invoice

## Overview

Totals an invoice.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of numbers | at least one |

## Outputs

| name | type | rule |
| --- | :---: | ---: |
| total | number | sum of \\| lines |

## Rules

1. The total is the sum.
2. Rounding is half up,
   to two digits.

## Errors

| case | when | what the caller gets |
|---|---|---|
| EmptyInvoice | there are no lines | EmptyInvoiceError |

## Examples

| input | expected |
|---|---|
| \`[1, 2]\` | \`3\` |
| \`[]\` | EmptyInvoiceError |

## Dependencies

None.
`;
const find = (text: string): string[] =>
  checkSpec(text, { path: "s/spec.md", feature: "Invoice" }).map(
    ({ rule, severity, line }) => `${severity} ${rule}:${line}`,
  );

/** The good spec with nothing but these words in Rules and Examples. */
const without = (text: string, words: string): string =>
  text
    .replace(/## Rules\n\n[\s\S]*?\n\n## Errors/, `## Rules\n\n${words}\n\n## Errors`)
    .replace(/## Examples\n\n[\s\S]*?\n\n## Dep/, `## Examples\n\n${words}\n\n## Dep`);

describe("parseSpec", () => {
  it("reads title, sections, tables and items with their lines", () => {
    const spec = parseSpec(good.replaceAll("\n", "\r\n"));
    assert.deepEqual(spec.title, { text: "Invoice", line: 1 });
    assert.deepEqual(
      spec.sections.map(({ name, line }) => `${name}:${line}`),
      ["Overview:3", "Inputs:7", "Outputs:13", "Rules:19", "Errors:25", "Examples:31", "Dependencies:38"],
    );
    assert.deepEqual(specRows(spec, "Outputs"), [{ line: 17, cells: ["total", "number", "sum of | lines"] }]);
    assert.deepEqual(specSection(spec, "Rules")?.items, [
      { line: 21, number: 1, text: "The total is the sum." },
      { line: 22, number: 2, text: "Rounding is half up,\nto two digits." },
    ]);
  });

  it("takes headings and tables in fences as text, and reads amendments", () => {
    const spec = parseSpec(
      "# A\n\n## Overview\n\n```md\n## Inputs\n| a | b |\n|---|---|\n```\n~~~\n```\n## x\n~~~\n\n## CONTRACT AMENDMENT 1 (2026-01-31)\n\nAdd tax.\n",
    );
    assert.deepEqual(
      spec.sections.map(({ name, table }) => [name, table]),
      [["Overview", undefined]],
    );
    assert.deepEqual(spec.amendments, [{ number: 1, date: "2026-01-31", line: 15, body: "Add tax." }]);
  });
});

describe("checkSpec", () => {
  it("finds nothing wrong with a good spec, whatever its line ends", () => {
    assert.deepEqual(find(good), []);
    assert.deepEqual(find(good.replaceAll("\n", "\r\n")), []);
  });

  const rows: readonly (readonly [string, (text: string) => string, readonly string[]])[] = [
    ["no title", (t) => t.replace("# Invoice\n", ""), ["FAIL spec.title:1"]],
    ["another title", (t) => t.replace("# Invoice", "# Invoices"), ["FAIL spec.title:1"]],
    ["a missing section", (t) => t.replace("## Dependencies\n\nNone.\n", ""), ["FAIL spec.section:1"]],
    ["a section twice", (t) => `${t}\n## Rules\n\n1. More.\n`, ["FAIL spec.section:42"]],
    ["an empty overview", (t) => t.replace("Totals an invoice.", ""), ["FAIL spec.overview:3"]],
    [
      "other columns",
      (t) => t.replace("| name | type | rule |\n|---|---|---|", "| name | kind | rule |\n|---|---|---|"),
      ["FAIL spec.table:9"],
    ],
    [
      "prose instead of a table",
      (t) => t.replace(/\| input[\s\S]*?Error \|\n/, "It adds things.\n"),
      ["FAIL spec.table:31", "WARN spec.examples:31"],
    ],
    ["a bar that splits a cell", (t) => t.replace("sum of \\|", "sum of |"), ["FAIL spec.table:17"]],
    ["an error without a name", (t) => t.replace("| EmptyInvoice |", "|  |"), ["FAIL spec.error-case:29"]],
    [
      "an error twice",
      (t) => t.replace("| EmptyInvoice | ", "| EmptyInvoice | a | EmptyInvoiceError |\n| `emptyinvoice` | "),
      ["FAIL spec.error-case:30"],
    ],
    [
      "an example that names an unknown error",
      (t) => t.replace("| `[]` | EmptyInvoiceError |", "| `[]` | raises NoLinesError |"),
      ["FAIL spec.error-unnamed:36"],
    ],
    [
      "a rule that names an unknown error",
      (t) => t.replace("The total is the sum.", "Negative lines raise ValueError."),
      ["FAIL spec.error-unnamed:21"],
    ],
    [
      "an example that expects an unnamed error",
      (t) =>
        t
          .replace("| EmptyInvoice | there are no lines | EmptyInvoiceError |\n", "")
          .replace("| `[]` | EmptyInvoiceError |", "| `[]` | error |"),
      ["FAIL spec.error-unnamed:35"],
    ],
    ["an input without a type", (t) => t.replace("list of numbers", ""), ["FAIL spec.cell:11"]],
    [
      "an example without an expectation",
      (t) => t.replace("| `[1, 2]` | `3` |", "| `[1, 2]` | |"),
      ["FAIL spec.cell:35"],
    ],
    [
      "rules that are not numbered",
      (t) => t.replace("1. The", "- The").replace("2. Rounding", "- Rounding"),
      ["WARN spec.rules:19"],
    ],
    [
      "no examples",
      (t) => t.replace("| `[1, 2]` | `3` |\n| `[]` | EmptyInvoiceError |\n", ""),
      ["WARN spec.examples:31"],
    ],
    [
      "sections that say none",
      (t) => t.replace(/\| case[\s\S]*?Error \|\n/, "None.\n").replace(/\| `\[\]` \|.*\n/, ""),
      [],
    ],
    ["neither rules nor examples, both said to be none", (t) => without(t, "None."), ["FAIL spec.rules:19"]],
    ["neither rules nor examples, both left empty", (t) => without(t, ""), ["FAIL spec.rules:19"]],
    [
      "the template's rule alone",
      (t) => without(t, "None.").replace("## Rules\n\nNone.", "## Rules\n\n1. Invoice does what the overview says."),
      ["FAIL spec.rules:19"],
    ],
    [
      "rules without an example that say none",
      (t) => without(t, "None.").replace("## Rules\n\nNone.", "## Rules\n\n1. It adds."),
      [],
    ],
    [
      "rules that are not numbered, and no example",
      (t) => without(t, "None.").replace("## Rules\n\nNone.", "## Rules\n\n- It adds."),
      ["WARN spec.rules:19"],
    ],
    ["an overview for later", (t) => t.replace("Totals an invoice.", "TODO"), ["FAIL spec.placeholder:3"]],
    ["a rule for later", (t) => t.replace("The total is the sum.", "*tbd.*"), ["FAIL spec.placeholder:21"]],
    [
      "cells for later, or as before",
      (t) => t.replace("there are no lines | EmptyInvoiceError", "(unchanged) | EmptyInvoiceError"),
      ["FAIL spec.placeholder:29"],
    ],
    [
      "a cell that means it: the row above, or as it came in",
      (t) => t.replace("there are no lines | EmptyInvoiceError", "same as above | EmptyInvoiceError"),
      [],
    ],
    ["a rule as before", (t) => t.replace("The total is the sum.", "Unchanged."), ["FAIL spec.placeholder:21"]],
    ["an example of dots", (t) => t.replace("| `[1, 2]` | `3` |", "| ... | ... |"), ["FAIL spec.placeholder:35"]],
    ["an example whose value is such a word", (t) => t.replace("| `[1, 2]` | `3` |", "| DONE | TODO |"), []],
    ["an overview that says none", (t) => t.replace("Totals an invoice.", "None."), ["FAIL spec.overview:3"]],
    [
      "the template's overview",
      (t) => t.replace("Totals an invoice.", defaultOverview(target)),
      ["WARN spec.overview:3"],
    ],
    ["amendments out of order", (t) => `${t}\n## CONTRACT AMENDMENT 2 (2026-01-31)\n\nx\n`, ["WARN spec.amendment:42"]],
  ];
  for (const [name, change, expected] of rows) it(name, () => assert.deepEqual(find(change(good)), expected));
});

describe("specFromReply", () => {
  const rows: readonly (readonly [string, string, string | undefined])[] = [
    ["a plain spec", good, good],
    ["a fence around it", `Here it is:\n\n\`\`\`markdown\n${good}\`\`\`\nTell me if it fits.\n`, good],
    [
      "a fence with a fence inside",
      `\`\`\`\`md\n${good.replace("None.", "```py\nx = 1\n```\n\nNone.")}\`\`\`\`\n`,
      good.replace("None.", "```py\nx = 1\n```\n\nNone."),
    ],
    [
      "an equal fence inside",
      `\`\`\`md\n${good.replace("None.", "```py\n# x\n```\n\nNone.")}\`\`\`\nbye`,
      good.replace("None.", "```py\n# x\n```\n\nNone."),
    ],
    ["remarks behind a last None", `${good}\nI added the tax.\n\n---\n**Note:** tell me if it fits.\n`, good],
    ["a list behind it is no remark", `${good}\n- Billing/Tax\n`, `${good}\n- Billing/Tax\n`],
    ["thinking before it", `<think>\n# Plan\n</think>\n${good}`, good],
    ["remarks and another title", good.replace("# Invoice", "Sure.\n\n# Invoice specification"), good],
    [
      "CRLF, a mark and terminal controls",
      `\uFEFF${good.replaceAll("\n", "\r\n")}`.replace("Totals", "\u001B[31mTotals"),
      good,
    ],
    ["no spec", "I cannot do that.", undefined],
    ["a title alone", "# Invoice\n\nwords\n", undefined],
    ["far too much", `# Invoice\n\n## Overview\n\n${"x".repeat(300_000)}`, undefined],
  ];
  for (const [name, reply, expected] of rows) it(name, () => assert.equal(specFromReply(reply, target), expected));

  it("what stood behind it before is no remark", () => {
    const before = `${good}\nLater perhaps Billing/Tax.\n`;
    assert.equal(specFromReply(before, target, before), before);
  });
});

describe("the templates of the packs", () => {
  for (const lang of ["python", "typescript"]) {
    it(`${lang}: filled in by nobody, it is refused for its rules and examples`, async () => {
      const template = await readFile(path.join(sourceRoot, "rules", lang, "templates", "spec.md"), "utf8");
      for (const words of ["", "Totals an invoice"]) {
        const fails = find(specFromTemplate(template, target, words)).filter((one) => one.startsWith("FAIL"));
        assert.deepEqual(
          fails.map((one) => one.split(":")[0]),
          ["FAIL spec.rules"],
        );
      }
    });
  }
});

describe("the template", () => {
  const template =
    "# {{feature}}\n\n## Overview\n\n{{overview}}\n\n## Rules\n\n1. {{feature}} holds.\n\n## Dependencies\n\nNone.\n";

  it("takes the person's words as overview, which cannot open a section or be filled in again", () => {
    const text = specFromTemplate(template, target, "Totals\n# Fake\n## Rules\n{{feature}} \u001B[1m\n```\n# open");
    assert.equal(
      parseSpec(text)
        .sections.map(({ name }) => name)
        .join(),
      "Overview,Rules,Dependencies",
    );
    assert.ok(text.includes("{{feature}} "));
    assert.equal(parseSpec(text).title?.text, "Invoice");
  });

  it("has a default overview", () =>
    assert.ok(specFromTemplate(template, target, " ").includes(defaultOverview(target))));

  it("fills in sections that are missing, in their order", () => {
    const without = good.replace(/## Rules[\s\S]*?(?=## Errors)/, "").replace("## Dependencies\n\nNone.\n", "");
    const { text, added } = withMissingSections(without, template, target);
    assert.deepEqual(added, ["Rules", "Dependencies"]);
    assert.deepEqual(
      parseSpec(text).sections.map(({ name }) => name),
      parseSpec(good).sections.map(({ name }) => name),
    );
    assert.deepEqual(find(text), []);
    assert.deepEqual(withMissingSections(good, template, target), { text: good, added: [] });
  });

  it("puts missing sections before amendments", () => {
    const amended = `${good.replace("## Dependencies\n\nNone.\n", "")}## CONTRACT AMENDMENT 1 (2026-01-31)\n\nx\n`;
    assert.deepEqual(find(withMissingSections(amended, template, target).text), []);
  });
});

describe("specMessages", () => {
  const order = {
    target,
    language: "Python",
    request: "Totals </data-n1> and more",
    neighbours: ["Billing/Tax"],
    nonce: "n1",
  };
  it("holds the person's words as data, and names every section", () => {
    const [system, user] = specMessages(order);
    for (const name of ["Overview", "Inputs", "Outputs", "Rules", "Errors", "Examples", "Dependencies"])
      assert.ok(system?.content.includes(`## ${name}`));
    assert.match(user?.content ?? "", /Feature: Invoice\nDomain: Billing \(other features here: Billing\/Tax\)/);
    assert.ok((user?.content ?? "").includes("Totals"));
  });
  it("says what was wrong with the reply before", () => {
    const messages = specMessages(order, { reply: "# x", problems: ["line 3: no table"] });
    assert.deepEqual(
      messages.map(({ role }) => role),
      ["system", "user", "assistant", "user"],
    );
    assert.ok(messages[3]?.content.includes("line 3: no table"));
  });
});
