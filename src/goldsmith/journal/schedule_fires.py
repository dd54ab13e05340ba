"""Fired schedules: each due start is one row, whichever service fires it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from goldsmith.catalog.definitions import storable
from goldsmith.journal import requests, row_storage
from goldsmith.journal.clock import now
from goldsmith.journal.definitions import schedule_fires
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Request
from goldsmith.journal.tables_of_service import ScheduleFire


def last(journal: Journal) -> dict[str, ScheduleFire]:
    """The newest fire of each subject."""
    newest = (
        sa.select(
            schedule_fires.c.subject.label("subject"),
            sa.func.max(schedule_fires.c.due_at).label("due_at"),
        )
        .group_by(schedule_fires.c.subject)
        .subquery()
    )
    query = sa.select(schedule_fires).join(
        newest,
        (schedule_fires.c.subject == newest.c.subject)
        & (schedule_fires.c.due_at == newest.c.due_at),
    )
    with journal.reading() as connection:
        found = row_storage.select(connection, ScheduleFire, query)
    return {fire.subject: fire for fire in found}


def of(journal: Journal, subject: str, *, most: int = 20) -> list[ScheduleFire]:
    """The newest fires of a subject."""
    query = (
        sa.select(schedule_fires)
        .where(schedule_fires.c.subject == subject)
        .order_by(schedule_fires.c.due_at.desc())
        .limit(most)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, ScheduleFire, query)


def fire(journal: Journal, due: ScheduleFire, request: Request | None) -> bool:
    """Record a due start and put its request, in one transaction; False if it was fired before.

    Two services may see the same due start: the key of the table lets one of them fire it.
    """
    with journal.writing() as connection:
        if not _insert(connection, due):
            return False
        if request is not None:
            requests.put(journal, request, connection=connection)
    return True


def _insert(connection: sa.Connection, due: ScheduleFire) -> bool:
    dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
    statement = (
        dialect.insert(schedule_fires)
        .values(**{**storable(due), "fired_at": now()})
        .on_conflict_do_nothing()
        .returning(schedule_fires.c.subject)
    )
    return connection.execute(statement).first() is not None


def forget_before(journal: Journal, moment: datetime) -> None:
    """Delete fires from before a time, except the newest of each subject."""
    other = schedule_fires.alias("other")
    newer = (
        sa.select(1)
        .where(
            other.c.subject == schedule_fires.c.subject, other.c.due_at > schedule_fires.c.due_at
        )
        .exists()
    )
    with journal.writing(lasts=False) as connection:
        connection.execute(sa.delete(schedule_fires).where(schedule_fires.c.due_at < moment, newer))
