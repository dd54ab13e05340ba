"""Tables of the gateway."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
