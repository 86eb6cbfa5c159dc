"""{{feature}}: tests.

Written by builtin/template.
"""
{{imports}}{{pytest}}{{controller}}from .Handler import handle
from .Schema import {{schemanames}}


{{tests}}
