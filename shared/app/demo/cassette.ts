import type { Cassette } from "../../model/cassette.ts";
import { invoiceCassette } from "./invoice-story.ts";

/**
 * The replies of `demo/invoice`, written for the sample by hand: no model made them, and every line that shows one says
 * "scripted". The first implementation rounds the tax of the sum instead of each line and leaves an import behind, as
 * first tries do; the second answers the feedback. Prompts for anything else are refused.
 */
export const demoRequest =
  "Totals of an invoice for the corner shop: net, tax and total, with the tax rounded on each line as it stands on the receipt";

const spec = `# Invoice

## Overview

Adds up the lines of an invoice for the corner shop: the net amount, the tax and what the customer pays. Tax is worked out
and rounded for each line, because that is what stands on the receipt.

## Inputs

| name | type | rule |
|---|---|---|
| lines | list of Line | at least one |
| Line.quantity | int | at least 1 |
| Line.unit_price | decimal | net, in euros, not negative |
| Line.tax_rate | decimal | a share: 0.19 is 19 percent, from 0 to 1 |

## Outputs

| name | type | rule |
|---|---|---|
| net | decimal | sum of quantity times unit_price |
| tax | decimal | sum of the tax of the lines |
| total | decimal | net plus tax |

## Rules

1. The tax of a line is its quantity times its unit_price times its tax_rate, rounded half up to whole cents.
2. Lines are rounded one by one, before they are added up. The sum is not rounded again.
3. Amounts are exact decimals, never floats.

## Errors

| case | when | what the caller gets |
|---|---|---|
| no lines | lines is empty | InvoiceError: an invoice needs a line |
| bad quantity | a quantity is below 1 | InvoiceError: quantity must be at least 1 |
| bad price | a unit_price is negative | InvoiceError: unit price must not be negative |
| bad rate | a tax_rate is below 0 or above 1 | InvoiceError: tax rate must be from 0 to 1 |

## Examples

| input | expected |
|---|---|
| one line: 2 at 9.50, rate 0.19 | net 19.00, tax 3.61, total 22.61 |
| three lines: 1 at 0.10, rate 0.05 | net 0.30, tax 0.03, total 0.33 |
| one line: 1 at 4.00, rate 0 | net 4.00, tax 0.00, total 4.00 |
| no lines | InvoiceError |

## Dependencies

None.
`;

const schema = `"""Invoice: shapes."""
from dataclasses import dataclass
from decimal import Decimal


class InvoiceError(ValueError):
    """An invoice that cannot be added up; the message says why."""


@dataclass(frozen=True)
class Line:
    """How many of a thing, its net price, and the share of tax."""

    quantity: int
    unit_price: Decimal
    tax_rate: Decimal


@dataclass(frozen=True)
class Request:
    """The lines of one invoice."""

    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Response:
    """What the customer pays, and what of it is tax."""

    net: Decimal
    tax: Decimal
    total: Decimal
`;

const firstHandler = `"""Invoice: rules."""
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from .Schema import InvoiceError, Line, Request, Response

CENT = Decimal("0.01")


def handle(request: Request) -> Response:
    """Add up the lines of one invoice."""
    if not request.lines:
        raise InvoiceError("an invoice needs a line")
    for line in request.lines:
        check(line)
    net = sum((net_of(line) for line in request.lines), Decimal(0))
    tax = sum((tax_of(line) for line in request.lines), Decimal(0))
    tax = tax.quantize(CENT, ROUND_HALF_UP)
    return Response(net=net, tax=tax, total=net + tax)


def check(line: Line) -> None:
    """Refuse a line that no receipt can show."""
    if line.quantity < 1:
        raise InvoiceError("quantity must be at least 1")
    if line.unit_price < 0:
        raise InvoiceError("unit price must not be negative")
    if not 0 <= line.tax_rate <= 1:
        raise InvoiceError("tax rate must be from 0 to 1")


def net_of(line: Line) -> Decimal:
    """Quantity times price."""
    return line.quantity * line.unit_price


def tax_of(line: Line) -> Decimal:
    """The line's share of tax."""
    return net_of(line) * line.tax_rate
`;

