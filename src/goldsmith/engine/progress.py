"""How far the Spark jobs of a stage run are, asked from beside while they run.

Of a JVM of ours the status store knows what every task has read so far. Spark Connect tells a
client nothing of the jobs of another session: there only the time passes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True, slots=True)
class Progress:
    """What the jobs of a stage run have done so far."""

    rows: int = 0
    bytes: int = 0
    tasks: int = 0
    tasks_done: int = 0


def measure(stage_run_id: str) -> Progress | None:
    """What the jobs tagged with a stage run have done; None where nobody can say."""
    context = _context()
    if context is None:
        return None
    from py4j.protocol import Py4JError

    try:
        return _measured(context, stage_run_id)
    except (Py4JError, OSError):
        # Spark is on its way down, or has forgotten a job that ended long ago.
        return None


def _context() -> Any | None:
    """The context of this process, if Spark was started at all."""
    from pyspark import SparkContext

    found = SparkContext._active_spark_context
    return None if found is None else found._jsc.sc()


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
