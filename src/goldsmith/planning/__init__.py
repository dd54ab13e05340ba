"""Rows into plans: what would run, in which order, why; and what is wrong with the rows."""
