/** What a model says about Billing/Invoice in a TypeScript project; the spec is that of invoice-replies.ts. */
const schema = `/** Shapes of the invoice. */

/** One line of an invoice; amounts are whole cents. */
export interface Line {
  readonly quantity: number;
  readonly unitCents: number;
}

/** The invoice cannot be added up. */
export class InvoiceError extends Error {
  override readonly name = "InvoiceError";
}
`;

const handler = (body: string): string => `/** Totals of an invoice. */
import { InvoiceError, type Line } from "./Schema.ts";

/** The total in whole cents. */
export function handle(lines: readonly Line[]): number {
  if (lines.length === 0) throw new InvoiceError("no lines");
  ${body}
}
`;

const controller = `/** Entry of the invoice feature. */
import { handle } from "./Handler.ts";
import type { Line } from "./Schema.ts";

/** The reply of the feature. */
export function control(lines: readonly Line[]): { readonly total_cents: number } {
  return { total_cents: handle(lines) };
}
`;

const tests = `/** Tests of the invoice. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { control } from "./Controller.ts";
import { handle } from "./Handler.ts";
import { InvoiceError } from "./Schema.ts";

describe("an invoice", () => {
  it("counts quantities", () => {
    const lines = [
      { quantity: 2, unitCents: 150 },
      { quantity: 1, unitCents: 50 },
    ];
    assert.equal(handle(lines), 350);
    assert.deepEqual(control(lines), { total_cents: 350 });
  });

  it("needs a line", () => {
    assert.throws(() => handle([]), InvoiceError);
  });
});
`;

function reply(files: Readonly<Record<string, string>>): string {
  return JSON.stringify({ files, notes: "as specified" });
}

export const typescriptFiles: Readonly<Record<string, string>> = {
  "Schema.ts": schema,
  "Handler.ts": handler("return lines.reduce((sum, line) => sum + line.quantity * line.unitCents, 0);"),
  "Controller.ts": controller,
  "Tests.ts": tests,
};

/** Whole and right. */
export const typescriptReply = reply(typescriptFiles);
/** Well formed, but its own test is red: the quantity is forgotten. */
export const typescriptRed = reply({
  ...typescriptFiles,
  "Handler.ts": handler("return lines.reduce((sum, line) => sum + line.unitCents, 0);"),
});
/** Mends only what was red. */
export const typescriptMend = reply({ "Handler.ts": typescriptFiles["Handler.ts"] ?? "" });
/** What first tries look like: any, ==, an import without its extension, a skipped test. */
export const typescriptSloppy = reply({
  ...typescriptFiles,
  "Handler.ts": `import { InvoiceError } from "./Schema";

export function handle(lines: any) {
  if (lines.length == 0) throw new InvoiceError("no lines");
  return lines.reduce((sum: number, line: any) => sum + line.quantity * line.unitCents, 0);
}
`,
  "Tests.ts": tests.replace('it("needs a line"', 'it.skip("needs a line"'),
});

export const typescriptProject: Readonly<Record<string, string>> = {
  "README.md": "# shop\n",
  ".nvmrc": "24\n",
  "package.json": '{\n  "name": "shop",\n  "version": "0.1.0",\n  "private": true,\n  "type": "module"\n}\n',
  "tsconfig.json":
    '{\n  "compilerOptions": { "module": "nodenext", "strict": true, "noEmit": true, "allowImportingTsExtensions": true }\n}\n',
  ".gitignore": "node_modules/\n",
};
