"""Style and script of the report."""
