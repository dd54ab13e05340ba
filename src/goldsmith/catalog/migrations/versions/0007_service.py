"""The service: schedules, workers, throttles and waits; criticality may be unset."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
