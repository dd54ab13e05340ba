"""Retention: how long things are kept, and the one way to forget them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.journal.definitions import (
    audit_log,
    requests,
    retention_pass,
    runs,
    stage_runs,
    verdicts,
)
from goldsmith.journal.events import EventsForgotten
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """How many rows there were to forget."""

    events: int
    runs: int
    stage_runs: int
    verdicts: int
    requests: int


def forget_before(journal: Journal, moment: datetime, *, actor: str | None = None) -> Forgotten:
    """Forget events, and runs and requests that were over, before a moment.

    Each stage keeps its newest published run: the planner compares definitions with it. A run that
    kept rows aside stays too: they count in the quarantine because it was published. The ledgers
    of files and snapshots are no part of this: they decide what is read again.
    """
    old_runs = sa.select(runs.c.run_id).where(
        runs.c.ended_at < moment, ~_has_newest_success(), ~_keeps_rows_aside()
    )
    old_stage_runs = sa.select(stage_runs.c.stage_run_id).where(stage_runs.c.run_id.in_(old_runs))
    with journal.writing() as connection:
        forgotten = Forgotten(
            events=_forget_events(connection, moment),
            verdicts=_delete(connection, verdicts, verdicts.c.stage_run_id.in_(old_stage_runs)),
            # Runs come last: the others ask which of them are old.
            stage_runs=_delete(connection, stage_runs, stage_runs.c.run_id.in_(old_runs)),
            runs=_delete(connection, runs, runs.c.run_id.in_(old_runs)),
            requests=_delete(connection, requests, requests.c.ended_at < moment),
        )
        journal.record(
            EventsForgotten(
                actor=actor,
                before=moment,
                events=forgotten.events,
                runs=forgotten.runs,
                requests=forgotten.requests,
            ),
            connection=connection,
        )
    return forgotten


def _forget_events(connection: sa.Connection, moment: datetime) -> int:
    mark = sa.func.txid_current() if connection.dialect.name == "postgresql" else 0
    connection.execute(sa.insert(retention_pass).values(transaction_id=mark, older_than=moment))
    forgotten = _delete(connection, audit_log, audit_log.c.at < moment)
    connection.execute(sa.delete(retention_pass))
    return forgotten


def _has_newest_success() -> Any:
    mine, later = stage_runs.alias("mine"), stage_runs.alias("later")
    newer = (
        sa.select(1)
        .where(
            later.c.pipeline_id == mine.c.pipeline_id,
            later.c.stage_order == mine.c.stage_order,
            later.c.status == RunStatus.SUCCEEDED,
            later.c.started_at > mine.c.started_at,
        )
        .exists()
    )
    return (
        sa.select(1)
        .where(mine.c.run_id == runs.c.run_id, mine.c.status == RunStatus.SUCCEEDED, ~newer)
        .exists()
    )


def _keeps_rows_aside() -> Any:
    return (
        sa.select(1)
        .where(
            stage_runs.c.run_id == runs.c.run_id,
            stage_runs.c.status == RunStatus.SUCCEEDED,
            stage_runs.c.rows_quarantined > 0,
        )
        .exists()
    )


def _delete(connection: sa.Connection, table: sa.Table, which: Any) -> int:
    return connection.execute(sa.delete(table).where(which)).rowcount
