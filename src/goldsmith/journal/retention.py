"""Retention: delete old events, runs and requests."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa

from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import (
    audit_log,
    input_files,
    requests,
    retention_pass,
    runs,
    stage_runs,
    verdicts,
)
from goldsmith.journal.events import EventsForgotten
from goldsmith.journal.evidence import forget_expired
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class Forgotten:
    """How many rows were deleted, or would be."""

    events: int
    runs: int
    stage_runs: int
    verdicts: int
    requests: int


def to_forget(journal: Journal, moment: datetime) -> Forgotten:
    """Count what `forget_before` would delete; nothing is changed."""
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
    """Delete events from before a time, and runs and requests that ended before it.

    Each stage keeps its newest published run: the planner compares definitions with it. A run that
    quarantined rows stays: its rows count as quarantined because it was published. A run that
    superseded such rows (it replayed them, or read their input again) stays too. The ledgers of
    files and snapshots are not touched: they decide what is read again.
    """
    with journal.writing() as connection:
        forgotten = Forgotten(
            **{
                name: _delete(connection, table, is_old, moment)
                for name, (table, is_old) in _old(moment).items()
            }
        )
        forget_expired(connection, read_clock(connection))
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
    """The conditions for old rows, in deletion order: verdicts and stage runs refer to runs."""
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
    # The trigger on audit_log allows the delete only with a row in retention_pass.
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
            sa.or_(
                stage_runs.c.rows_quarantined > 0,
                *(_says(fact) for fact in ("supersedes", "starts_over")),
                _read_a_rewritten_file(),
            ),
        )
        .exists()
    )


def _read_a_rewritten_file() -> Any:
    mine, other = input_files.alias("mine_file"), input_files.alias("other_file")
    return (
        sa.select(1)
        .where(
            mine.c.stage_run_id == stage_runs.c.stage_run_id,
            other.c.consumer == mine.c.consumer,
            other.c.dataset_id == mine.c.dataset_id,
            other.c.path == mine.c.path,
            sa.or_(other.c.size != mine.c.size, other.c.etag != mine.c.etag),
        )
        .exists()
    )


def _says(fact: str) -> sa.ColumnElement[bool]:
    text = sa.func.coalesce(sa.cast(stage_runs.c.facts, sa.Text), "")
    return text.contains(f'"{fact}"', autoescape=True)
