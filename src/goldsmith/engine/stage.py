"""Run one stage: resolve, read new input, pre-check, shape, stage, audit, publish, record.

*Why each input is loaded exactly once.* The ledger lists the input of a stage run before the
publish. The input counts as loaded only if the target holds the id of the stage run. After a
crash the next run looks for that id: it completes the record, or cleans up and starts over
(`publish/recover.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from goldsmith.engine import apply_overrides, faults, ledger, stage_record
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.audit.check_context import scratch_of
from goldsmith.engine.load_time import with_load_time
from goldsmith.engine.pace.stage_pace import StagePace
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.read import replay
from goldsmith.engine.read.checksums import refuse_changed_files
from goldsmith.engine.read.inputs import InputRows, read, remove_unloaded
from goldsmith.engine.read.observe_inputs import select_for_attempt
from goldsmith.engine.read.replaced_rows import take_replaced
from goldsmith.engine.session.cancel import tagged
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.shape.shape import Shape, shape
from goldsmith.engine.stage_audit import audit_rows, pre_check
from goldsmith.engine.stage_target import destination_of, settle_dead
from goldsmith.engine.stage_write import StagedStage, write_staged
from goldsmith.engine.step import step
from goldsmith.engine.write.destinations.destination import Destination
from goldsmith.journal.tables import StageRun
from goldsmith.planning.input_selection import InputSelection
from goldsmith.planning.reasons import ReasonCode, reason
from goldsmith.storage import staging

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def run_stage(
    attempt: Attempt,
    resources: WorkerResources,
    held_lease: HeldLease,
    planned: InputSelection | None = None,
) -> StageRun:
    """Write one dataset, all of it or nothing; the caller holds the target's lease.

    `planned` is what the plan had selected, if it did.
    """
    settle_dead(attempt, resources)
    # 1 Resolve: the same decision as the plan's, now under the lease.
    selection = _resolve(attempt, resources, planned)
    if not selection.runs:
        return stage_record.skip(attempt, resources, selection)  # without starting Spark
    attempt = with_load_time(attempt, resources, held_lease)
    with ExitStack() as slots, _session(attempt, resources) as spark:
        destination = _destination(spark, attempt, resources)
        with step(attempt, resources, ends="started"):
            stage_run = stage_record.start(attempt, resources, held_lease, selection)
            slots.enter_context(StagePace(attempt, resources).slots())
        with step(attempt, resources, ends="inputs-noted"):
            apply_overrides.prepare(spark, destination, attempt, resources)
        # 3 Read: lazily, nothing is evaluated yet.
        with step(attempt, resources, ends="read"):
            replay.take_window(spark, attempt, resources, selection.rows_of)
            found = read(spark, attempt, selection, resources)
        # 2 Pre-checks: on the rows of the first input.
        with step(attempt, resources):
            pre_check(spark, attempt, resources, found, selection)
        # 4 Shape: the stage's SQL and transforms.
        with step(attempt, resources, "shape", if_it_fails=True, ends="shaped"):
            run = Shape(run_id=attempt.run_id, at=attempt.loaded_at or attempt.at)
            rows = shape(spark, attempt.context, found.rows, run)
            take_replaced(spark, attempt, resources, selection, rows)
        # 5 Stage: write where no reader looks, evaluate checks in the same pass.
        with step(attempt, resources, "shape", "write"):
            staged = write_staged(spark, attempt, resources, destination, selection, rows, found)
        return _audit_and_publish(
            attempt, resources, held_lease, destination, selection, stage_run, staged
        )


def replay_stage(attempt: Attempt, resources: WorkerResources, held_lease: HeldLease) -> StageRun:
    """Send fixed rows of the quarantine through the stage again, instead of its input."""
    settle_dead(attempt, resources)
    attempt = with_load_time(attempt, resources, held_lease)
    selection = _resolve(attempt, resources, None)
    with ExitStack() as slots, _session(attempt, resources) as spark:
        destination = _destination(spark, attempt, resources)
        with step(attempt, resources, ends="started"):
            stage_run = stage_record.start(attempt, resources, held_lease, selection)
            slots.enter_context(StagePace(attempt, resources).slots())
        with step(attempt, resources, ends="inputs-noted"):
            apply_overrides.prepare(spark, destination, attempt, resources)
        try:
            with step(attempt, resources, ends="read"):
                rows, moved_days = replay.rows_to_replay(spark, attempt, resources)
        except replay.NothingToReplay as nothing:
            return stage_record.left_out(attempt, resources, str(nothing))
        with step(attempt, resources, "write", begins="shaped"):
            nothing_read = InputRows(rows={})
            staged = write_staged(
                spark,
                attempt,
                resources,
                destination,
                selection,
                rows,
                nothing_read,
                moved_days=moved_days,
            )
        return _audit_and_publish(
            attempt, resources, held_lease, destination, selection, stage_run, staged
        )


def _audit_and_publish(
    attempt: Attempt,
    resources: WorkerResources,
    held_lease: HeldLease,
    destination: Destination,
    selection: InputSelection,
    stage_run: StageRun,
    staged: StagedStage,
) -> StageRun:
    """The last three steps, of loaded and of replayed rows alike."""
    # 6 Audit: a failed critical check ends the stage run here.
    with step(attempt, resources):
        audit_rows(attempt, resources, held_lease, destination, staged)
    if attempt.run_options.limit is not None:
        return stage_record.tried_out(attempt, resources, destination)
    refuse_changed_files(resources, selection.consumed)
    # 7 Publish: one atomic step.
    with step(attempt, resources, begins="before-publish"):
        token = held_lease.lease.token
        published = destination.publish(staged.prepared.request, staged.write, token)
    # 8 Record: nothing cancels a published stage run any more.
    return stage_record.record(stage_run, resources, held_lease, published, staged)


def _resolve(
    attempt: Attempt, resources: WorkerResources, planned: InputSelection | None
) -> InputSelection:
    """Select what to read and why; raises if the stage must not run."""
    match = resources.increments.ledger(attempt.context, anew=True)
    selection = select_for_attempt(attempt, resources)
    if selection.refused is not None:
        raise selection.refused
    if selection.touched:
        with resources.journal.writing(lasts=False) as connection:
            ledger.note_touched(connection, match.ledger_id, selection.touched)
    faults.reach("inputs-listed")
    if planned is None or not selection.differs_from(planned):
        return selection
    differs = reason(ReasonCode.DIFFERS_FROM_PLAN, plan=planned.because).sentence
    return replace(selection, notes=(*selection.notes, differs))


@contextmanager
def _session(attempt: Attempt, resources: WorkerResources) -> Iterator[SparkSession]:
    """A Spark session of the stage's own; files unloaded for the stage run are removed after it."""
    with own_session(resources.spark()) as spark, tagged(spark, attempt):
        try:
            yield spark
        finally:
            remove_unloaded(attempt.context, resources, attempt.stage_run_id)
            staging.remove(resources.storage, scratch_of(resources, attempt.stage_run_id))


def _destination(spark: SparkSession, attempt: Attempt, resources: WorkerResources) -> Destination:
    """What the stage writes to; a cancelled attempt cancels its statements."""
    destination = destination_of(spark, attempt.context, resources)
    attempt.cancel.cancels.append(destination.cancel)
    return destination
