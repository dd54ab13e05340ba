"""Run one stage: resolve, pre-check, read new input, shape, stage, audit, publish, record.

*Why each input is loaded exactly once.* The ledger lists the input of a stage run before the
publish. The input counts as loaded only if the target holds the id of the stage run. After a
crash the next run looks for that id: it completes the record, or cleans up and starts over
(`recover.py`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from goldsmith.engine import apply_overrides, faults, ledger, stage_audit, stage_ledgers
from goldsmith.engine.attempt import Attempt, StageRowCounts, WorkerResources
from goldsmith.engine.audit.check_context import scratch_of
from goldsmith.engine.prepare_write import PreparedWrite, keeper_of, prepare_write
from goldsmith.engine.publish import recover, restore_record
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.quarantine import liveness
from goldsmith.engine.read import bad_value, replay
from goldsmith.engine.read.inputs import InputRows, read, remove_unloaded
from goldsmith.engine.read.select_inputs import note_on, select_for_attempt
from goldsmith.engine.session.cancel import tagged
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.shape import watermarks
from goldsmith.engine.shape.shape import Shape, shape
from goldsmith.engine.write.destinations.destination import Destination, Published, StagedWrite
from goldsmith.engine.write.destinations.lake import LakeDestination
from goldsmith.engine.write.destinations.warehouse import WarehouseDestination
from goldsmith.engine.write.stage_rows import CountsDisagree
from goldsmith.errors import GoldsmithError, count
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import FILES_LEFT, LEFT_OUT, StageRun
from goldsmith.planning.definition import definition_of
from goldsmith.planning.increments import DEDUPLICATES
from goldsmith.planning.input_selection import Consumed, InputSelection
from goldsmith.planning.ledgers import LedgerMatch
from goldsmith.planning.locations import lease_resource
from goldsmith.planning.missing_sources import SOURCES_MISSING
from goldsmith.planning.resolved_stage import is_lake
from goldsmith.planning.stage_context import StageContext
from goldsmith.storage import staging
from goldsmith.storage.file_content import FileChanged, look_again, renamed, with_checksums

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_stage(attempt: Attempt, resources: WorkerResources, held_lease: HeldLease) -> StageRun:
    """Write one dataset, all of it or nothing; the caller holds the target's lease."""
    _settle(attempt, resources)
    match = resources.increments.ledger(attempt.context, anew=True)
    selection = apply_overrides.fewer(select_for_attempt(attempt, resources), attempt)
    if selection.touched:
        with resources.journal.writing(lasts=False) as connection:
            ledger.note_touched(connection, match.ledger_id, selection.touched)
    faults.reach("inputs-listed")
    if selection.because is None:
        return _skip(attempt, resources, match)  # without starting Spark
    with own_session(resources.spark()) as spark, tagged(spark, attempt):
        try:
            return _write(spark, attempt, resources, held_lease, selection)
        finally:
            remove_unloaded(attempt.context, resources, attempt.stage_run_id)
            staging.remove(resources.storage, scratch_of(resources, attempt.stage_run_id))


def _settle(attempt: Attempt, resources: WorkerResources) -> None:
    """Settle stage runs and restores of this target whose process died, before reading inputs."""
    target = str(attempt.context.stage.target_id)
    for left in (dead := recover.unsettled(resources, target)):
        remove_unloaded(attempt.context, resources, left.stage_run_id)
    if dead:
        with own_session(resources.spark()) as spark:
            recover.settle(resources, destination_of(spark, attempt.context, resources), target)
        faults.reach("settled")
    restore_record.settle(resources, attempt.context.target)


