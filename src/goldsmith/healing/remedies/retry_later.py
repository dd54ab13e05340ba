"""Try the stage again later, if the failure may pass by itself.

After `limit` uses the next remedy is tried. `wait_seconds`, doubled each time, replaces the retry
policy's backoff.
"""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def retry_later(
    failure: Failure, *, wait_seconds: float | None = None, limit: int = 2
) -> Decision | None:
    if not failure.may_pass or failure.uses >= limit:
        return None
    after = None if wait_seconds is None else wait_seconds * 2**failure.uses
    return rerun(f"{failure.code} often passes by itself; it is tried again", after=after)
