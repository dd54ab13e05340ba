"""DuckDB: one file on this machine."""
