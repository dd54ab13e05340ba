"""Stop Spark jobs: by tags, again and again until the stage's thread has come back.

A cancel before the job is submitted is lost, and adaptive queries submit jobs of their own, so
one cancel is never enough. This file alone knows the difference between a JVM of ours, where
SparkContext's job tags reach every thread, and Spark Connect.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from goldsmith.engine.session import is_connect
from goldsmith.engine.work import Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: How often a cancel is said again.
AGAIN_SECONDS = 0.1


@contextmanager
def tagged(spark: SparkSession, work: Work) -> Iterator[None]:
    """Jobs begun in here carry the stage run's id, and are cancelled once the work has to end."""
    over = threading.Event()
    watcher = threading.Thread(
        target=_cancel_when_ended, args=(spark, work, over), name="cancel", daemon=True
    )
    if is_connect(spark):
        spark.addTag(work.stage_run_id)
    else:
        spark.sparkContext.addJobTag(work.stage_run_id)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        if is_connect(spark):
            spark.removeTag(work.stage_run_id)
        else:
            spark.sparkContext.removeJobTag(work.stage_run_id)


def _cancel_when_ended(spark: SparkSession, work: Work, over: threading.Event) -> None:
    while not over.is_set():
        if not work.ended.wait(AGAIN_SECONDS):
            continue
        if is_connect(spark):
            spark.interruptTag(work.stage_run_id)
        else:
            spark.sparkContext.cancelJobsWithTag(work.stage_run_id)
        over.wait(AGAIN_SECONDS)
