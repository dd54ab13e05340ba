"""Column lineage, and the conventions of the digest."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
