"""Wait until the lock is free; after `end_blocker_after` waits, end the session that holds it."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def wait_for_lock(
    failure: Failure, *, wait_seconds: float | None = None, end_blocker_after: int | None = None
) -> Decision | None:
    if end_blocker_after is not None and failure.uses >= end_blocker_after:
        because = f"the lock was held through {failure.uses} waits: its holder's session is ended"
        return rerun(because, after=0, lock="end_blocker")
    after = None if wait_seconds is None else wait_seconds * 2**failure.uses
    return rerun("somebody holds a lock; it is tried again", after=after)
