"""Sources a drill cuts off, computed paths and their view; `reroute` for an unreachable source."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
