"""Who changes rows in the current transaction, and why: the row the history triggers read."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.definitions import context_table, revision_table


def begin_change(connection: sa.Connection, *, actor: str, reason: str | None) -> int:
    """Take the next revision and store its actor; other writers wait for this transaction."""
    revision = connection.execute(
        sa.update(revision_table)
        .values(revision=revision_table.c.revision + 1)
        .returning(revision_table.c.revision)
    ).scalar_one()
    connection.execute(
        sa.insert(context_table).values(
            transaction_id=_transaction(connection), revision=revision, actor=actor, reason=reason
        )
    )
    return int(revision)


def end_change(connection: sa.Connection) -> None:
    """Delete the row with the actor: it is never committed."""
    connection.execute(
        sa.delete(context_table).where(context_table.c.transaction_id == _transaction(connection))
    )


def _transaction(connection: sa.Connection) -> Any:
    # SQLite has one writer at a time, so any number will do there.
    return sa.func.txid_current() if connection.dialect.name == "postgresql" else 0
