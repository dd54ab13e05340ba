"""The findings: one file each, documentation from its docstring."""
