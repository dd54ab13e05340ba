"""The version of the catalog's tables, in a module of its own: a command that only reads
(`goldsmith status`) compares it without importing SQLAlchemy."""

from __future__ import annotations

#: The newest migration. Opening a catalog need not import Alembic; a test compares this value
#: with Alembic's head.
VERSION = "0017"
