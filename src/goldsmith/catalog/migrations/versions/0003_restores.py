"""Going back: restores under way, and ledger rows that count no more since a stage started over."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
