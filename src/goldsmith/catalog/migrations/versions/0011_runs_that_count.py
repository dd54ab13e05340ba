"""Views of pipelines leave out replays and trial runs, as `goldsmith status` does."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
