"""The checks: one file each, documentation from its docstring."""
