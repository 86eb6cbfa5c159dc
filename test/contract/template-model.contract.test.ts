import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { createFiles } from "../../shared/adapters/files.ts";
import { createTemplateModel } from "../../shared/app/template/template-model.ts";
import { absPath } from "../../shared/base/paths.ts";
import { checkSpec } from "../../shared/features/spec-check.ts";
import { Pack } from "../../shared/model/pack.ts";
import type { Completion, ModelSubject } from "../../shared/ports/model.ts";
import { pycodestyle, pythonWithPytest, runPytest } from "../support/pytest.ts";
import { sourceRoot } from "../support/source-root.ts";
import { TempDir } from "../support/temp-dir.ts";

const never = new AbortController().signal;
const pack = Pack.parse(JSON.parse(readFileSync(path.join(sourceRoot, "rules/python/pack.json"), "utf8")));
const model = createTemplateModel({ files: createFiles(), installRoot: absPath(sourceRoot) });

interface Tables {
  readonly inputs?: readonly string[];
  readonly outputs?: readonly string[];
  readonly rules?: readonly string[];
  readonly errors?: readonly string[];
  readonly examples?: readonly string[];
  readonly more?: string;
}

function specOf({ inputs = [], outputs = [], rules = [], errors = [], examples = [], more = "" }: Tables): string {
  const table = (head: string, columns: number, rows: readonly string[]): string =>
    rows.length === 0
      ? "None.\n"
      : `${head}\n|${"---|".repeat(columns)}\n${rows.map((row) => `| ${row} |`).join("\n")}\n`;
  return `# Invoice

## Overview

Adds up.

## Inputs

${table("| name | type | rule |", 3, inputs)}
## Outputs

${table("| name | type | rule |", 3, outputs)}
## Rules

${rules.length === 0 ? "None.\n" : `${rules.map((rule, index) => `${index + 1}. ${rule}`).join("\n")}\n`}
## Errors

${table("| case | when | what the caller gets |", 3, errors)}
## Examples

${table("| input | expected |", 2, examples)}
## Dependencies

None.
${more}`;
}

async function implement(spec: string, more: Partial<ModelSubject> = {}, step = 1): Promise<Completion> {
  const subject: ModelSubject = {
    target: { domain: "Billing", name: "Invoice" },
    dir: "features/Billing/Invoice",
    pack,
    controller: true,
    request: "",
    spec,
    files: {},
    ...more,
  };
  return model.complete(
    { role: "implement", step, messages: [{ role: "user", content: "x" }], timeoutMs: 1000, subject },
    never,
  );
}

const invoice: Tables = {
  inputs: [
    "lines | list | at least 1",
    "lines[].quantity | int | at least 1",
    "lines[].unit_price | decimal | >= 0",
    "lines[].tax_rate | decimal | between 0 and 1",
  ],
  outputs: [
    "net | decimal | sum(lines[].quantity * lines[].unit_price)",
    "tax | decimal | sum(round(lines[].quantity * lines[].unit_price * lines[].tax_rate, 2))",
    "total | decimal | net + tax",
  ],
  errors: [
    "no lines | lines is empty | InvoiceError: an invoice needs a line",
    "bad quantity | lines[].quantity < 1 | InvoiceError: quantity must be at least 1",
  ],
  examples: [
    "lines = [{quantity: 2, unit_price: 9.50, tax_rate: 0.19}] | net = 19.00, tax = 3.61, total = 22.61",
    'lines = [{"quantity": 1, "unit_price": 0.10, "tax_rate": 0.05}, {"quantity": 1, "unit_price": 0.10, "tax_rate": 0.05}, {"quantity": 1, "unit_price": 0.10, "tax_rate": 0.05}] | tax = 0.03, total = 0.33',
    "lines = [] | error: no lines",
  ],
};

