"""Healing and incidents: limits and routes, remedies used, files left out, messages."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
