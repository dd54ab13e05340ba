"""The buckets of throttles, the tokens that are leased from them, and their use."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