const green: readonly (readonly [name: string, tables: Tables, tests: number, more?: Partial<ModelSubject>])[] = [
  ["sums over a list of records, rounding in the sum", invoice, 4],
  [
    "scalars, a rounding rule, a derived error test",
    {
      inputs: ["quantity | int | >= 1", "unit_price | decimal | not negative", "tax_rate | decimal | default 0.19"],
      outputs: ["net | decimal | quantity * unit_price", "tax | decimal | ", "total | decimal | net + tax"],
      rules: ["tax = net * tax_rate", "tax is rounded half up to 2 decimals."],
      errors: [
        "bad quantity | quantity is less than 1 | ValueError: quantity must be at least 1",
        'too much | total > 10000 | `LimitError` saying "too much for one invoice"',
      ],
      examples: [
        "quantity = 2, unit_price = 9.50 | net = 19.00, tax = 3.61, total = 22.61",
        "quantity=1; unit_price=0.50; tax_rate=0.05 | tax = 0.03",
      ],
    },
    4,
  ],
  [
    "a lookup, a conditional, texts and booleans",
    {
      inputs: [
        "country | text | one of DE, FR, CH",
        "amount | decimal | > 0",
        "member | bool |",
        'note | text | at most 40 characters, default ""',
      ],
      outputs: [
        "rate | decimal | by country: DE -> 0.19, FR -> 20%, otherwise 0",
        "shipping | decimal | if amount >= 50 or member then 0 else 4.90",
        'code | text | upper(country) + "-" + note',
        "free | bool | shipping = 0",
        "letters | int | length(trim(note))",
      ],
      errors: ["unknown country | country is not one of DE, FR, CH | KeyError: unknown country"],
      examples: [
        "country=DE, amount=10, member=false | rate=0.19, shipping=4.90, free=false, code=DE-",
        'country=FR, amount=50, member=no, note=" x " | rate=0.2, shipping=0, free=yes, code="FR- x ", letters=1',
      ],
    },
    3,
  ],
  [
    "lists of numbers, smallest and count, division, no controller",
    {
      inputs: ["scores | list of decimal | not empty, at most 5 items", "limit | int | 1..10"],
      outputs: [
        "average | decimal | round(sum(scores) / count(scores), 3)",
        "best | decimal | max(scores)",
        "over | int | count(scores[] > limit)",
        "all_over | bool | all(scores[] > limit)",
        "half | decimal | limit / 2",
        "steps | int | ceil(best / limit)",
        "rest | int | -limit % 3",
      ],
      examples: [
        "scores = [1, 2, 4.5], limit = 2 | average = 2.5, best = 4.5, over = 1, all_over = false, half = 1, steps = 3, rest = 1",
      ],
    },
    1,
    { controller: false },
  ],
  [
    "long names and messages stay within the line",
    {
      inputs: [
        "annual_subscription_amount | decimal | not negative",
        "number_of_months_remaining | int | 0 to 12",
        "early_termination_penalty | decimal | >= 0",
      ],
      outputs: [
        "refundable_amount | decimal | max(annual_subscription_amount * number_of_months_remaining / 12 - early_termination_penalty - annual_subscription_amount * 5%, 0)",
      ],
      rules: ["Amounts are rounded half even to 2 decimals"],
      errors: [
        "penalty larger than the amount | early_termination_penalty > annual_subscription_amount and number_of_months_remaining > 0 | ValueError: the penalty for ending early may not be larger than the amount that was paid for the whole year",
      ],
      examples: [
        "annual_subscription_amount = 120.00, number_of_months_remaining = 6, early_termination_penalty = 10.00 | refundable_amount = 44.00",
      ],
    },
    2,
  ],
];

