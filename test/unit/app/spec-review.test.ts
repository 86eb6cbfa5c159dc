import assert from "node:assert/strict";
import { type SpecReviewContext, reviewSpec, reviewText } from "../../../shared/app/spec-review.ts";
import type { RepoPath } from "../../../shared/base/paths.ts";
import { Config } from "../../../shared/model/config.ts";
import { Pack } from "../../../shared/model/pack.ts";
import { readPersona } from "../../../shared/prompts/persona.ts";
import { invoiceSpec } from "../../support/invoice-replies.ts";
import { RecordingSink } from "../../support/recording-sink.ts";
import { ScriptedModel, type ScriptedSaid } from "../../support/scripted-model.ts";

const never = new AbortController().signal;
const persona = readPersona({
  path: "personas/spec_qa_agent.md",
  project: false,
  text: "---\nname: spec_qa_agent\nrole: spec-qa\ndescription: checks\nversion: 1\n---\nYou read specifications.\n",
});
const feature = {
  target: { domain: "Billing", name: "Invoice" },
  id: "Invoice",
  dir: "features/Billing/Invoice" as RepoPath,
  spec: "features/Billing/Invoice/spec.md" as RepoPath,
  registry: ".features.json" as RepoPath,
  branch: "Billing/Invoice",
};
const pack = Pack.parse({
  lang: "python",
  title: "Python",
  extensions: [".py"],
  roles: { schema: "Schema.py", handler: "Handler.py", tests: "Tests.py" },
  templates: {},
  test: { argv: ["{runner}"], runners: [{ argv: ["python3"] }], report: "junit", missing: "none" },
  grammar: "python",
});
const wish = {
  feature,
  pack: { pack, templates: {} },
  request: "Totals with sk-key",
  controller: true,
  spec: invoiceSpec,
};
const bounded = invoiceSpec.replace("| at least one |", "| from 1 to 100 |");
const rounded = bounded.replace("1. The total", "1. Without rounding, the total");
const issues = (spec: string, ...lines: string[]): string =>
  `ISSUES\n${lines.join("\n")}\n\n\`\`\`spec.md\n${spec}\`\`\`\n`;
