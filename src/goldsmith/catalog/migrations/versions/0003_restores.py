"""Restores under way, and ledger entries that a later stage run replaced."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
