"""{{feature}}: door.

Written by builtin/template.
"""
{{imports}}
from .Handler import handle
from .Schema import {{schemanames}}


def control(payload: dict[str, Any]) -> dict[str, Any]:
    """Turn decoded data into a request, the response into data."""
    response = handle(read(payload))
{{answer}}


def read(payload: dict[str, Any]) -> Request:
    """Read the inputs; amounts come as texts, so that they stay exact."""
    try:
{{read}}
    except (ArithmeticError, KeyError, TypeError, ValueError) as error:
        raise {{error}}(f"not a request: {error}") from error
