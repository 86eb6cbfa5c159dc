"""{{feature}}: shapes.

Written by builtin/template.
"""
{{imports}}


{{errors}}{{records}}@dataclass(frozen=True)
class Request:
    """The inputs of spec.md."""
{{request}}


@dataclass(frozen=True)
class Response:
    """The outputs of spec.md."""
{{response}}
