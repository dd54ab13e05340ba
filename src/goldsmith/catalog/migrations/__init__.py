"""Alembic migrations, one set for SQLite and PostgreSQL."""
