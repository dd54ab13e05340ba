"""Wait until the warehouse has capacity, twice as long each time; one stage, half the rate."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def wait_for_warehouse(
    failure: Failure, *, wait_seconds: float = 60, limit: int = 3
) -> Decision | None:
    if failure.uses >= limit:
        return None
    wait = wait_seconds * 2**failure.uses
    because = "the warehouse has no room for it right now"
    return rerun(because, after=wait, at_once=1, lower_rate="target")
