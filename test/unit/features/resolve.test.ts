import assert from "node:assert/strict";
import { editDistance, holdsKeyword, nearMisses, wordsOf } from "../../../shared/features/names.ts";
import { caseTwin, nearTargets, resolveTarget, targetOfPath } from "../../../shared/features/resolve.ts";
import { isOrchError } from "../../../shared/model/error.ts";
import { type Target, targetText } from "../../../shared/model/target.ts";

const file = {
  known_features: { Invoice: "Billing", constructor: "Core", Order_line: "Shop" },
  domain_keywords: {
    credit_note: ["Billing", "do"],
    note: ["Docs", "scan"],
    refund: ["Billing", "rm -rf"],
    Invoices: ["Never", "do"],
  } as Record<string, [string, string]>,
};
const facts = { file, featuresDirs: ["features", "src/slices", "src/slices/web"] };
const target = (text: string): Target => ({ domain: text.split("/")[0] ?? "", name: text.split("/")[1] ?? "" });

describe("resolveTarget", () => {
  const rows: readonly (readonly [string, string, string])[] = [
    ["Billing/Invoice", "Billing/Invoice", "given"],
    ["Other/Invoice", "Other/Invoice", "given"],
    ["my-shop/Cart_2", "my-shop/Cart_2", "given"],
    ["features/Billing/Invoice", "Billing/Invoice", "given"],
    ["./features/Billing/Invoice/", "Billing/Invoice", "given"],
    ["features\\Billing\\Invoice", "Billing/Invoice", "given"],
    ["src/slices/Billing/Invoice", "Billing/Invoice", "given"],
    ["src/slices/web/Billing/Invoice", "Billing/Invoice", "given"],
    ["features/Billing/Invoice/Handler.py", "Billing/Invoice", "given"],
    ["features/Invoice", "Billing/Invoice", "registered"],
    ["modify/Invoice", "Billing/Invoice", "registered"],
    ["modify/features/Billing/Invoice", "Billing/Invoice", "given"],
    ["  Invoice ", "Billing/Invoice", "registered"],
    ["constructor", "Core/constructor", "registered"],
    ["toString", "nodomain/toString", "default"],
    ["CreditNote", "Billing/CreditNote", "keyword"],
    ["PrintCreditNotePdf", "Billing/PrintCreditNotePdf", "keyword"],
    ["note_taking", "Docs/note_taking", "keyword"],
    ["Notebook", "nodomain/Notebook", "default"],
    ["Anything", "nodomain/Anything", "default"],
  ];
  for (const [text, expected, by] of rows) {
    it(`${JSON.stringify(text)} is ${expected} (${by})`, () => {
      const found = resolveTarget(text, facts);
      assert.deepEqual([targetText(found.target), found.by], [expected, by]);
    });
  }

  it("keeps the keyword's action", () => assert.equal(resolveTarget("RefundJob", facts).action, "rm -rf"));

  for (const text of [
    "",
    "/",
    "Billing/",
    "/Invoice",
    "Billing/Invoice/Extra",
    "1st/Invoice",
    "Billing/2nd",
    "Billing/In voice",
    "Billing/../x",
    "con/Invoice",
    "Billing/NUL",
    "Modify/Invoice",
    "Billing/Ünvoice",
    `Billing/${"a".repeat(65)}`,
    "Billing/Invoice\n",
    "-x/Invoice",
    "..",
    "Billing/Invoice.py",
  ]) {
    if (text.trim() === "Billing/Invoice") continue; // white space around is not a fault
    it(`refuses ${JSON.stringify(text.slice(0, 30))}`, () => {
      assert.throws(
        () => resolveTarget(text, facts),
        (error) => isOrchError(error, "target.invalid"),
      );
    });
  }
});

describe("targetOfPath", () => {
  for (const [path, expected] of [
    ["features/Billing/Invoice/Schema.py", "Billing/Invoice"],
    ["features/Billing/Invoice", "Billing/Invoice"],
    ["src/slices/web/Billing/Invoice/a/b.py", "Billing/Invoice"],
    ["features/Billing", undefined],
    ["tests/features/Billing/Invoice", undefined],
    ["features-old/Billing/Invoice", undefined],
  ] as const) {
    it(`${path} is in ${expected}`, () => {
      const found = targetOfPath(path, facts.featuresDirs);
      assert.equal(found === undefined ? undefined : targetText(found), expected);
    });
  }
});

describe("names", () => {
  it("splits into words", () => {
    assert.deepEqual(["HTTPServerError2", "order_line", "aB", "Größe"].map(wordsOf), [
      ["http", "server", "error", "2"],
      ["order", "line"],
      ["a", "b"],
      ["größe"],
    ]);
  });
  it("finds a keyword as whole words only", () => {
    assert.deepEqual(
      [
        holdsKeyword("CreditNote", "credit_note"),
        holdsKeyword("CreditNotes", "credit_note"),
        holdsKeyword("NoteCredit", "creditNote"),
        holdsKeyword("x", "_"),
      ],
      [true, false, false, false],
    );
  });
  it("counts edits, a swap as one", () => {
    assert.deepEqual(
      [
        editDistance("abc", "acb", 3),
        editDistance("abc", "abc", 3),
        editDistance("abc", "xyzw", 2),
        editDistance("", "ab", 3),
      ],
      [1, 0, 3, 2],
    );
  });
  it("offers at most three near misses, nearest first, never the name itself", () => {
    assert.deepEqual(nearMisses("Invoice", ["Invoice", "Invoices", "Invioce", "invoice", "Invocie", "Order"]), [
      "invoice",
      "Invioce",
      "Invocie",
    ]);
    assert.deepEqual(nearMisses("Ab", ["Xy", "Ac"]), ["Ac"]);
  });
});

describe("nearTargets and caseTwin", () => {
  const known = ["Billing/Invoice", "Orders/Invoice2", "Orders/Shipment", "Orders/Basket"].map(target);
  for (const [wanted, near] of [
    ["Biling/Invoice", ["Billing/Invoice", "Orders/Invoice2"]],
    ["Orders/Invoice", ["Billing/Invoice", "Orders/Invoice2"]],
    ["Orders/Shipmnet", ["Orders/Shipment"]],
    ["Else/Baskets", ["Orders/Basket"]],
    ["Else/Nothing", []],
  ] as const) {
    it(`${wanted} is near ${near.join(", ") || "nothing"}`, () =>
      assert.deepEqual(nearTargets(target(wanted), known), near));
  }
  for (const [wanted, twin] of [
    ["Billing/invoice", "Billing/Invoice"],
    ["billing/Other", "Billing/Invoice"],
    ["Billing/Invoice", undefined],
    ["Billing/Invoices", undefined],
  ] as const) {
    it(`${wanted} has the twin ${twin}`, () => {
      const found = caseTwin(target(wanted), known);
      assert.equal(found === undefined ? undefined : targetText(found), twin);
    });
  }
});
