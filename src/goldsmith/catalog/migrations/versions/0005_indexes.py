"""Indexes for the journal's queries in every run, so that they stay fast as its tables grow."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
