import type { Cassette } from "../../model/cassette.ts";
import { invoiceCassette } from "./invoice-story.ts";

/**
 * The same story in TypeScript, for machines without pytest: written for the sample by hand as well. The first
 * implementation rounds the tax of the sum instead of each line and leaves an import behind; the second answers the
 * feedback. Amounts are whole cents, because the language has no exact decimals of its own.
 */
const spec = `# Invoice

## Overview

Adds up the lines of an invoice for the corner shop: the net amount, the tax and what the customer pays. Tax is worked out
and rounded for each line, because that is what stands on the receipt.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of Line | at least one |
| Line.quantity | int | from 1 to 10000 |
| Line.unitCents | int | net, in cents, from 0 to 10000000 |
| Line.taxPercent | int | from 0 to 100 |

## Outputs

| name | type | rule |
|---|---|---|
| netCents | int | sum of quantity times unitCents |
| taxCents | int | sum of the tax of the lines |
| totalCents | int | netCents plus taxCents |

## Rules

1. The tax of a line is its quantity times its unitCents times its taxPercent, divided by 100, rounded half up to whole cents.
2. Lines are rounded one by one, before they are added up. The sum is not rounded again.
3. Amounts are whole cents, never fractions.

## Errors

| case | when | what the caller gets |
|---|---|---|
| no lines | lines is empty | InvoiceError: an invoice needs a line |
| bad quantity | a quantity is no whole number from 1 to 10000 | InvoiceError: quantity must be from 1 to 10000 |
| bad price | a unitCents is no whole number from 0 to 10000000 | InvoiceError: unit price must be from 0 to 10000000 cents |
| bad rate | a taxPercent is no whole number from 0 to 100 | InvoiceError: tax rate must be from 0 to 100 percent |

## Examples

| input | expected |
|---|---|
| one line: 2 at 950, 19 percent | netCents 1900, taxCents 361, totalCents 2261 |
| three lines: 1 at 10, 5 percent | netCents 30, taxCents 3, totalCents 33 |
| one line: 1 at 400, 0 percent | netCents 400, taxCents 0, totalCents 400 |
| no lines | InvoiceError |

## Dependencies

None.
`;

const schema = `/** Invoice: shapes. Amounts are whole cents. */

/** How many of a thing, its net price, and the rate of tax. */
export interface Line {
  readonly quantity: number;
  readonly unitCents: number;
  readonly taxPercent: number;
}

/** The lines of one invoice. */
export interface Request {
  readonly lines: readonly Line[];
}

/** What the customer pays, and what of it is tax. */
export interface Response {
  readonly netCents: number;
  readonly taxCents: number;
  readonly totalCents: number;
}

/** An invoice that cannot be added up; the message says why. */
export class InvoiceError extends Error {
  override readonly name = "InvoiceError";
}
`;

const checks = `
/** Refuses a line that no receipt can show. */
function check(line: Line): void {
  if (!isWhole(line.quantity, 1, 10_000)) throw new InvoiceError("quantity must be from 1 to 10000");
  if (!isWhole(line.unitCents, 0, 10_000_000)) throw new InvoiceError("unit price must be from 0 to 10000000 cents");
  if (!isWhole(line.taxPercent, 0, 100)) throw new InvoiceError("tax rate must be from 0 to 100 percent");
}

function isWhole(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}

function netOf(line: Line): number {
  return line.quantity * line.unitCents;
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
`;

const firstHandler = `/** Invoice: rules. */
import { inspect } from "node:util";
import { InvoiceError, type Line, type Request, type Response } from "./Schema.ts";

/** Adds up the lines of one invoice. */
export function handle(request: Request): Response {
  if (request.lines.length === 0) throw new InvoiceError("an invoice needs a line");
  request.lines.forEach(check);
  const netCents = sum(request.lines.map(netOf));
  const taxCents = Math.floor((sum(request.lines.map(taxOf)) + 50) / 100);
  return { netCents, taxCents, totalCents: netCents + taxCents };
}
${checks}
/** The line's share of tax, in hundredths of a cent. */
function taxOf(line: Line): number {
  return netOf(line) * line.taxPercent;
}
`;

