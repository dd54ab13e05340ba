"""Make plans from catalog rows: what would run, in which order and why; and check the rows."""