describe("contract: builtin/template", function () {
  this.timeout(600_000);

  for (const [name, tables, tests, more] of green) {
    it(`writes code that is green under the real pytest: ${name}`, async function () {
      const python = await pythonWithPytest();
      if (python === undefined) this.skip();
      const said = await implement(specOf(tables), more);
      assert.equal(said.kind, "ok", said.kind === "ok" ? "" : said.detail);
      const { files } = JSON.parse(said.kind === "ok" ? said.text : "{}") as { files: Record<string, string> };
      using dir = new TempDir();
      const slice = dir.at("features", "Billing", "Invoice");
      mkdirSync(slice, { recursive: true });
      writeFileSync(path.join(slice, "__init__.py"), '"""Invoice."""\n');
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(slice, file), text);
      const ran = await runPytest(python, dir.path, "features/Billing/Invoice/Tests.py");
      const withController = more?.controller !== false;
      assert.deepEqual(
        [ran.passed, ran.failed],
        [tests + (withController ? 1 : 0), 0],
        `${ran.output}\n${Object.values(files).join("\n----\n")}`,
      );
      assert.ok(
        ["", undefined].includes(await pycodestyle(python, dir.path)),
        `${await pycodestyle(python, dir.path)}`,
      );
      assert.deepEqual(
        Object.keys(files).toSorted(),
        ["Controller.py", "Handler.py", "Schema.py", "Tests.py"].filter(
          (file) => withController || file !== "Controller.py",
        ),
      );
      for (const text of Object.values(files)) assert.match(text, /Written by builtin\/template/);
      assert.equal(said.kind === "ok" && said.label, "builtin/template");
    });
  }

  it("the tests it writes can fail: a changed handler turns them red", async function () {
    const python = await pythonWithPytest();
    if (python === undefined) this.skip();
    const said = await implement(specOf(invoice));
    const { files } = JSON.parse(said.kind === "ok" ? said.text : "{}") as { files: Record<string, string> };
    using dir = new TempDir();
    const slice = dir.at("features", "Billing", "Invoice");
    mkdirSync(slice, { recursive: true });
    writeFileSync(path.join(slice, "__init__.py"), "");
    for (const [file, text] of Object.entries(files)) writeFileSync(path.join(slice, file), text);
    const handler = path.join(slice, "Handler.py");
    writeFileSync(handler, readFileSync(handler, "utf8").replace("net + tax", "net - tax"));
    const ran = await runPytest(python, dir.path, "features/Billing/Invoice/Tests.py");
    assert.ok(ran.failed >= 2, ran.output);
  });

  const scalar = {
    inputs: ["a | int |", "b | int |"],
    outputs: ["both | int | a + b"],
    examples: ["a=1, b=2 | both=3"],
  } as const;
  const refusals: readonly (readonly [
    name: string,
    spec: string,
    why: RegExp,
    more?: Partial<ModelSubject>,
    step?: number,
  ])[] = [
    [
      "a rule in prose",
      specOf({ ...scalar, rules: ["Loyal customers get what they deserve."] }),
      /rule 1: it is prose/,
    ],
    [
      "an output that nothing computes",
      specOf({ ...scalar, outputs: ["both | int |"] }),
      /Outputs, both: neither its rule nor a numbered rule/,
    ],
    [
      "an output whose rule is prose",
      specOf({ ...scalar, outputs: ["both | int | the usual total"] }),
      /Outputs, both: /,
    ],
    [
      "an example that contradicts the formula",
      specOf({ ...scalar, examples: ["a=1, b=2 | both=4"] }),
      /example 1: it expects both = 4, the rules give 3/,
    ],
    ["no example", specOf({ ...scalar, examples: [] }), /Examples: there is none with a result/],
    ["no output", specOf({ ...scalar, outputs: [] }), /Outputs: it names nothing/],
    [
      "a type it does not know",
      specOf({ ...scalar, inputs: ["a | datetime |", "b | int |"] }),
      /Inputs, a: the type "datetime"/,
    ],
    ["a float", specOf({ ...scalar, inputs: ["a | float |", "b | int |"] }), /a float is not exact; write decimal/],
    [
      "a name that is no input",
      specOf({ ...scalar, outputs: ["both | int | a + c"] }),
      /c is neither an input nor a value/,
    ],
    [
      "values that need each other",
      specOf({ ...scalar, outputs: ["both | int | other + 1", "other | int | both + 1"] }),
      /Outputs, both: both needs itself; Outputs, other: other needs itself/,
    ],
    [
      "an int from a division",
      specOf({ ...scalar, outputs: ["both | int | a / b"] }),
      /both is int, its formula gives decimal/,
    ],
    [
      "a division by zero in an example",
      specOf({ ...scalar, outputs: ["both | decimal | a / b"], examples: ["a=1, b=0 | both=0"] }),
      /example 1: both cannot be computed/,
    ],
    [
      "an error it cannot show",
      specOf({ ...scalar, errors: ["odd | a * a = 7919 | ValueError: odd"] }),
      /Errors, odd: no example shows it/,
    ],
    [
      "an error in prose",
      specOf({ ...scalar, errors: ["late | the customer is late | ValueError: late"] }),
      /Errors, late: /,
    ],
    ["an HTTP status", specOf({ ...scalar, errors: ["bad | a < 0 | HTTP 422"] }), /an HTTP status is beyond it/],
    ["an error that returns", specOf({ ...scalar, errors: ["bad | a < 0 | returns null"] }), /it returns something/],
    [
      "a rule once, not what follows from it",
      specOf({
        ...scalar,
        rules: ["rate = whatever is fair"],
        outputs: ["both | int | a * rate", "c | int | both + 1"],
      }),
      /^rule 1: [^;]*$/,
    ],
    [
      "an amendment",
      specOf({ ...scalar, more: "\n## CONTRACT AMENDMENT 1 (2026-11-29)\n\nAlso in francs.\n" }),
      /amendment 1: it is prose/,
    ],
    [
      "a name that the language keeps",
      specOf({
        ...scalar,
        inputs: ["class | int |", "b | int |"],
        outputs: ["both | int | class + b"],
        examples: ["class=1, b=2 | both=3"],
      }),
      /class: the name means something else/,
    ],
    [
      "an example with an unknown name",
      specOf({ ...scalar, examples: ["a=1, c=2 | both=3"] }),
      /example 1: c is not in the table/,
    ],
    ["an example that lacks an input", specOf({ ...scalar, examples: ["a=1 | both=3"] }), /example 1: it gives no b/],
    ["a second attempt", specOf(scalar), /its first answer was its only one/, {}, 2],
    [
      "work of a person",
      specOf(scalar),
      /Handler.py holds work that it would overwrite/,
      { files: { "Handler.py": "def handle():\n    return 42\n" } },
    ],
    [
      "another language",
      specOf(scalar),
      /it does not write Cobol/,
      { pack: { ...pack, lang: "cobol", title: "Cobol" } },
    ],
  ];
  for (const [name, spec, why, more, step] of refusals) {
    it(`refuses ${name}`, async () => {
      const said = await implement(spec, more, step);
      assert.deepEqual(
        said.kind === "failed" && [said.why, said.code],
        ["refused", "template.refused"],
        said.kind === "ok" ? said.text : "",
      );
      assert.match(said.kind === "failed" ? said.detail : "", why);
    });
  }

  it("names the line of the spec to mend; a model is no help against a contradiction", async () => {
    const hintOf = async (spec: string): Promise<string> => {
      const said = await implement(spec);
      return said.kind === "failed" ? (said.hint ?? "") : assert.fail(said.kind);
    };
    const lineOf = (spec: string, part: string): number =>
      spec.split("\n").findIndex((line) => line.includes(part)) + 1;
    const wrong = specOf({ ...scalar, examples: ["a=1, b=2 | both=3", "a=1, b=2 | both=4"] });
    const place = (spec: string, part: string): string =>
      `features/Billing/Invoice/spec.md at line ${lineOf(spec, part)}`;
    assert.equal(await hintOf(wrong), `Mend ${place(wrong, "both=4")}: no model can do both. Then run: orch do`);
    const amended = specOf({ ...scalar, more: "\n## CONTRACT AMENDMENT 1 (2026-01-02)\n\nRound it.\n" });
    assert.equal(
      await hintOf(amended),
      `Say it in the tables, take the section out of ${place(amended, "AMENDMENT")}, then run: orch do. Or connect a model: orch model`,
    );
    const beyond = specOf({ ...scalar, outputs: ["both | int | the usual total"] });
    assert.equal(
      await hintOf(beyond),
      `Mend ${place(beyond, "the usual total")}, then run: orch do. Or connect a model: orch model`,
    );
    assert.equal(await hintOf(specOf({ ...scalar, examples: [] })).then((hint) => /at line \d+/.test(hint)), true);
  });

  it("replaces the scaffold and its own earlier files", async () => {
    const scaffold = readFileSync(path.join(sourceRoot, "rules/python/templates/Handler.py"), "utf8").replaceAll(
      "{{feature}}",
      "Invoice",
    );
    const said = await implement(specOf(scalar), {
      files: { "Handler.py": scaffold, "Schema.py": '"""Invoice: shapes.\n\nWritten by builtin/template.\n"""\n' },
    });
    assert.equal(said.kind, "ok");
  });

  const write = (request: string) =>
    model.complete(
      {
        role: "spec",
        step: 1,
        messages: [],
        timeoutMs: 1000,
        subject: {
          target: { domain: "Billing", name: "Invoice" },
          dir: "features/Billing/Invoice",
          pack,
          controller: true,
          request,
          files: {},
        },
      },
      never,
    );
  const faults = (said: Completion): readonly string[] =>
    checkSpec(said.kind === "ok" ? said.text : "", { path: "spec.md", feature: "Invoice" })
      .filter(({ severity }) => severity === "FAIL")
      .map(({ message }) => message);

  it("writes the spec's form from the person's words", async () => {
    const said = await write("Adds up lines\n## Inputs are lines");
    assert.deepEqual(faults(said), ["Rules and Examples say nothing yet, so nobody can tell when the work is right"]);
    assert.match(said.kind === "ok" ? said.text : "", /^# Invoice\n\n## Overview\n\nAdds up lines\n/);
  });

  it("keeps a request that is a spec already", async () => {
    const said = await write(specOf(scalar).replace("# Invoice", "# Something else"));
    assert.deepEqual(faults(said), []);
    assert.match(said.kind === "ok" ? said.text : "", /^# Invoice\n[\s\S]*\| both \| int \| a \+ b \|/);
  });

  it("has no answer to other questions", async () => {
    const said = await model.complete({ role: "spec-qa", step: 1, messages: [], timeoutMs: 1000 }, never);
    assert.equal(said.kind === "failed" && said.code, "template.refused");
  });

  it("implements the example of its own page", async () => {
    const page = readFileSync(path.join(sourceRoot, "docs", "models.md"), "utf8");
    const spec = /```markdown\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
    assert.deepEqual(checkSpec(spec, { path: "spec.md", feature: "Invoice" }), []);
    const said = await implement(spec);
    assert.equal(said.kind, "ok", JSON.stringify(said));
  });
});
