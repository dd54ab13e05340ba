"""A table of ledgers: renumbering or renaming a stage keeps the record of what it loaded."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