def _write(
    spark: SparkSession,
    attempt: Attempt,
    resources: WorkerResources,
    held_lease: HeldLease,
    selection: InputSelection,
) -> StageRun:
    destination = destination_of(spark, attempt.context, resources)
    attempt.cancel.cancels.append(destination.cancel)
    attempt.cancel.check()
    stage_run = _start(attempt, resources, held_lease, selection)
    faults.reach("started")
    apply_overrides.prepare(spark, destination, attempt, resources)
    faults.reach("inputs-noted")
    found, moved_days = InputRows(rows={}), tuple[str, ...]()
    if attempt.run_options.replay is not None:
        try:
            rows, moved_days = replay.rows_to_replay(
                spark, attempt, resources, attempt.run_options.replay
            )
        except replay.NothingToReplay as nothing:
            return _left_out(attempt, resources, str(nothing))
        faults.reach("read")
    else:
        if selection.rows_of is not None:
            replay.take_window(spark, attempt, resources, selection.rows_of)
        found = read(spark, attempt, selection, resources)
        faults.reach("read")
        stage_audit.pre_check(spark, attempt, resources, found, selection)
        with _step_if_it_fails(attempt, resources, "shape"):
            rows = shape(
                spark, attempt.context, found.rows, Shape(run_id=attempt.run_id, at=attempt.at)
            )
    faults.reach("shaped")
    attempt.cancel.check()
    steps = ("write",) if attempt.run_options.replay is not None else ("shape", "write")
    stage_runs.step(resources.journal, attempt.stage_run_id, *steps)
    with bad_value.named(attempt, found.rows):
        writing = prepare_write(spark, attempt, resources, destination, rows, selection)
        started = time.monotonic()
        staged_write = _write_staged(attempt, writing, destination)
    malformed = _keep_malformed(attempt, resources, found)
    written = StageRowCounts(
        rows=staged_write.good + staged_write.quarantined + staged_write.dropped + malformed,
        quarantined=staged_write.quarantined + malformed,
        dropped=staged_write.dropped,
        schemas=found.schemas,
        moved_days=moved_days,
    )
    took = time.monotonic() - started
    stage_audit.audit_rows(
        attempt, resources, held_lease, writing, destination, staged_write, written, seconds=took
    )
    if attempt.run_options.limit is not None:
        return _tried_out(attempt, resources, destination)
    _refuse_changed_files(resources, selection.consumed)
    faults.reach("before-publish")
    attempt.cancel.check()
    published = destination.publish(writing.request, staged_write, held_lease.lease.token)
    return record(
        stage_run, resources, held_lease, published, written, bytes_written=staged_write.bytes
    )


@contextmanager
def _step_if_it_fails(attempt: Attempt, resources: WorkerResources, step: str) -> Iterator[None]:
    """Record a lazy step only if it fails; otherwise it is recorded together with the next step."""
    try:
        yield
    except Exception:
        if attempt.cancel.cause is None:
            stage_runs.step(resources.journal, attempt.stage_run_id, step)
        raise


def _tried_out(attempt: Attempt, resources: WorkerResources, destination: Destination) -> StageRun:
    """End a run with --limit: publishing a few rows would mark their whole input as loaded."""
    destination.clean(attempt.stage_run_id)
    because = (
        f"tried out with {count(attempt.run_options.limit or 0, 'row')}; nothing was published"
    )
    return _left_out(attempt, resources, because)


def _left_out(attempt: Attempt, resources: WorkerResources, because: str) -> StageRun:
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


def destination_of(
    spark: SparkSession, context: StageContext, resources: WorkerResources
) -> Destination:
    """The lake table or warehouse table that a stage writes."""
    assert context.target is not None  # integrity refuses a stage without one
    target = context.target.target
    assert target is not None
    if is_lake(target):
        return LakeDestination(spark, resources.storage, target, context.resolved.layer)
    return WarehouseDestination(resources.storage, target, resources.warehouse(str(target.type)))


def resource_of(context: StageContext, resources: WorkerResources) -> str:
    """The resource that a stage leases: the location it writes, whatever the target's id."""
    target = context.target.target if context.target is not None else None
    assert target is not None
    return lease_resource(target, resources.storage.settings.warehouses)


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


def _skip(attempt: Attempt, resources: WorkerResources, match: LedgerMatch) -> StageRun:
    note, missing = note_on(attempt, resources), _missing(attempt, resources)
    because = "; ".join(text for text in ("nothing new of its inputs", note, *missing) if text)
    skipped = events.StageSkipped(because=because)
    with resources.journal.writing() as connection:
        if match.ledger is not None:
            stage_ledgers.claim(connection, attempt, match)
        passed = stage_run_of(attempt).with_(facts={SOURCES_MISSING: missing} if missing else {})
        return stage_runs.pass_over(resources.journal, passed, skipped, connection=connection)


