"""The health of datasets, as probes found it."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
