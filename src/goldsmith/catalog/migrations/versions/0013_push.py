"""Tables of pushes and their batches."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
