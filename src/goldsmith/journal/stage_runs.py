"""Stage runs: one attempt at one stage, from its first step to its end.

Each change is written in the transaction that records its event. The caller passes the event;
its fields become the row's columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from statistics import median
from typing import Any

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.journal import events, row_storage
from goldsmith.journal.clock import moment, seconds
from goldsmith.journal.definitions import expectations, stage_runs
from goldsmith.journal.errors import AlreadyOver, UnknownRun
from goldsmith.journal.event_base import StageEnded, StageEvent
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import RunStatus, StageRun

#: How many successful runs an expectation is the median of.
RUNS_REMEMBERED = 10

#: The columns an end event can set, besides `status` and `ended_at`.
_FINISH_COLUMNS = (
    *("rows_read", "rows_written", "rows_quarantined", "rows_dropped"),
    *("bytes_read", "bytes_written", "snapshot", "because", "error_code", "error_message"),
)
#: The columns an event copies from its stage run.
_NAMES = tuple(
    field.name
    for field in fields(StageEvent)
    if field.name not in ("at", "actor", "status", "request_id")
)
_BY_ID = Prepared(
    sa.select(stage_runs).where(stage_runs.c.stage_run_id == sa.bindparam("stage_run"))
)
_LAST_SUCCESSES = Prepared(
    sa.select(
        stage_runs.c.rows_written,
        stage_runs.c.bytes_written,
        seconds(stage_runs.c.started_at, stage_runs.c.ended_at).label("seconds"),
    )
    .where(
        stage_runs.c.pipeline_id == sa.bindparam("pipeline"),
        stage_runs.c.stage_order == sa.bindparam("place"),
        stage_runs.c.status == RunStatus.SUCCEEDED.value,
    )
    .order_by(stage_runs.c.started_at.desc(), stage_runs.c.stage_run_id.desc())
    .limit(RUNS_REMEMBERED)
)
_EXPECT_OTHERWISE = Prepared(
    sa.update(expectations).where(
        expectations.c.pipeline_id == sa.bindparam("pipeline"),
        expectations.c.stage_order == sa.bindparam("place"),
    )
)


def start_stage_run(
    journal: Journal,
    stage_run: StageRun,
    *,
    step: str | None = None,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> StageRun:
    """Record that an attempt at a stage began, optionally with its first step."""
    with journal.writing(connection) as writing:
        started = row_storage.insert(
            writing, stage_run, status=RunStatus.RUNNING.value, started_at=moment(at), step=step
        )
        mine = _names_of(started)
        happened: list[StageEvent] = [
            events.StageStarted(
                started_at=started.started_at,
                token=started.token,
                definition=started.definition,
                route=started.facts.get("route"),
                **mine,
            )
        ]
        if step is not None:
            happened.append(events.StageStepped(step=step, **mine))
        journal.record(*happened, at=at, connection=writing)
    return started


def step(
    journal: Journal,
    stage_run_id: str,
    *names: str,
    facts: Mapping[str, Any] | None = None,
    at: datetime | None = None,
    lasts: bool = False,
    connection: sa.Connection | None = None,
) -> StageRun:
    """Record that a stage run reached its next steps, with new facts."""
    with journal.writing(connection, lasts=lasts) as writing:
        moved = _change(writing, stage_run_id, facts, step=names[-1])
        mine = _names_of(moved)
        stepped = (events.StageStepped(step=name, **mine) for name in names)
        journal.record(*stepped, at=at, connection=writing)
    return moved


def finish_stage_run(
    journal: Journal,
    stage_run_id: str,
    happened: StageEnded,
    *,
    facts: Mapping[str, Any] | None = None,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> StageRun:
    """Record the end of an attempt at a stage, as in the event; it can end only once."""
    columns = {
        name: value
        for name in _FINISH_COLUMNS
        if (value := getattr(happened, name, None)) is not None
    }
    with journal.writing(connection) as writing:
        ended = _change(
            writing, stage_run_id, facts, status=happened.status, ended_at=moment(at), **columns
        )
        full = replace(
            happened,
            started_at=ended.started_at,
            ended_at=ended.ended_at,
            step=ended.step,
            **_names_of(ended),
        )
        journal.record(full, at=at, connection=writing)
        if ended.status == RunStatus.SUCCEEDED:
            _learn(writing, ended)
    return ended


def pass_over(
    journal: Journal,
    stage_run: StageRun,
    happened: events.StageSkipped | events.StageBlocked | events.StageStopped,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> StageRun:
    """Record that a stage was not started: nothing to do, blocked or stopped."""
    with journal.writing(connection) as writing:
        passed = row_storage.insert(
            writing,
            stage_run,
            status=happened.status,
            because=happened.because,
            started_at=moment(at),
            ended_at=moment(at),
        )
        journal.record(replace(happened, **_names_of(passed)), at=at, connection=writing)
    return passed


def running(journal: Journal) -> list[StageRun]:
    """Stage runs that have not ended, oldest first."""
    query = (
        sa.select(stage_runs)
        .where(stage_runs.c.ended_at.is_(None))
        .order_by(stage_runs.c.started_at, stage_runs.c.stage_run_id)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, StageRun, query)


def interrupt_stage_runs(
    journal: Journal,
    run_id: str,
    because: str,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> list[StageRun]:
    """Record as interrupted every unfinished stage run of a run whose process died."""
    open_ones = sa.select(stage_runs.c.stage_run_id).where(
        stage_runs.c.run_id == run_id, stage_runs.c.ended_at.is_(None)
    )
    with journal.writing(connection) as writing:
        return [
            finish_stage_run(
                journal,
                stage_run_id,
                events.StageInterrupted(because=because),
                at=at,
                connection=writing,
            )
            for stage_run_id in writing.execute(open_ones).scalars().all()
        ]


def newest_success(connection: sa.Connection, target_id: str) -> StageRun | None:
    """The stage run of a dataset that succeeded last, by the clock."""
    query = (
        sa.select(stage_runs)
        .where(
            stage_runs.c.target_id == target_id,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
        )
        .order_by(stage_runs.c.ended_at.desc())
        .limit(1)
    )
    return next(iter(row_storage.select(connection, StageRun, query)), None)


def quarantined_by_target(journal: Journal) -> dict[str, int]:
    """How many rows the published stage runs of each target quarantined."""
    query = (
        sa.select(stage_runs.c.target_id, sa.func.sum(stage_runs.c.rows_quarantined))
        .where(
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
            stage_runs.c.rows_quarantined > 0,
        )
        .group_by(stage_runs.c.target_id)
    )
    with journal.reading() as connection:
        return {str(target): int(rows) for target, rows in connection.execute(query)}


def failures_by_code(journal: Journal) -> dict[str, int]:
    """The number of failed stage runs by error code, the most frequent first."""
    times = sa.func.count()
    query = (
        sa.select(stage_runs.c.error_code, times)
        .where(stage_runs.c.status == RunStatus.FAILED.value, stage_runs.c.error_code.is_not(None))
        .group_by(stage_runs.c.error_code)
        .order_by(times.desc(), stage_runs.c.error_code)
    )
    with journal.reading() as connection:
        return {str(code): int(count) for code, count in connection.execute(query)}


def _learn(connection: sa.Connection, ended: StageRun) -> None:
    """Store the medians of a stage's last successes: a plan reads them for ten thousand stages."""
    stage = {"pipeline": ended.pipeline_id, "place": ended.stage_order}
    known = _LAST_SUCCESSES.rows(connection, stage)
    values: dict[str, Any] = {"from_runs": len(known)}
    for index, name in enumerate(("rows_written", "bytes_written", "seconds")):
        measured = [row[index] for row in known if row[index] is not None]
        middle = median(measured) if measured else None
        values[name] = middle if name == "seconds" or middle is None else round(middle)
    if not _EXPECT_OTHERWISE.run(connection, stage | values):
        mine = {"pipeline_id": ended.pipeline_id, "stage_order": ended.stage_order}
        connection.execute(sa.insert(expectations), mine | values)


def _change(
    connection: sa.Connection,
    stage_run_id: str,
    facts: Mapping[str, Any] | None,
    **values: Any,
) -> StageRun:
    """Change a stage run that has not ended; facts are added to those it has."""
    if facts:
        values["facts"] = {**_found(connection, stage_run_id).facts, **facts}
    mine = {"stage_run_id": stage_run_id, "ended_at": None}
    changed = row_storage.update(connection, StageRun, mine, **values)
    if changed is None:
        status = _found(connection, stage_run_id).status
        raise AlreadyOver(what=f"Stage run '{stage_run_id}'", status=status)
    return changed


def get(connection: sa.Connection, stage_run_id: str) -> StageRun | None:
    """A stage run by its id; None if it was not recorded."""
    found = row_storage.select(connection, StageRun, _BY_ID, {"stage_run": stage_run_id})
    return found[0] if found else None


def _found(connection: sa.Connection, stage_run_id: str) -> StageRun:
    found = get(connection, stage_run_id)
    if found is None:
        raise UnknownRun(run_id=stage_run_id)
    return found


def _names_of(stage_run: StageRun) -> dict[str, Any]:
    """The fields an event copies from its stage run."""
    return {name: getattr(stage_run, name) for name in _NAMES}
