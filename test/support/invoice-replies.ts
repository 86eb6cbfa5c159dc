/** What a model says about the feature Billing/Invoice in the tests of the whole flow. */
export const invoiceSpec = `# Invoice

## Overview

Adds up invoice lines and their tax.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of Line | at least one |
| Line.quantity | int | at least 1 |
| Line.unit_cents | int | not negative |

## Outputs

| name | type | rule |
|---|---|---|
| total_cents | int | sum of quantity times unit_cents |

## Rules

1. The total is the sum of quantity times unit_cents.

## Errors

| case | when | what the caller gets |
|---|---|---|
| no lines | lines is empty | InvoiceError: no lines |

## Examples

| input | expected |
|---|---|
| 2 at 150, 1 at 50 | total_cents 350 |
| no lines | InvoiceError |

## Dependencies

None.
`;

const schema = `"""Shapes of the invoice."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """One line of an invoice; amounts are whole cents."""

    quantity: int
    unit_cents: int
`;

const handler = (body: string): string => `"""Totals of an invoice."""
from collections.abc import Sequence

from .Schema import Line


class InvoiceError(ValueError):
    """The invoice cannot be added up."""


def handle(lines: Sequence[Line]) -> int:
    """Return the total in whole cents."""
    if not lines:
        raise InvoiceError("no lines")
    ${body}
`;

const controller = `"""Entry of the invoice feature."""
from collections.abc import Sequence

from .Handler import handle
from .Schema import Line


def run(lines: Sequence[Line]) -> dict[str, int]:
    """Return the reply of the feature."""
    return {"total_cents": handle(lines)}
`;

const tests = `"""Tests of the invoice."""
import unittest

from .Handler import InvoiceError, handle
from .Schema import Line


class InvoiceTests(unittest.TestCase):
    """The examples and errors of the specification."""

    def test_total(self) -> None:
        """Quantities count."""
        self.assertEqual(handle([Line(2, 150), Line(1, 50)]), 350)

    def test_no_lines(self) -> None:
        """An invoice needs a line."""
        with self.assertRaises(InvoiceError):
            handle([])
`;

const init = '"""Invoices."""\n';

function reply(files: Readonly<Record<string, string>>): string {
  return JSON.stringify({ files, notes: "as specified" });
}

export const goodFiles: Readonly<Record<string, string>> = {
  "__init__.py": init,
  "Schema.py": schema,
  "Handler.py": handler("return sum(line.quantity * line.unit_cents for line in lines)"),
  "Controller.py": controller,
  "Tests.py": tests,
};

/** Whole and right. */
export const goodReply = reply(goodFiles);
/** Well formed, but its own test is red: the quantity is forgotten. */
export const redReply = reply({ ...goodFiles, "Handler.py": handler("return sum(line.unit_cents for line in lines)") });
/** Mends only what was red. */
export const mendReply = reply({ "Handler.py": goodFiles["Handler.py"] ?? "" });
