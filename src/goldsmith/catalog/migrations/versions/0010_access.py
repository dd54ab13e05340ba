"""Tables of API keys and of answers by idempotency key."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
