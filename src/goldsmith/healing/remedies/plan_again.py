"""Plan again from the newest state, because another writer published first."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def plan_again(failure: Failure) -> Decision | None:
    return rerun("somebody else published first; it is planned again from there", after=0)
