"""{{feature}}: rules."""
from .Schema import Request, Response


def handle(request: Request) -> Response:
    """Apply the rules of spec.md to one request."""
    raise NotImplementedError("spec.md is not implemented yet: run orch do")