const torn = invoiceSpec.replace(/## Errors[\s\S]*?(?=## Examples)/, "");
const fewer = invoiceSpec.replace("| no lines | InvoiceError |\n", "");
const gone: ScriptedSaid = { kind: "failed", why: "timeout", detail: "no reply within 300 s" };

function room(said: readonly ScriptedSaid[]) {
  const sink = new RecordingSink();
  let markers = 0;
  const context: SpecReviewContext = {
    sink,
    ids: { next: () => `m${(markers += 1)}` },
    config: Config.parse({}),
    redact: (text) => text.replaceAll("sk-key", "[redacted]"),
    personas: () => Promise.resolve(new Map([["spec_qa_agent", persona]])),
  };
  return { sink, context, model: new ScriptedModel("test/one", ...said) };
}

interface Row {
  readonly name: string;
  readonly said: readonly ScriptedSaid[];
  readonly kind: "valid" | "corrected" | "unchecked";
  readonly text: string;
  readonly rounds: number;
  readonly corrections?: number;
  readonly issues?: readonly string[];
  readonly why?: RegExp;
}

const rows: readonly Row[] = [
  { name: "valid at once", said: ["VALID"], kind: "valid", text: invoiceSpec, rounds: 1 },
  {
    name: "one correction, then valid",
    said: [issues(bounded, "- no upper bound"), "VALID"],
    kind: "valid",
    text: bounded,
    rounds: 2,
    corrections: 1,
    issues: ["no upper bound"],
  },
  {
    name: "never valid: three rounds, the last correction stands",
    said: [issues(bounded, "- a"), issues(rounded, "- b"), issues(bounded, "- c"), "VALID"],
    kind: "corrected",
    text: bounded,
    rounds: 3,
    corrections: 3,
    issues: ["a", "b", "c"],
  },
  {
    name: "a correction of worse form is not taken, the next one is",
    said: [issues(torn, "- a"), issues(bounded, "- b"), "VALID"],
    kind: "valid",
    text: bounded,
    rounds: 3,
    corrections: 1,
    issues: ["a", "b"],
  },
  {
    name: "nothing but corrections of worse form",
    said: [issues(torn, "- a")],
    kind: "unchecked",
    text: invoiceSpec,
    rounds: 3,
    issues: ["a", "a", "a"],
    why: /no correction could be taken/,
  },
  {
    name: "a correction without a row is not taken at once, the row is put back",
    said: [issues(fewer, "- a"), issues(bounded, "- a"), "VALID"],
    kind: "valid",
    text: bounded,
    rounds: 3,
    corrections: 1,
    issues: ["a", "a"],
  },
  {
    name: "a correction that leaves the row out again means it",
    said: [issues(fewer, "- it stands twice"), issues(fewer, "- it stands twice"), "VALID"],
    kind: "valid",
    text: fewer,
    rounds: 3,
    corrections: 1,
    issues: ["it stands twice", "it stands twice"],
  },
  {
    name: "issues, and the same spec",
    said: [issues(invoiceSpec, "- a")],
    kind: "unchecked",
    text: invoiceSpec,
    rounds: 1,
    issues: ["a"],
    why: /named issues and changed nothing/,
  },
  {
    name: "no model answers",
    said: [gone],
    kind: "unchecked",
    text: invoiceSpec,
    rounds: 1,
    why: /no reply within 300 s/,
  },
  {
    name: "an answer, then none: what was corrected stays",
    said: [issues(bounded, "- a"), gone],
    kind: "unchecked",
    text: bounded,
    rounds: 2,
    corrections: 1,
    issues: ["a"],
    why: /no reply/,
  },
  {
    name: "prose",
    said: ["Looks VALID to me."],
    kind: "unchecked",
    text: invoiceSpec,
    rounds: 2,
    why: /gave no verdict/,
  },
  { name: "the spec back", said: [invoiceSpec], kind: "unchecked", text: invoiceSpec, rounds: 2, why: /no line/ },
  {
    name: "prose, then the form that was asked for",
    said: ["Looks fine.", "VALID"],
    kind: "valid",
    text: invoiceSpec,
    rounds: 2,
  },
  {
    name: "prose twice, not in a row: the second ends it",
    said: ["Looks fine.", issues(bounded, "- a"), "Looks fine."],
    kind: "unchecked",
    text: bounded,
    rounds: 3,
    corrections: 1,
    issues: ["a"],
    why: /gave no verdict/,
  },
  {
    name: "the lane will not",
    said: [{ kind: "failed", why: "refused", detail: "it has no answer to spec-qa" }],
    kind: "unchecked",
    text: invoiceSpec,
    rounds: 1,
    why: /no answer to spec-qa/,
  },
];

describe("spec QA", () => {
  for (const row of rows)
    it(row.name, async () => {
      const { sink, context, model } = room(row.said);
      const { kind, text, rounds, corrections, issues: named, why } = await reviewSpec(context, model, wish, never);
      assert.deepEqual(
        { kind, text, rounds, corrections, issues: named },
        {
          kind: row.kind,
          text: row.text,
          rounds: row.rounds,
          corrections: row.corrections ?? 0,
          issues: row.issues ?? [],
        },
      );
      assert.match(why ?? "", row.why ?? /^$/);
      assert.deepEqual(
        model.asked.map(({ role, step, subject }) => [role, step, subject?.request]),
        Array.from({ length: row.rounds }, (_, at) => ["spec-qa", at + 1, "Totals with [redacted]"]),
      );
      const replies = row.said.slice(0, row.rounds).filter((one) => typeof one === "string").length;
      assert.equal([...sink.sidecars.keys()].filter((path) => path.startsWith("spec/qa-prompt-")).length, row.rounds);
      assert.ok([...sink.sidecars.keys()].filter((path) => path.startsWith("spec/qa-reply-")).length >= replies);
      assert.match(sink.of("progress.noted").at(-1)?.text ?? "", /^spec\.md: (?:found valid|corrected|not checked) /);
    });

  it("each round sees the spec as it stands, a refused correction goes back with its faults", async () => {
    const { context, model } = room([issues(torn, "- a"), issues(bounded, "- b"), "VALID"]);
    await reviewSpec(context, model, wish, never);
    const [first, second, third] = model.asked.map(({ messages }) => messages.map(({ content }) => content).join("\n"));
    assert.ok(first?.includes("| at least one |"));
    assert.match(second ?? "", /cannot be taken:\n- .*the section Errors is missing/);
    assert.ok(third?.includes("| from 1 to 100 |") && !third.includes("cannot be taken"));
  });

  it("a row that a correction lost is named", async () => {
    const { context, model } = room([issues(fewer, "- a"), "VALID"]);
    const review = await reviewSpec(context, model, wish, never);
    assert.deepEqual([review.kind, review.text], ["valid", invoiceSpec]);
    assert.match(
      model.asked[1]?.messages.at(-1)?.content ?? "",
      /cannot be taken:\n- this row is gone: Examples: no lines \| InvoiceError; put it back/,
    );
  });

  it("an answer that cannot be read is asked for once more, with why", async () => {
    const { context, model } = room(["Looks fine.", "VALID"]);
    await reviewSpec(context, model, wish, never);
    const last = model.asked[1]?.messages.slice(-2).map(({ role, content }) => [role, content.split("\n")[0]]);
    assert.deepEqual(last, [
      ["assistant", "Looks fine."],
      ["user", "The answer cannot be read:"],
    ]);
  });

  it("an amendment is nobody's to correct", async () => {
    const amended = `${invoiceSpec}\n## CONTRACT AMENDMENT 1 (2026-01-02)\n\nRound up.\n`;
    const { context, model } = room([issues(amended.replace("Round up", "Round down"), "- a"), "VALID"]);
    const review = await reviewSpec(context, model, { ...wish, spec: amended }, never);
    assert.deepEqual([review.kind, review.text, review.corrections], ["valid", amended, 0]);
    assert.match(model.asked[1]?.messages.at(-1)?.content ?? "", /AMENDMENT blocks were changed/);
  });

  it("a form that is bad already may stay as bad, and what a program found is told", async () => {
    const { context, model } = room([issues(torn.replace("tax", "taxes"), "- a"), "VALID"]);
    const review = await reviewSpec(context, model, { ...wish, spec: torn }, never);
    assert.deepEqual([review.kind, review.corrections], ["valid", 1]);
    assert.match(model.asked[0]?.messages.at(-1)?.content ?? "", /A program finds these faults/);
  });

  it("a spec with a secret is not sent", async () => {
    const { context, model } = room(["VALID"]);
    const review = await reviewSpec(context, model, { ...wish, spec: `${invoiceSpec}\nsk-key\n` }, never);
    assert.deepEqual([review.kind, review.rounds, model.asked.length], ["unchecked", 0, 0]);
    assert.match(review.why ?? "", /secret/);
  });

  it("stops when it is told to, in any round", async () => {
    for (const said of [["hang"], [issues(bounded, "- a"), "hang"]] as const) {
      const { context, model } = room(said);
      const controller = new AbortController();
      const review = reviewSpec(context, model, wish, controller.signal);
      const waiting = setInterval(() => model.asked.length === said.length && controller.abort(), 1);
      await assert.rejects(review, { name: "AbortError" });
      clearInterval(waiting);
    }
  });

  it("without its persona nobody is asked", async () => {
    const { context, model } = room(["VALID"]);
    const without = { ...context, personas: () => Promise.resolve(new Map()) };
    await assert.rejects(reviewSpec(without, model, wish, never), { code: "persona.invalid" });
    assert.equal(model.asked.length, 0);
  });

  it("says in a line what it did", () => {
    const base = { rounds: 3, corrections: 0, issues: ["no bounds"] } as const;
    assert.deepEqual(
      [
        reviewText({ ...base, kind: "valid" }),
        reviewText({ ...base, kind: "valid", corrections: 1 }),
        reviewText({ ...base, kind: "corrected", corrections: 3 }),
        reviewText({ ...base, kind: "unchecked", corrections: 2, why: "gone" }),
      ],
      [
        "found valid by spec QA",
        "found valid by spec QA after 1 correction",
        "corrected by spec QA 3 times in 3 rounds and not found valid since; its last issue: no bounds",
        "not checked by spec QA after 2 corrections (gone)",
      ],
    );
  });
});
