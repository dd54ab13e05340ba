"""Settle stage runs whose process died, by what the target holds.

If the target holds the stage run, complete its record. If not, remove its staged rows; its
inputs are new again. The holder of the target's lease settles: once the branch or the staging
table is removed, a stalled process can no longer publish.
"""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa

from goldsmith.catalog.prepared import Prepared
from goldsmith.engine import faults, ledger, stage_ledgers
from goldsmith.engine.attempt import Attempt, StageRowCounts, WorkerResources
from goldsmith.engine.quarantine import liveness
from goldsmith.engine.read import kept_schemas
from goldsmith.engine.write.destinations.destination import Destination, Published
from goldsmith.journal import events, evidence, stage_runs
from goldsmith.journal.clock import read_clock
from goldsmith.journal.definitions import runs
from goldsmith.journal.definitions import stage_runs as table
from goldsmith.journal.tables import RunStatus, StageRun

#: The fact of a stage run with the datasets whose files or snapshots it consumed.
READS = "reads"
#: How long an edge counts as observed after the last stage run over it.
OBSERVED_FOR = timedelta(days=90)

# The condition on `status` is redundant: its index has few rows with the value `running`.
_UNSETTLED = Prepared(
    sa.select(table).where(
        table.c.status == RunStatus.RUNNING.value,
        table.c.target_id == sa.bindparam("target"),
        table.c.ended_at.is_(None),
    )
)


def unsettled(resources: WorkerResources, target_id: str) -> list[StageRun]:
    """Stage runs of a target whose end was not recorded."""
    found = _UNSETTLED.glance(resources.journal.engine, {"target": target_id})
    return [StageRun.from_storage(row) for row in found]


def known(
    resources: WorkerResources, stage_run_id: str, connection: sa.Connection | None = None
) -> StageRun | None:
    """The recorded stage run; None if there is none."""
    with resources.journal.reading(connection) as reading:
        return stage_runs.get(reading, stage_run_id)


def give_up(
    resources: WorkerResources, destination: Destination, attempt: Attempt
) -> StageRun | None:
    """Remove staged rows; return the stage run if it was published or already settled."""
    destination.clean(attempt.stage_run_id)
    published = destination.published(attempt.stage_run_id)
    stage_run = known(resources, attempt.stage_run_id)
    if stage_run is not None and stage_run.ended_at is not None:
        return stage_run  # our lease expired, and its next holder settled the stage run
    if published is None:
        return None
    return settle(resources, destination, str(attempt.context.stage.target_id))[0]


def settle(resources: WorkerResources, destination: Destination, target_id: str) -> list[StageRun]:
    """Settle all unended stage runs of a target; the caller holds its lease, so none is running."""
    return [
        _settle(resources, _wrote(destination, left), left)
        for left in unsettled(resources, target_id)
    ]


def _wrote(destination: Destination, left: StageRun) -> Destination:
    """The table that a stage run wrote: its target may have a new layer or location now."""
    table: str | None = (left.facts.get("ledger") or {}).get("table_name")
    return destination if table is None else destination.elsewhere(table)


def _settle(resources: WorkerResources, destination: Destination, left: StageRun) -> StageRun:
    # Clean first, so that the dead stage run cannot publish after the check below.
    destination.clean(left.stage_run_id)
    faults.reach("settle-cleaned")
    published = destination.published(left.stage_run_id)
    faults.reach("settle-checked")
    with resources.journal.writing() as connection:
        if published is None:
            ledger.forget(connection, left.stage_run_id)
            ended: events.StageInterrupted | events.StageFinished = events.StageInterrupted(
                because="its process died or slept before it published; nothing of it is left"
            )
        else:
            written = StageRowCounts.of_facts(left.facts)
            count(resources, left, published, written, connection)
            ended = _finished(published, written)
        return stage_runs.finish_stage_run(
            resources.journal, left.stage_run_id, ended, connection=connection
        )


def count(
    resources: WorkerResources,
    stage_run: StageRun,
    published: Published,
    written: StageRowCounts,
    connection: sa.Connection,
) -> None:
    """Count the input of a published stage run as loaded; store its schemas and its restore."""
    edges = [(read, str(stage_run.target_id)) for read in stage_run.facts.get(READS, ())]
    evidence.record_evidence(
        connection,
        edges,
        evidence.OBSERVED,
        expires_at=read_clock(connection) + OBSERVED_FOR if edges else None,
        seen_by=stage_run.stage_run_id,
    )
    ledger_id_of_run = stage_ledgers.count(
        connection, stage_run, snapshot=published.snapshot, table_uuid=published.table_uuid
    )
    ledger.count(connection, stage_run.stage_run_id)
    if stage_run.facts.get(liveness.SUPERSEDES) == liveness.EVERYTHING:
        # A deleted file has no rows in the table now: if it comes back, it is new.
        ledger.start_over(connection, [ledger_id_of_run], stage_run.stage_run_id)
    if stage_run.facts.get("starts_over"):
        ledger_ids = stage_ledgers.of_table(connection, ledger_id_of_run)
        ledger.start_over(connection, ledger_ids, stage_run.stage_run_id)
        others = [ledger_id for ledger_id in ledger_ids if ledger_id != ledger_id_of_run]
        stage_ledgers.look_again(connection, others)
    for dataset, schema in written.schemas.items():
        kept_schemas.put(connection, dataset, schema)
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
        resources.journal.record(restored, connection=connection)


def _finished(published: Published, written: StageRowCounts) -> events.StageFinished:
    return events.StageFinished(
        rows_read=written.rows,
        rows_written=published.rows,
        rows_quarantined=written.quarantined,
        rows_dropped=written.dropped,
        snapshot=published.snapshot,
        recognised=True,
    )
