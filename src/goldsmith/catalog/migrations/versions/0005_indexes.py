"""Indexes for what is asked of the journal in every run: its tables grow, the answers do not."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
