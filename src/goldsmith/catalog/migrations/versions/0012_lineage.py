"""The table of lineage evidence by origin."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
