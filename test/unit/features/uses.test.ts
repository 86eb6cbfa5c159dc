import { deepEqual, equal } from "node:assert/strict";
import type { RepoPath } from "../../../shared/base/paths.ts";
import { oldNameLine, usesOf } from "../../../shared/features/uses.ts";

const slice = { dir: "features/Billing/Invoice" as RepoPath, target: { domain: "Billing", name: "Invoice" } };

describe("usesOf", () => {
  const rows: readonly (readonly [string, boolean])[] = [
    ["from features.Billing.Invoice.Handler import handle", true],
    ["import features.Billing.Invoice", true],
    ["from features.Billing import Order, Invoice", true],
    ["from ..Invoice.Handler import handle", true],
    ["from ...Billing.Invoice import Schema", true],
    ['import { handle } from "../Invoice/Handler.ts";', true],
    ["see features/Billing/Invoice/spec.md", true],
    ["path = 'features\\Billing\\Invoice'", true],
    ["features/Billing/InvoiceTwo", false],
    ["my-features.Billing.Invoice", false],
    ["from .Invoice import x", false],
    ["from features.Billing import InvoiceTwo", false],
    ["class Invoice:", false],
    ["from ..InvoiceTwo import x", false],
  ];
  for (const [line, wanted] of rows) {
    it(`${wanted ? "names" : "passes over"}: ${line}`, () =>
      deepEqual(
        usesOf("a.py" as RepoPath, `\n${line}\n`, slice),
        wanted ? [{ path: "a.py", line: 2, text: line }] : [],
      ));
  }
});

describe("oldNameLine", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['"""Invoice: totals."""', "Bill", true],
    ["class InvoiceError(Exception):", "Bill", true],
    ["test_Invoice = 1", "Bill", true],
    ["MyInvoice = 1; Invoices = 2; invoice = 3", "Bill", false],
    ["class InvoiceTwo: ...", "InvoiceTwo", false],
    ["class Invoice: ...", "Invoice", false],
  ];
  for (const [line, to, wanted] of rows) {
    it(`${wanted ? "finds" : "passes over"} for ${to}: ${line}`, () =>
      equal(oldNameLine(`\n${line}\n`, { from: "Invoice", to }), wanted ? 2 : undefined));
  }
});
