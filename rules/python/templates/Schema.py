"""{{feature}}: shapes."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Request:
    """The inputs of spec.md."""


@dataclass(frozen=True)
class Response:
    """The outputs of spec.md."""
