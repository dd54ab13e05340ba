"""Send fewer requests to the storage: one stage at a time, few readers, half the throttled rate."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.memory import SLOW
from goldsmith.healing.remedy import remedy


@remedy
def slow_down(failure: Failure, *, wait_seconds: float = 30, limit: int = 2) -> Decision | None:
    if failure.uses >= limit:
        return None
    wait = wait_seconds * 2**failure.uses
    because = "the storage asked for fewer requests"
    return rerun(because, after=wait, spark=SLOW, at_once=1, lower_rate="source")