def _missing(attempt: Attempt, resources: WorkerResources) -> list[str]:
    """One sentence for each source that has no files and never had any."""
    sentences = (
        resources.increments.never_there(attempt.context, dataset)
        for dataset in attempt.context.inputs
    )
    return [sentence for sentence in sentences if sentence]


def _start(
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
        FILES_LEFT: selection.files_left,
        liveness.SUPERSEDES: liveness.supersedes(attempt, selection),
        SOURCES_MISSING: _missing(attempt, resources),
        liveness.FORMER_PATHS: selection.former,
        DEDUPLICATES: bool(
            attempt.adjust.deduplicate or attempt.context.stage.options.get("deduplicate")
        ),
    }
    if attempt.run_options.window is not None:
        facts["window"] = str(attempt.run_options.window)
    note = note_on(attempt, resources)
    consumed, moved = _with_checksums(attempt, resources, selection)
    stage_run = replace(
        stage_run_of(attempt, held_lease.lease.token),
        because="; ".join(reason for reason in (selection.because, note, moved) if reason),
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


def _with_checksums(
    attempt: Attempt, resources: WorkerResources, selection: InputSelection
) -> tuple[Consumed, str | None]:
    """The input for the ledger with checksums, which tell a touched file from a rewritten one.

    Also returns a warning about renamed files, which an append loads as new files.
    """
    consumed = selection.counted_input or selection.consumed
    files, moved = dict(consumed.files), list[tuple[str, str]]()
    for dataset in attempt.context.inputs:
        seen = consumed.files.get(dataset.dataset_id)
        if not seen:
            continue
        known = resources.increments.known_files(attempt.context, dataset)
        files[dataset.dataset_id] = checked_files = with_checksums(seen, known, resources.storage)
        if dataset is attempt.context.inputs[0]:
            listed_paths = {file.path for file in resources.increments.files(dataset)}
            moved = renamed(checked_files, known, listed_paths)
    warning = None
    if moved and attempt.context.resolved.write_mode == "append" and not selection.starts_over:
        old, new = moved[0]
        more = f" and {len(moved) - 1:,} more" if len(moved) > 1 else ""
        warning = (
            f"{new}{more} has the content of {old}, which was loaded and is gone: "
            "a renamed file is loaded as a new one"
        )
    return replace(consumed, files=files), warning


def _refuse_changed_files(resources: WorkerResources, consumed: Consumed) -> None:
    """Raise if a file changed after the ledger listed it."""
    files = [file for seen in consumed.files.values() for file in seen]
    if changed := look_again(files, resources.storage):
        raise FileChanged(files=tuple(changed))


def _keep_malformed(attempt: Attempt, resources: WorkerResources, found: InputRows) -> int:
    """Quarantine records that could not be parsed; return their number."""
    keeper = keeper_of(attempt, resources)
    quarantined = 0
    for index, (name, malformed) in enumerate(found.malformed.items()):
        seen = found.counted[name].get.get("malformed") if name in found.counted else None
        if seen == 0:  # the pass that wrote the rows found none
            continue
        written = keeper.keep_malformed(malformed, index)
        if seen is not None and written != seen:
            raise CountsDisagree(
                target=name, counted=f"{seen:,} malformed records", written=f"{written:,}"
            )
        quarantined += written
    faults.reach("quarantine-written")
    return quarantined


def _write_staged(
    attempt: Attempt, writing: PreparedWrite, destination: Destination
) -> StagedWrite:
    """Stage the rows; a check that raises on some row fails and is left out of a second write."""
    try:
        return destination.write_staged(writing.request)
    except GoldsmithError:
        raise
    except Exception as error:
        if (refused := watermarks.as_raised(error)) is not None:
            raise refused from error
        if attempt.cancel.cause is not None or not writing.some_check_raises():
            raise
        return destination.write_staged(writing.request)


def record(
    stage_run: StageRun,
    resources: WorkerResources,
    held_lease: HeldLease,
    published: Published,
    written: StageRowCounts,
    *,
    bytes_written: int | None,
) -> StageRun:
    """Record the publish, count its input and release the lease, in one transaction."""
    finished = events.StageFinished(
        rows_read=written.rows,
        rows_written=published.rows,
        rows_quarantined=written.quarantined,
        rows_dropped=written.dropped,
        bytes_written=bytes_written,
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
