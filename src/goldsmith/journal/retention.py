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


def to_forget(journal: Journal, moment: datetime) -> Forgotten:
    """What `forget_before` would forget; nothing is changed."""
    with journal.reading() as connection:
        return Forgotten(
            **{
                name: connection.execute(
                    sa.select(sa.func.count()).select_from(table).where(is_old)
                ).scalar_one()
                for name, (table, is_old) in _old(moment).items()
            }
        )


def forget_before(journal: Journal, moment: datetime, *, actor: str | None = None) -> Forgotten:
    """Forget events, and runs and requests that were over, before a moment.

    Each stage keeps its newest published run: the planner compares definitions with it. A run that
    kept rows aside stays too: they count in the quarantine because it was published. The ledgers
    of files and snapshots are no part of this: they decide what is read again.
    """
    with journal.writing() as connection:
        forgotten = Forgotten(
            **{
                name: _delete(connection, table, is_old, moment)
                for name, (table, is_old) in _old(moment).items()
            }
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


def _old(moment: datetime) -> dict[str, tuple[sa.Table, Any]]:
    """What is old, in an order to forget it in: the others ask which runs are."""
    old_runs = sa.select(runs.c.run_id).where(
        runs.c.ended_at < moment, ~_has_newest_success(), ~_keeps_rows_aside()
    )
    old_stage_runs = sa.select(stage_runs.c.stage_run_id).where(stage_runs.c.run_id.in_(old_runs))
    return {
        "events": (audit_log, audit_log.c.at < moment),
        "verdicts": (verdicts, verdicts.c.stage_run_id.in_(old_stage_runs)),
        "stage_runs": (stage_runs, stage_runs.c.run_id.in_(old_runs)),
        "runs": (runs, runs.c.run_id.in_(old_runs)),
        "requests": (requests, requests.c.ended_at < moment),
    }


def _delete(connection: sa.Connection, table: sa.Table, which: Any, moment: datetime) -> int:
    deleting = sa.delete(table).where(which)
    if table is not audit_log:
        return connection.execute(deleting).rowcount
    # Events are deleted through the one marked path there is for it.
    mark = sa.func.txid_current() if connection.dialect.name == "postgresql" else 0
    connection.execute(sa.insert(retention_pass).values(transaction_id=mark, older_than=moment))
    forgotten = connection.execute(deleting).rowcount
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
