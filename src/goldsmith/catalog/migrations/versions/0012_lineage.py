"""Tables of lineage evidence by origin and of computed paths, and a view of all recovery paths."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0012"
down_revision = "0010"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
