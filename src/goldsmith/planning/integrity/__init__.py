"""Check the catalog rows before anything runs: one file per finding."""