const secondHandler = `"""Invoice: rules."""
from decimal import ROUND_HALF_UP, Decimal

from .Schema import InvoiceError, Line, Request, Response

CENT = Decimal("0.01")


def handle(request: Request) -> Response:
    """Add up the lines of one invoice."""
    if not request.lines:
        raise InvoiceError("an invoice needs a line")
    for line in request.lines:
        check(line)
    net = sum((net_of(line) for line in request.lines), Decimal(0))
    tax = sum((tax_of(line) for line in request.lines), Decimal(0))
    return Response(net=net, tax=tax, total=net + tax)


def check(line: Line) -> None:
    """Refuse a line that no receipt can show."""
    if line.quantity < 1:
        raise InvoiceError("quantity must be at least 1")
    if line.unit_price < 0:
        raise InvoiceError("unit price must not be negative")
    if not 0 <= line.tax_rate <= 1:
        raise InvoiceError("tax rate must be from 0 to 1")


def net_of(line: Line) -> Decimal:
    """Quantity times price."""
    return line.quantity * line.unit_price


def tax_of(line: Line) -> Decimal:
    """The line's share of tax, rounded as it stands on the receipt."""
    return (net_of(line) * line.tax_rate).quantize(CENT, ROUND_HALF_UP)
`;

const controller = `"""Invoice: door."""
from decimal import Decimal, InvalidOperation
from typing import Any

from .Handler import handle
from .Schema import InvoiceError, Line, Request


def control(payload: dict[str, Any]) -> dict[str, str]:
    """Turn decoded data into an invoice, the result into texts."""
    response = handle(Request(lines=read_lines(payload)))
    return {
        "net": f"{response.net:.2f}",
        "tax": f"{response.tax:.2f}",
        "total": f"{response.total:.2f}",
    }


def read_lines(payload: dict[str, Any]) -> tuple[Line, ...]:
    """Read prices and rates as texts, so that they stay exact."""
    try:
        return tuple(
            Line(
                quantity=int(row["quantity"]),
                unit_price=Decimal(str(row["unit_price"])),
                tax_rate=Decimal(str(row["tax_rate"])),
            )
            for row in payload["lines"]
        )
    except (InvalidOperation, KeyError, TypeError, ValueError) as error:
        raise InvoiceError(f"not an invoice: {error}") from error
`;

const tests = `"""Invoice: tests."""
from decimal import Decimal

import pytest

from .Controller import control
from .Handler import handle
from .Schema import InvoiceError, Line, Request, Response


def line(quantity: int, price: str, rate: str) -> Line:
    """A line from texts, so that amounts stay exact."""
    return Line(quantity, Decimal(price), Decimal(rate))


def invoice(*lines: Line) -> Response:
    """The result for these lines."""
    return handle(Request(lines=lines))


def amounts(net: str, tax: str, total: str) -> Response:
    """The result that is expected."""
    return Response(Decimal(net), Decimal(tax), Decimal(total))


def test_one_line() -> None:
    assert invoice(line(2, "9.50", "0.19")) == amounts("19", "3.61", "22.61")


def test_tax_is_rounded_line_by_line() -> None:
    sweets = [line(1, "0.10", "0.05")] * 3
    assert invoice(*sweets) == amounts("0.30", "0.03", "0.33")


def test_half_a_cent_goes_up() -> None:
    assert invoice(line(1, "0.10", "0.05")).tax == Decimal("0.01")


def test_rate_of_zero() -> None:
    assert invoice(line(1, "4.00", "0")) == amounts("4.00", "0.00", "4.00")


def test_no_lines() -> None:
    with pytest.raises(InvoiceError, match="needs a line"):
        invoice()


@pytest.mark.parametrize(
    ("quantity", "price", "rate", "message"),
    [
        (0, "1.00", "0.19", "quantity must be at least 1"),
        (1, "-0.01", "0.19", "unit price must not be negative"),
        (1, "1.00", "-0.01", "tax rate must be from 0 to 1"),
        (1, "1.00", "1.01", "tax rate must be from 0 to 1"),
    ],
)
def test_bad_lines(
    quantity: int, price: str, rate: str, message: str
) -> None:
    with pytest.raises(InvoiceError, match=message):
        invoice(line(quantity, price, rate))


def test_control_reads_and_writes_texts() -> None:
    rows = [{"quantity": 2, "unit_price": "9.50", "tax_rate": "0.19"}]
    answer = {"net": "19.00", "tax": "3.61", "total": "22.61"}
    assert control({"lines": rows}) == answer


def test_control_refuses_other_data() -> None:
    with pytest.raises(InvoiceError, match="not an invoice"):
        control({"lines": [{"quantity": "many"}]})
`;

export const demoCassette: Cassette = invoiceCassette({
  asked: [],
  shown: [],
  spec,
  first: { "Schema.py": schema, "Handler.py": firstHandler, "Controller.py": controller, "Tests.py": tests },
  second: { "Handler.py": secondHandler },
});
