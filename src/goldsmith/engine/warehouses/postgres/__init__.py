"""PostgreSQL as a warehouse."""
