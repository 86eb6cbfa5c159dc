"""{{feature}}: rules.

Written by builtin/template.
"""
{{imports}}from .Schema import {{schemanames}}


def handle(request: Request) -> Response:
    """Apply the rules of spec.md to one request."""
{{body}}{{helpers}}
