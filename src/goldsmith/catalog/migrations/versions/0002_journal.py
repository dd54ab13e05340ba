"""The journal: the audit log, runs, requests, leases, ledgers, and the views over them."""

from __future__ import annotations

from alembic import op

from goldsmith.catalog.migrations import frozen

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    frozen.run(op.get_bind(), revision)
