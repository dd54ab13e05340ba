"""The end of a stopped stage: four things, each with its time, and only then its place is free.

The driver returned; the last Spark task ended; the warehouse statement was cancelled; nothing
was published. Tasks that do not listen are given `stop_grace_sec`; after that the JVM ends with
all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from goldsmith.engine import faults, ledger, recover
from goldsmith.engine.cancel import tasks_left
from goldsmith.engine.ending import Stopped
from goldsmith.engine.leasing import Held
from goldsmith.engine.session import own_session
from goldsmith.engine.stage import destination_of, stage_run_of
from goldsmith.engine.work import Tools, Work
from goldsmith.journal import events, leases, stage_runs
from goldsmith.journal.tables import StageRun

#: How long tasks may ignore a stop where the stage's row says nothing. Spark looks every two
#: seconds whether a Python worker has to be killed: with less, its JVM would be ended for it.
GRACE_SECONDS = 3.0

#: Ends the JVM for so many tasks; True where they have surely ended with it.
EndWorker = Callable[[Work, int], bool]


def before_it_began(cause: Stopped) -> events.StageStopped:
    """The end of a stage that had not begun: there is nothing of it anywhere."""
    at = datetime.now(UTC)
    return events.StageStopped(
        because=cause.because, driver_returned_at=at, nothing_published_at=at
    )


def stop(work: Work, tools: Tools, held: Held, *, end_worker: EndWorker) -> StageRun:
    """Bring a stopped stage to its end and write down that it is."""
    cause = work.ended.cause
    assert isinstance(cause, Stopped)
    returned = datetime.now(UTC)
    faults.reach("stopping")
    if recover.known(tools, work.stage_run_id) is None:
        with tools.journal.writing() as connection:
            stopped = stage_runs.pass_over(
                tools.journal, stage_run_of(work), before_it_began(cause), connection=connection
            )
            leases.release(tools.journal, held.lease, connection=connection)
        return stopped
    spark = tools.spark()
    grace = work.near.stage.stop_grace_sec
    with own_session(spark) as own:
        destination = destination_of(own, work.near, tools)
        left = tasks_left(
            spark, work.stage_run_id, seconds=GRACE_SECONDS if grace is None else float(grace)
        )
        last_task = datetime.now(UTC) if left == 0 else None
        # Tasks that live write on: what lies aside is taken away when the last has ended.
        if left and end_worker(work, left):
            last_task = datetime.now(UTC)
        settled = recover.give_up(tools, destination, work)
    if settled is not None:
        # The order came while it was being published, and that was not to be undone.
        return settled
    nothing_published = datetime.now(UTC)
    faults.reach("stop-cleaned")
    happened = events.StageStopped(
        because=cause.because,
        driver_returned_at=returned,
        last_task_ended_at=last_task,
        statement_cancelled_at=work.ended.statement_cancelled_at,
        nothing_published_at=nothing_published,
        zombie_tasks=left or None,
    )
    with tools.journal.writing() as connection:
        ledger.forget(connection, work.stage_run_id)
        stopped = stage_runs.finish_stage_run(
            tools.journal, work.stage_run_id, happened, connection=connection
        )
        leases.release(tools.journal, held.lease, connection=connection)
    faults.reach("stop-recorded")
    return stopped
