"""What a restart finds: stage runs whose process died, settled by asking the target.

Published, though nobody wrote it down: the record is completed. Not published: what lies aside
is removed, and its inputs are new again. Whoever holds the target's lease settles; removing the
branch or the staging table is the fence that keeps a sleeper from publishing later.
"""

from __future__ import annotations

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine import faults, ledger
from goldsmith.engine.destinations.destination import Destination, Published
from goldsmith.engine.work import Tools, Work, Written
from goldsmith.journal import events, stage_runs
from goldsmith.journal.definitions import runs
from goldsmith.journal.definitions import stage_runs as table
from goldsmith.journal.tables import RunStatus, StageRun

# What has not ended is running, by its status too: there is an index of that, and few rows in it.
_UNSETTLED = Prepared(
    sa.select(table).where(
        table.c.status == RunStatus.RUNNING.value,
        table.c.target_id == sa.bindparam("target"),
        table.c.ended_at.is_(None),
    )
)


def unsettled(tools: Tools, target_id: str) -> list[StageRun]:
    """Stage runs of a target that nobody wrote an end of."""
    found = _UNSETTLED.glance(tools.journal.engine, {"target": target_id})
    return [StageRun.from_storage(row) for row in found]


def known(
    tools: Tools, stage_run_id: str, connection: sa.Connection | None = None
) -> StageRun | None:
    """A stage run as it was written down, if it was."""
    with tools.journal.reading(connection) as reading:
        return stage_runs.get(reading, stage_run_id)


def give_up(tools: Tools, destination: Destination, work: Work) -> StageRun | None:
    """Take away what lies aside; the stage run, where it is settled already or was published."""
    destination.clean(work.stage_run_id)
    published = destination.published(work.stage_run_id)
    begun = known(tools, work.stage_run_id)
    if begun is not None and begun.ended_at is not None:
        return begun  # we slept past our lease, and whoever took over settled it
    if published is None:
        return None
    return settle(tools, destination, str(work.near.stage.target_id))[0]


def settle(tools: Tools, destination: Destination, target_id: str) -> list[StageRun]:
    """Settle every dead stage run of a target; we hold its lease, so none of them lives."""
    return [_settle(tools, destination, stage_run) for stage_run in unsettled(tools, target_id)]


def _settle(tools: Tools, destination: Destination, left: StageRun) -> StageRun:
    # Cleaned first: what could still publish after the question was asked cannot any more.
    destination.clean(left.stage_run_id)
    faults.reach("settle-cleaned")
    published = destination.published(left.stage_run_id)
    faults.reach("settle-asked")
    with tools.journal.writing() as connection:
        if published is None:
            ledger.forget(connection, left.stage_run_id)
            ended: events.StageInterrupted | events.StageFinished = events.StageInterrupted(
                because="its process died or slept before it published; nothing of it is left"
            )
        else:
            count(tools, left, connection)
            ended = _finished(published, Written.of_facts(left.facts))
        return stage_runs.finish_stage_run(
            tools.journal, left.stage_run_id, ended, connection=connection
        )


def count(tools: Tools, stage_run: StageRun, connection: sa.Connection) -> None:
    """What a published stage run consumed counts, and what it was for is written down."""
    consumer = f"{stage_run.pipeline_id}-{stage_run.stage_order}"
    ledger.count(connection, stage_run.stage_run_id)
    if stage_run.facts.get("starts_over"):
        ledger.start_over(connection, consumer, stage_run.stage_run_id)
    restored_to = stage_run.facts.get("restored_to")
    if restored_to is not None:
        asked_by = sa.select(runs.c.asked_by).where(runs.c.run_id == stage_run.run_id)
        restored = events.DatasetRestored(
            actor=connection.execute(asked_by).scalar(),
            pipeline_id=stage_run.pipeline_id,
            run_id=stage_run.run_id,
            dataset_id=str(stage_run.target_id),
            to_snapshot=restored_to,
        )
        tools.journal.record(restored, connection=connection)


def _finished(published: Published, written: Written) -> events.StageFinished:
    return events.StageFinished(
        rows_read=written.rows,
        rows_written=published.rows,
        rows_quarantined=written.quarantined,
        rows_dropped=written.dropped,
        snapshot=published.snapshot,
        recognised=True,
    )
