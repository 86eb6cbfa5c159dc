"""Invoice."""
