"""Cancel the Spark jobs of a stage by tag, repeatedly until the stage's thread has returned.

Spark drops a cancel that comes before the job is submitted, and adaptive queries submit jobs of
their own, so one cancel is never enough. Tasks still run after the driver has returned, and some
cannot be interrupted at all. This file hides the difference between a local JVM, where
SparkContext's job tags reach every thread, and Spark Connect.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldsmith.engine.attempt import Attempt
from goldsmith.engine.session.spark_session import is_connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = logging.getLogger(__name__)
#: Seconds between two cancels.
AGAIN_SECONDS = 0.1


@contextmanager
def tagged(spark: SparkSession, attempt: Attempt) -> Iterator[None]:
    """Tag jobs with the stage run's id, and cancel them once the attempt is cancelled."""
    canceller = _Canceller(spark, attempt)
    if is_connect(spark):
        spark.addTag(attempt.stage_run_id)
    else:
        spark.sparkContext.addJobTag(attempt.stage_run_id)
        # Interrupt tasks that sleep or wait for I/O; Spark Connect always does so.
        spark.sparkContext.setInterruptOnCancel(True)
        # Pipelines share the executors evenly. Spark never forgets a pool: one a pipeline.
        pool = attempt.context.stage.pipeline_id
        spark.sparkContext.setLocalProperty("spark.scheduler.pool", pool)
    attempt.cancel.when_ordered(canceller.begin)
    try:
        yield
    finally:
        canceller.end()
        if is_connect(spark):
            spark.removeTag(attempt.stage_run_id)
        else:
            spark.sparkContext.removeJobTag(attempt.stage_run_id)
            spark.sparkContext.setInterruptOnCancel(False)


class _Canceller:
    """Cancel jobs from the order until the stage has ended, in a thread started on demand."""

    def __init__(self, spark: SparkSession, attempt: Attempt) -> None:
        self._spark = spark
        self._work = attempt
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def begin(self) -> None:
        with self._lock:
            if self._thread is None and not self._over.is_set():
                thread = threading.Thread(target=self._cancel, name="cancel", daemon=True)
                thread.start()
                self._thread = thread

    def end(self) -> None:
        with self._lock:
            self._over.set()
        if self._thread is not None:
            self._thread.join()

    def _cancel(self) -> None:
        while not self._over.is_set():
            try:
                cancel_jobs(self._spark, self._work.stage_run_id)
                self._work.cancel.cancel()
            except Exception:
                # Try again: nothing else cancels these jobs.
                _LOG.exception("work of %s could not be cancelled", self._work.stage_run_id)
            self._over.wait(AGAIN_SECONDS)


def cancel_jobs(spark: SparkSession, stage_run_id: str) -> None:
    """Cancel every submitted job of a stage run."""
    if is_connect(spark):
        spark.interruptTag(stage_run_id)
    else:
        spark.sparkContext.cancelJobsWithTag(stage_run_id)


def tasks_left(spark: SparkSession, stage_run_id: str, *, seconds: float) -> int | None:
    """Wait for the tasks of a stage run; return how many still run. None: unknown (Connect)."""
    if is_connect(spark):
        return None
    until = time.monotonic() + seconds
    while (left := _active_tasks(spark, stage_run_id)) and time.monotonic() < until:
        cancel_jobs(spark, stage_run_id)
        time.sleep(AGAIN_SECONDS / 2)
    return left


def _active_tasks(spark: SparkSession, stage_run_id: str) -> int:
    tracker: Any = spark.sparkContext._jsc.sc().statusTracker()
    active = 0
    for job in tracker.getJobIdsForTag(stage_run_id):
        info = tracker.getJobInfo(job)
        for stage in info.get().stageIds() if info.isDefined() else ():
            found = tracker.getStageInfo(stage)
            active += found.get().numActiveTasks() if found.isDefined() else 0
    return active


def end_jvm(spark: SparkSession) -> bool:
    """Kill the JVM; True if all tasks ran in it (local master)."""
    gateway: Any = spark.sparkContext._gateway
    gateway.proc.kill()
    gateway.proc.wait()
    return str(spark.sparkContext.master).startswith("local")
