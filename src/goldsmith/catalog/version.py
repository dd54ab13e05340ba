"""The version of the catalog's tables, apart from what makes them: a command that only looks
(`goldsmith status`) compares it without loading SQLAlchemy."""

from __future__ import annotations

#: The newest migration. A test holds it to Alembic's own head, so that opening a catalog need
#: not import Alembic.
VERSION = "0005"
