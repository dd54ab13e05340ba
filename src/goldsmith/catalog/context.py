"""Who changes rows in the transaction under way, and why: the row the triggers look at."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.definitions import context_table, revision_table


def begin_change(connection: sa.Connection, *, actor: str, reason: str | None) -> int:
    """Take the next revision and say whose it is; everybody else waits until we are done."""
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
    """Forget who it was: the row is never committed."""
    connection.execute(
        sa.delete(context_table).where(context_table.c.transaction_id == _transaction(connection))
    )


def _transaction(connection: sa.Connection) -> Any:
    # SQLite has one writer at a time, so any number will do there.
    return sa.func.txid_current() if connection.dialect.name == "postgresql" else 0
