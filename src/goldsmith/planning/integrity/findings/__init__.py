"""The findings, one per file; the module's docstring is the documentation."""