const secondHandler = `/** Invoice: rules. */
import { InvoiceError, type Line, type Request, type Response } from "./Schema.ts";

/** Adds up the lines of one invoice. */
export function handle(request: Request): Response {
  if (request.lines.length === 0) throw new InvoiceError("an invoice needs a line");
  request.lines.forEach(check);
  const netCents = sum(request.lines.map(netOf));
  const taxCents = sum(request.lines.map(taxOf));
  return { netCents, taxCents, totalCents: netCents + taxCents };
}
${checks}
/** The line's share of tax in whole cents, half a cent going up, as it stands on the receipt. */
function taxOf(line: Line): number {
  return Math.floor((netOf(line) * line.taxPercent + 50) / 100);
}
`;

const controller = `/** Invoice: door. */
import { handle } from "./Handler.ts";
import { InvoiceError, type Line, type Response } from "./Schema.ts";

/** Turns decoded data into an invoice, the result into data. */
export function control(payload: unknown): Response {
  return handle({ lines: readLines(payload) });
}

function readLines(payload: unknown): readonly Line[] {
  const lines = field(payload, "lines");
  if (!Array.isArray(lines)) throw new InvoiceError("not an invoice: lines is no list");
  return lines.map((row: unknown) => ({
    quantity: amount(row, "quantity"),
    unitCents: amount(row, "unitCents"),
    taxPercent: amount(row, "taxPercent"),
  }));
}

function amount(row: unknown, name: string): number {
  const value = field(row, name);
  if (typeof value !== "number") throw new InvoiceError(\`not an invoice: \${name} is no number\`);
  return value;
}

function field(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null) throw new InvoiceError("not an invoice: no object");
  return new Map(Object.entries(value)).get(name);
}
`;

const tests = `/** Invoice: tests. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { control } from "./Controller.ts";
import { handle } from "./Handler.ts";
import { InvoiceError, type Line, type Response } from "./Schema.ts";

const line = (quantity: number, unitCents: number, taxPercent: number): Line => ({ quantity, unitCents, taxPercent });
const invoice = (...lines: Line[]): Response => handle({ lines });
const amounts = (netCents: number, taxCents: number, totalCents: number): Response => ({
  netCents,
  taxCents,
  totalCents,
});

describe("an invoice", () => {
  it("adds up one line", () => {
    assert.deepEqual(invoice(line(2, 950, 19)), amounts(1900, 361, 2261));
  });

  it("rounds the tax line by line", () => {
    const sweet = line(1, 10, 5);
    assert.deepEqual(invoice(sweet, sweet, sweet), amounts(30, 3, 33));
  });

  it("rounds half a cent up", () => {
    assert.equal(invoice(line(1, 10, 5)).taxCents, 1);
  });

  it("takes a rate of zero", () => {
    assert.deepEqual(invoice(line(1, 400, 0)), amounts(400, 0, 400));
  });

  it("stays exact at the largest amounts", () => {
    assert.deepEqual(invoice(line(10_000, 10_000_000, 100)), amounts(1e11, 1e11, 2e11));
  });

  it("needs a line", () => {
    assert.throws(() => invoice(), new InvoiceError("an invoice needs a line"));
  });

  for (const [bad, message] of [
    [line(0, 100, 19), "quantity must be from 1 to 10000"],
    [line(1.5, 100, 19), "quantity must be from 1 to 10000"],
    [line(1, -1, 19), "unit price must be from 0 to 10000000 cents"],
    [line(1, 100, -1), "tax rate must be from 0 to 100 percent"],
    [line(1, 100, 101), "tax rate must be from 0 to 100 percent"],
  ] as const) {
    it(\`refuses \${JSON.stringify(bad)}\`, () => {
      assert.throws(() => invoice(line(1, 100, 19), bad), new InvoiceError(message));
    });
  }
});

describe("the door", () => {
  it("reads and writes data", () => {
    const lines = [{ quantity: 2, unitCents: 950, taxPercent: 19 }];
    assert.deepEqual(control({ lines }), { netCents: 1900, taxCents: 361, totalCents: 2261 });
  });

  for (const other of [undefined, {}, { lines: [{ quantity: "many" }] }, { lines: [7] }]) {
    it(\`refuses \${JSON.stringify(other)}\`, () => {
      assert.throws(() => control(other), /not an invoice/);
    });
  }
});
`;

export const typescriptCassette: Cassette = invoiceCassette({
  asked: ["Language: TypeScript"],
  shown: ["Handler.ts"],
  spec,
  first: { "Schema.ts": schema, "Handler.ts": firstHandler, "Controller.ts": controller, "Tests.ts": tests },
  second: { "Handler.ts": secondHandler },
});
