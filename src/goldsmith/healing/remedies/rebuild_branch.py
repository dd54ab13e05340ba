"""Remove what broken attempts left of their branches, and write a new one."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def rebuild_branch(failure: Failure) -> Decision | None:
    if failure.adjusted.get("rebuild"):
        return None
    return rerun("the branch is made anew from main", after=0, rebuild=True)
