"""Stop Spark jobs: by tags, again and again until the stage's thread has come back.

A cancel before the job is submitted is lost, and adaptive queries submit jobs of their own, so
one cancel is never enough. The driver's return is not the end of the work either: tasks run on,
and some cannot be interrupted at all. This file alone knows the difference between a JVM of
ours, where SparkContext's job tags reach every thread, and Spark Connect.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from goldsmith.engine.session import is_connect
from goldsmith.engine.work import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOG = logging.getLogger(__name__)
#: How often a cancel is said again.
AGAIN_SECONDS = 0.1


@contextmanager
def tagged(spark: SparkSession, work: Work) -> Iterator[None]:
    """Jobs begun in here carry the stage run's id, and are cancelled once the work has to end."""
    canceller = _Canceller(spark, work)
    if is_connect(spark):
        spark.addTag(work.stage_run_id)
    else:
        spark.sparkContext.addJobTag(work.stage_run_id)
        # A task that sleeps or waits for the other end is woken; Connect does so by itself.
        spark.sparkContext.setInterruptOnCancel(True)
    work.ended.when_ordered(canceller.begin)
    try:
        yield
    finally:
        canceller.end()
        if is_connect(spark):
            spark.removeTag(work.stage_run_id)
        else:
            spark.sparkContext.removeJobTag(work.stage_run_id)
            spark.sparkContext.setInterruptOnCancel(False)


class _Canceller:
    """Cancels from the order on until the work is over, in a thread that few stages ever need."""

    def __init__(self, spark: SparkSession, work: Work) -> None:
        self._spark = spark
        self._work = work
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
                self._work.ended.cancel()
            except Exception:
                # Whoever does not take the cancel is asked again: nobody else will do it.
                _LOG.exception("work of %s could not be cancelled", self._work.stage_run_id)
            self._over.wait(AGAIN_SECONDS)


def cancel_jobs(spark: SparkSession, stage_run_id: str) -> None:
    """Cancel every job of a stage run that Spark knows of right now."""
    if is_connect(spark):
        spark.interruptTag(stage_run_id)
    else:
        spark.sparkContext.cancelJobsWithTag(stage_run_id)


def tasks_left(spark: SparkSession, stage_run_id: str, *, seconds: float) -> int | None:
    """Wait for the last task of a stage run to end; how many have not. None: nobody can say."""
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
    """End the JVM with every task in it; True where its tasks have surely ended with it."""
    gateway: Any = spark.sparkContext._gateway
    gateway.proc.kill()
    gateway.proc.wait()
    return str(spark.sparkContext.master).startswith("local")
