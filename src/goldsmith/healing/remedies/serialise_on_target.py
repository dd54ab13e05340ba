"""Lock the target before it is written, so that others wait for us instead of failing with us."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def serialise_on_target(failure: Failure) -> Decision | None:
    return rerun(
        "the target is locked first, so that writers come one after the other", lock="wait"
    )
