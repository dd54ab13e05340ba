"""Runs of pipelines, and the expected size and time of the next run."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from difflib import get_close_matches

import sqlalchemy as sa

from goldsmith.journal import events, row_storage
from goldsmith.journal.clock import moment
from goldsmith.journal.definitions import expectations, runs, stage_runs
from goldsmith.journal.errors import AlreadyOver, UnknownRun
from goldsmith.journal.event_base import RunEnded
from goldsmith.journal.journal import Journal
from goldsmith.journal.tables import Run, RunStatus, StageRun

#: With more stages than this, reading the expectations of all stages is quicker.
_FEW_STAGES = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class Expected:
    """The expected size and duration of a stage's next run, from its last runs."""

    rows: int | None
    bytes: int | None
    seconds: float | None
    from_runs: int


def start_run(
    journal: Journal,
    run: Run,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Run:
    """Record that a run of a pipeline began."""
    with journal.writing(connection) as writing:
        started = row_storage.insert(
            writing, run, status=RunStatus.RUNNING.value, started_at=moment(at)
        )
        journal.record(
            events.RunStarted(
                actor=started.asked_by,
                pipeline_id=started.pipeline_id,
                request_id=started.request_id,
                run_id=started.run_id,
                started_at=started.started_at,
                because=started.because,
                environment=started.environment,
                catalog_revision=started.catalog_revision,
                worker=started.worker,
            ),
            at=at,
            connection=writing,
        )
    return started


def finish_run(
    journal: Journal,
    run_id: str,
    happened: RunEnded | None = None,
    *,
    at: datetime | None = None,
    connection: sa.Connection | None = None,
) -> Run:
    """Record the end of a run, as in the event (default: it succeeded); it can end only once."""
    event = happened or events.RunFinished()
    with journal.writing(connection) as writing:
        ended = row_storage.update(
            writing,
            Run,
            {"run_id": run_id, "ended_at": None},
            status=event.status,
            because=event.because,
            error_code=getattr(event, "error_code", None),
            error_message=getattr(event, "error_message", None),
            ended_at=moment(at),
        )
        if ended is None:
            over = _run(writing, run_id)
            raise AlreadyOver(what=f"Run '{run_id}'", status=over.status)
        full = replace(
            event,
            pipeline_id=ended.pipeline_id,
            request_id=ended.request_id,
            run_id=run_id,
            started_at=ended.started_at,
            ended_at=ended.ended_at,
        )
        journal.record(full, at=at, connection=writing)
    return ended


def recent_runs(
    journal: Journal,
    *,
    pipeline_id: str | None = None,
    pipelines: Collection[str] | None = None,
    status: str | None = None,
    request_id: str | None = None,
    before: tuple[datetime, str] | None = None,
    most: int | None = 20,
) -> list[Run]:
    """Runs, newest first; `before` is the start and the id of the last run already read."""
    query = sa.select(runs).order_by(runs.c.started_at.desc(), runs.c.run_id.desc())
    for column, wanted in (
        (runs.c.pipeline_id, pipeline_id),
        (runs.c.status, status),
        (runs.c.request_id, request_id),
    ):
        if wanted is not None:
            query = query.where(column == wanted)
    if pipelines is not None:
        query = query.where(runs.c.pipeline_id.in_(sorted(pipelines)))
    if before is not None:
        started_at, run_id = before
        query = query.where(
            sa.or_(
                runs.c.started_at < started_at,
                sa.and_(runs.c.started_at == started_at, runs.c.run_id < run_id),
            )
        )
    with journal.reading() as connection:
        return row_storage.select(connection, Run, query.limit(most))


def run(journal: Journal, run_id: str) -> Run:
    """One run by its id."""
    with journal.reading() as connection:
        return _run(connection, run_id)


def stage_runs_of(journal: Journal, run_id: str) -> list[StageRun]:
    """The stage runs of a run, in the order of the stages."""
    query = (
        sa.select(stage_runs)
        .where(stage_runs.c.run_id == run_id)
        .order_by(stage_runs.c.stage_order, stage_runs.c.attempt, stage_runs.c.started_at)
    )
    with journal.reading() as connection:
        return row_storage.select(connection, StageRun, query)


def stages_stopped(journal: Journal, run_ids: Collection[str]) -> list[str]:
    """The stages of some runs that were stopped, as `pipeline_id-stage_order`."""
    query = sa.select(stage_runs.c.pipeline_id, stage_runs.c.stage_order).where(
        stage_runs.c.run_id.in_(run_ids), stage_runs.c.status == RunStatus.STOPPED.value
    )
    with journal.reading() as connection:
        return [f"{pipeline}-{order}" for pipeline, order in connection.execute(query.distinct())]


def last_success(journal: Journal, pipeline_id: str, stage_order: int) -> StageRun | None:
    """The newest published run of a stage."""
    query = (
        sa.select(stage_runs)
        .where(
            stage_runs.c.pipeline_id == pipeline_id,
            stage_runs.c.stage_order == stage_order,
            stage_runs.c.status == RunStatus.SUCCEEDED.value,
        )
        .order_by(stage_runs.c.started_at.desc(), stage_runs.c.stage_run_id.desc())
        .limit(1)
    )
    with journal.reading() as connection:
        return next(iter(row_storage.select(connection, StageRun, query)), None)


def expected(
    journal: Journal, stages: Collection[tuple[str, int]] | None = None
) -> Mapping[str, Expected]:
    """What to expect of stages, by `pipeline_id-stage_order`; stages without history are missing.

    Stages are given as (pipeline_id, stage_order); None means all.
    """
    query = sa.select(expectations)
    if stages is not None and len(stages) <= _FEW_STAGES:
        pipelines = sorted({pipeline for pipeline, _order in stages})
        query = query.where(expectations.c.pipeline_id.in_(pipelines))
    wanted = None if stages is None else set(stages)
    with journal.reading() as connection:
        found = connection.execute(query).all()
    return {
        f"{pipeline}-{order}": Expected(rows=rows, bytes=written, seconds=took, from_runs=from_runs)
        for pipeline, order, rows, written, took, from_runs in found
        if wanted is None or (pipeline, order) in wanted
    }


def _run(connection: sa.Connection, run_id: str) -> Run:
    found = row_storage.select(connection, Run, sa.select(runs).where(runs.c.run_id == run_id))
    if not found:
        newest = sa.select(runs.c.run_id).order_by(runs.c.started_at.desc()).limit(200)
        known = connection.execute(newest).scalars().all()
        raise UnknownRun(run_id=run_id, suggestions=tuple(get_close_matches(run_id, known)))
    return found[0]
