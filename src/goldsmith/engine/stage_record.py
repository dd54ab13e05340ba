"""Record a stage run: that it starts, is skipped, is left out, or was published."""

from __future__ import annotations

from dataclasses import replace

from goldsmith.engine import faults, ledger, stage_ledgers
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.publish import recover
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.quarantine import liveness
from goldsmith.engine.read.checksums import consumed_with_checksums
from goldsmith.engine.stage_write import StagedStage
from goldsmith.engine.write.destinations.destination import Destination, Published
from goldsmith.errors import count
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import FILES_LEFT, LEFT_OUT, StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.increments import DEDUPLICATES
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.missing_sources import SOURCES_MISSING
from goldsmith.planning.provenance import compares_files
from goldsmith.planning.routes import route_of


def stage_run_of(attempt: Attempt, token: int | None = None) -> StageRun:
    """The `stage_runs` row of one attempt."""
    stage = attempt.context.stage
    return StageRun(
        stage_run_id=attempt.stage_run_id,
        run_id=attempt.run_id,
        pipeline_id=stage.pipeline_id,
        stage_order=stage.stage_order,
        stage_name=stage.stage_name,
        target_id=stage.target_id,
        attempt=attempt.attempt,
        definition=definition_of(attempt.context),
        token=token,
    )


def skip(attempt: Attempt, resources: WorkerResources, selection: InputSelection) -> StageRun:
    """Record that a stage has nothing new to read."""
    match = resources.increments.ledger(attempt.context)
    facts = {SOURCES_MISSING: list(selection.missing)} if selection.missing else {}
    with resources.journal.writing() as connection:
        if match.ledger is not None:
            stage_ledgers.claim(connection, attempt, match)
        return stage_runs.pass_over(
            resources.journal,
            stage_run_of(attempt).with_(facts=facts),
            events.StageSkipped(because=selection.because),
            connection=connection,
        )


def start(
    attempt: Attempt, resources: WorkerResources, held_lease: HeldLease, selection: InputSelection
) -> StageRun:
    """Record the start and the inputs of the stage run: all that a recovery needs."""
    match = resources.increments.ledger(attempt.context)
    facts = {
        "starts_over": selection.starts_over,
        "restored_to": attempt.run_options.as_of,
        "ledger": stage_ledgers.facts_of(attempt, match),
        "replay": attempt.run_options.replay is not None,
        "write_mode": attempt.context.resolved.write_mode,
        "route": route_of(attempt.context),
        FILES_LEFT: selection.files_left,
        liveness.SUPERSEDES: liveness.supersedes(attempt, selection),
        SOURCES_MISSING: list(selection.missing),
        liveness.FORMER_PATHS: selection.former,
        DEDUPLICATES: bool(attempt.adjust.deduplicate or compares_files(attempt.context)),
    }
    if attempt.run_options.window is not None:
        facts["window"] = str(attempt.run_options.window)
    consumed, moved = consumed_with_checksums(attempt, resources, selection)
    facts[recover.READS] = sorted({*consumed.files, *consumed.snapshots})
    stage_run = replace(
        stage_run_of(attempt, held_lease.lease.token),
        because="; ".join(text for text in (selection.because, moved) if text),
        facts={name: value for name, value in facts.items() if value},
    )
    # A later durable transaction precedes every publish, and makes this one durable too.
    with resources.journal.writing(lasts=False) as connection:
        stage_ledgers.claim(connection, attempt, match)
        ledger.note(
            connection, match.ledger_id, attempt.stage_run_id, held_lease.lease.token, consumed
        )
        return stage_runs.start_stage_run(
            resources.journal, stage_run, step="read", connection=connection
        )


def tried_out(attempt: Attempt, resources: WorkerResources, destination: Destination) -> StageRun:
    """End a run with --limit: publishing a few rows would mark their whole input as loaded."""
    destination.clean(attempt.stage_run_id)
    because = (
        f"tried out with {count(attempt.run_options.limit or 0, 'row')}; nothing was published"
    )
    return left_out(attempt, resources, because)


def left_out(attempt: Attempt, resources: WorkerResources, because: str) -> StageRun:
    """Record that a started stage run publishes nothing."""
    with resources.journal.writing() as connection:
        ledger.forget(connection, attempt.stage_run_id)
        return stage_runs.finish_stage_run(
            resources.journal,
            attempt.stage_run_id,
            events.StageSkipped(because=because),
            facts={LEFT_OUT: True},
            connection=connection,
        )


def record(
    stage_run: StageRun,
    resources: WorkerResources,
    held_lease: HeldLease,
    published: Published,
    staged: StagedStage,
) -> StageRun:
    """Record the publish, count its input and release the lease, in one transaction."""
    written = staged.counts
    finished = events.StageFinished(
        rows_read=written.rows,
        rows_written=published.rows,
        rows_quarantined=written.quarantined,
        rows_dropped=written.dropped,
        bytes_written=staged.write.bytes,
        snapshot=published.snapshot,
    )
    # A power cut may lose this record; the next run finds the id in the target and records again.
    with held_lease.releasing(), resources.journal.writing(lasts=False) as connection:
        recover.count(resources, stage_run, published, written, connection)
        faults.reach("inputs-counted")
        done = stage_runs.finish_stage_run(
            resources.journal, stage_run.stage_run_id, finished, connection=connection
        )
        leases.release(resources.journal, held_lease.lease, connection=connection)
    faults.reach("recorded")
    return done
