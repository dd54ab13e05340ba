"""Start a new Spark session and try again: the session ended or its driver ran out of memory."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def new_session(failure: Failure, *, limit: int = 2) -> Decision | None:
    if failure.uses >= limit:
        return None
    return rerun("Spark is started anew", fresh=True)
