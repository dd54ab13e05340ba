"""The checks: one file each; the file's docstring is the check's documentation."""
