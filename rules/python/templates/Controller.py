"""{{feature}}: door."""
from dataclasses import asdict
from typing import Any

from .Handler import handle
from .Schema import Request


def control(payload: dict[str, Any]) -> dict[str, Any]:
    """Turn a decoded payload into a request, the response into data."""
    return asdict(handle(Request(**payload)))
