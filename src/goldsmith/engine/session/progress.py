"""Measure the progress of the Spark jobs of a stage run while they run.

In a local JVM the status store knows what each task has read so far. Spark Connect tells a client
nothing about the jobs of another session: there is no progress, only elapsed time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """Rows, bytes and tasks of the jobs of a stage run so far."""

    rows: int = 0
    bytes: int = 0
    tasks: int = 0
    tasks_done: int = 0


def measure(stage_run_id: str) -> Progress | None:
    """The progress of the jobs tagged with a stage run; None if it is unknown."""
    from py4j.protocol import Py4JError

    try:
        context = _context()
        return None if context is None else _measured(context, stage_run_id)
    except (Py4JError, OSError):
        # Spark is shutting down, or has evicted a job that ended long ago.
        return None


def _context() -> Any | None:
    """The SparkContext of this process; None until it has started (`_jsc` is missing)."""
    from pyspark import SparkContext

    started = getattr(SparkContext._active_spark_context, "_jsc", None)
    return None if started is None else started.sc()


def _measured(context: Any, stage_run_id: str) -> Progress:
    tracker, store = context.statusTracker(), context.statusStore()
    seen: set[int] = set()
    rows = size = tasks = done = 0
    for job in tracker.getJobIdsForTag(stage_run_id):
        info = tracker.getJobInfo(job)
        if info.isEmpty():
            continue
        for stage in info.get().stageIds():
            if stage in seen:
                continue
            seen.add(stage)
            data = store.lastStageAttempt(stage)
            rows += data.inputRecords()
            size += data.inputBytes()
            tasks += data.numTasks()
            done += data.numCompleteTasks()
    return Progress(rows=rows, bytes=size, tasks=tasks, tasks_done=done)
