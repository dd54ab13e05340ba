"""End a stopped stage; release its lease only after four events, each recorded with its time.

The driver returned; the last Spark task ended; the warehouse statement was cancelled; nothing
was published. Tasks that ignore the cancel get `stop_grace_sec`; then the JVM is killed.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from goldsmith.engine import faults, ledger
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.cancel_token import Stopped
from goldsmith.engine.publish import recover
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.engine.session.cancel import tasks_left
from goldsmith.engine.session.spark_session import own_session
from goldsmith.engine.stage_record import stage_run_of
from goldsmith.engine.stage_target import destination_of
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import StageRun

#: The default of `stop_grace_sec`. Spark checks every two seconds whether to kill a Python
#: worker: a shorter grace would kill the JVM because of such a worker.
GRACE_SECONDS = 3.0

#: Kills the JVM because of so many tasks; True if the tasks certainly ended with it.
EndWorker = Callable[[Attempt, int], bool]


def before_it_began(cause: Stopped) -> events.StageStopped:
    """The event of a stage that was stopped before it started."""
    at = datetime.now(UTC)
    return events.StageStopped(
        because=cause.because, driver_returned_at=at, nothing_published_at=at
    )


def stop(
    attempt: Attempt, resources: WorkerResources, held_lease: HeldLease, *, end_worker: EndWorker
) -> StageRun:
    """Wait for the tasks of a stopped stage, clean up, and record the stop."""
    cause = attempt.cancel.cause
    assert isinstance(cause, Stopped)
    returned = datetime.now(UTC)
    faults.reach("stopping")
    if recover.known(resources, attempt.stage_run_id) is None:
        with resources.journal.writing() as connection:
            stopped = stage_runs.pass_over(
                resources.journal,
                stage_run_of(attempt),
                before_it_began(cause),
                connection=connection,
            )
            leases.release(resources.journal, held_lease.lease, connection=connection)
        return stopped
    spark = resources.spark()
    grace = attempt.context.stage.stop_grace_sec
    with own_session(spark) as own:
        destination = destination_of(own, attempt.context, resources)
        left = tasks_left(
            spark, attempt.stage_run_id, seconds=GRACE_SECONDS if grace is None else float(grace)
        )
        last_task = datetime.now(UTC) if left == 0 else None
        # Running tasks still write: remove staged data only after the last task has ended.
        if left and end_worker(attempt, left):
            last_task = datetime.now(UTC)
        settled = recover.give_up(resources, destination, attempt)
    if settled is not None:
        # The stop came during the publish, which cannot be undone.
        return settled
    nothing_published = datetime.now(UTC)
    faults.reach("stop-cleaned")
    event = events.StageStopped(
        because=cause.because,
        driver_returned_at=returned,
        last_task_ended_at=last_task,
        statement_cancelled_at=attempt.cancel.statement_cancelled_at,
        nothing_published_at=nothing_published,
        zombie_tasks=left or None,
    )
    with resources.journal.writing() as connection:
        ledger.forget(connection, attempt.stage_run_id)
        stopped = stage_runs.finish_stage_run(
            resources.journal, attempt.stage_run_id, event, connection=connection
        )
        leases.release(resources.journal, held_lease.lease, connection=connection)
    faults.reach("stop-recorded")
    return stopped
