"""Store which request waits at which gate and why, one row for each."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

import sqlalchemy as sa

from goldsmith.catalog import database
from goldsmith.journal import row_storage
from goldsmith.journal.clock import later, now
from goldsmith.journal.definitions import stage_runs, waits
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables_of_service import WaitRow

#: How ids of stage runs begin; other waits are of requests.
_STAGE_RUN = "try_"
_RENEWED = timedelta(minutes=1)


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


def show_of_stage_run(journal: Journal, wait: WaitRow, seconds: float) -> str | None:
    """Show the wait of a running stage run, as a row and as its step; the step before it."""
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.delete(waits).where(waits.c.subject == wait.subject))
        row_storage.insert(connection, wait, since=now(), not_before=later(seconds))
        before = connection.execute(sa.select(stage_runs.c.step).where(_running(wait.subject)))
        step: str | None = before.scalar()
        _set_step(connection, wait.subject, wait.because)
    return step


def over_of_stage_run(journal: Journal, stage_run_id: str, step: str | None) -> None:
    """The wait of a stage run is over: it is in its step again."""
    with database.writing(journal.engine, lasts=False) as connection:
        connection.execute(sa.delete(waits).where(waits.c.subject == stage_run_id))
        _set_step(connection, stage_run_id, step)


def is_of_stage_run(wait: WaitRow) -> bool:
    """Whether a stage run waits there; else it is a request."""
    return wait.subject.startswith(_STAGE_RUN)


def is_stale(wait: WaitRow, at: datetime) -> bool:
    """Whether the stage run that waited is gone: one that waits renews its row every second."""
    return is_of_stage_run(wait) and wait.not_before is not None and wait.not_before < at - _RENEWED


def _running(stage_run_id: str) -> sa.ColumnElement[bool]:
    return (stage_runs.c.stage_run_id == stage_run_id) & stage_runs.c.ended_at.is_(None)


def _set_step(connection: sa.Connection, stage_run_id: str, step: str | None) -> None:
    connection.execute(sa.update(stage_runs).where(_running(stage_run_id)).values(step=step))
