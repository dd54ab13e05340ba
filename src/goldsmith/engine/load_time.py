"""The time of a load: later than that of every earlier load of its target, whatever a clock says.

It is written into the rows (`_ingested_at`, and `_valid_from` of scd2 without a watermark), where
it decides which of two rows is newer. A clock that was ahead, or another machine's clock, must not
make a later load look older.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from goldsmith.engine.attempt import Attempt, WorkerResources
from goldsmith.engine.publish.leases import HeldLease
from goldsmith.journal import stage_runs
from goldsmith.journal.clock import read_clock


def with_load_time(attempt: Attempt, resources: WorkerResources, held_lease: HeldLease) -> Attempt:
    """The attempt with the time of its load; the caller holds the target's lease."""
    target, token = str(attempt.context.stage.target_id), held_lease.lease.token
    with resources.journal.reading() as connection:
        at = read_clock(connection)
        newest = stage_runs.newest_success(connection, target)
    if newest is not None and newest.ended_at is not None:
        # The token increases with every load, also while the clock stays behind.
        loads = max(token - (newest.token or 0), 1)
        at = max(at, newest.ended_at + timedelta(microseconds=loads))
    return replace(attempt, loaded_at=at)
