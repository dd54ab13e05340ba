"""Waits: what waits now at which gate, one row each with a sentence."""

from __future__ import annotations

from collections.abc import Collection

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.journal import row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import waits
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables_of_service import WaitRow


def note(journal: Journal, wait: WaitRow) -> None:
    """Record a wait; `since` stays what it was while the gate is the same."""
    with database.writing(journal.engine, lasts=False) as connection:
        query = sa.select(waits).where(waits.c.subject == wait.subject)
        before = row_storage.select(connection, WaitRow, query)
        if before and before[0].with_(since=None) == wait.with_(since=None):
            return
        connection.execute(sa.delete(waits).where(waits.c.subject == wait.subject))
        same_gate = bool(before) and before[0].gate == wait.gate
        row_storage.insert(connection, wait, since=before[0].since if same_gate else now())


def over(journal: Journal, subject: str) -> None:
    """Delete the row of a wait that is over."""
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.delete(waits).where(waits.c.subject == subject))


def listed(journal: Journal, subjects: Collection[str] | None = None) -> dict[str, WaitRow]:
    """The waits by subject."""
    with journal.reading() as connection:
        rows = row_storage.select(connection, WaitRow, sa.select(waits))
    return {row.subject: row for row in rows if subjects is None or row.subject in subjects}
