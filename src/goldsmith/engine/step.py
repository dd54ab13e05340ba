"""A step of a stage run: its stop check, its journal record and its fault points."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from goldsmith.engine import faults
from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.journal import stage_runs


@contextmanager
def step(
    attempt: Attempt,
    resources: WorkerResources,
    *names: str,
    begins: str | None = None,
    ends: str | None = None,
    if_it_fails: bool = False,
) -> Iterator[None]:
    """Raise if the attempt was cancelled, record the step, reach its fault points.

    A step without names is recorded by the transaction of the code inside. A step of no duration
    is recorded `if_it_fails`; otherwise the next step records both in one transaction.
    """
    if begins is not None:
        faults.reach(begins)
    attempt.cancel.check()
    if names and not if_it_fails:
        stage_runs.step(resources.journal, attempt.stage_run_id, *names)
    try:
        yield
    except Exception:
        if names and if_it_fails and attempt.cancel.cause is None:
            stage_runs.step(resources.journal, attempt.stage_run_id, *names)
        raise
    if ends is not None:
        faults.reach(ends)
