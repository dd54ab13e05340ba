"""The declared tables, their history and the catalog's revision."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0001"
down_revision = None


def upgrade() -> None:
    connection = op.get_bind()
    frozen.run(connection, revision)
    connection.exec_driver_sql("INSERT INTO catalog_revision VALUES (1, 0)")
