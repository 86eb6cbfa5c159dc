import assert from "node:assert/strict";
import { droppedRows, namedRowText } from "../../../shared/features/spec-rows.ts";

const spec = `# Invoice

## Overview

Totals.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of numbers | at least one |

## Outputs

| name | type | rule |
|---|---|---|
| total | int | cents |

## Rules

1. The total is the sum of the lines.
2. Amounts are rounded half up to cents.
3. A discount above 100 percent is refused.

## Errors

| case | when | what the caller gets |
|---|---|---|
| EmptyInvoice | there are no lines | ValueError |
| NegativeLine | a line is below zero | ValueError |

## Examples

| input | expected |
|---|---|
| [1, 2] | 3 |
| [] | ValueError |

## Dependencies

None.
`;

describe("rows that an amended spec has no more", () => {
  const rows: readonly (readonly [string, (text: string) => string, readonly string[]])[] = [
    ["none: the same spec", (t) => t, []],
    ["none: more of everything", (t) => t.replace("| [] |", "| [5] | 5 |\n| [] |"), []],
    [
      "a rule",
      (t) => t.replace("2. Amounts are rounded half up to cents.\n3.", "2."),
      ["Rules: Amounts are rounded half up to cents."],
    ],
    [
      "none: a rule renumbered and reworded",
      (t) => t.replace("2. Amounts are rounded half up to cents.", "7. Amounts are rounded half even to cents."),
      [],
    ],
    [
      "a rule that became another one",
      (t) => t.replace("2. Amounts are rounded half up to cents.", "2. Currencies are euro alone."),
      ["Rules: Amounts are rounded half up to cents."],
    ],
    [
      "an error case",
      (t) => t.replace(/\| NegativeLine .*\n/, ""),
      ["Errors: NegativeLine | a line is below zero | ValueError"],
    ],
    [
      "none: an error case that gives something else",
      (t) => t.replace("a line is below zero | ValueError", "some amount is negative | OverflowError"),
      [],
    ],
    ["an example", (t) => t.replace(/\| \[\] .*\n/, ""), ["Examples: [] | ValueError"]],
    ["none: an example with another expectation", (t) => t.replace("| [1, 2] | 3 |", "| `[1, 2]` | 4 |"), []],
    ["an input", (t) => t.replace(/\| lines .*\n/, ""), ["Inputs: lines | list of numbers | at least one"]],
    [
      "a whole section",
      (t) => t.replace(/## Examples[\s\S]*?(?=## Dep)/, ""),
      ["Examples: [1, 2] | 3", "Examples: [] | ValueError"],
    ],
    [
      "one of two that are the same",
      (t) => t.replace("| [] | ValueError |", "| [1, 2] | 3 |"),
      ["Examples: [] | ValueError"],
    ],
  ];
  for (const [name, change, dropped] of rows)
    it(name, () => assert.deepEqual(droppedRows(spec, change(spec)).map(namedRowText), dropped));
});
