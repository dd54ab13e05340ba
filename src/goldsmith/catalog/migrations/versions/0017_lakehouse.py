"""The raw lakehouse: applications, and loads of their records."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
