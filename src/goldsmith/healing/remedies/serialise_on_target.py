"""Lock the target before writing it, so that concurrent writers wait instead of conflicting."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def serialise_on_target(failure: Failure) -> Decision | None:
    return rerun(
        "the target is locked first, so that writers come one after the other", lock="wait"
    )
