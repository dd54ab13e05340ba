"""Names and settings of other tools' checks: each an entry of a table, read as a check of ours."""
