"""Remove the Iceberg branches that failed attempts left, and write a new branch."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy
def rebuild_branch(failure: Failure) -> Decision | None:
    if failure.adjusted.get("rebuild"):
        return None
    return rerun("the branch is made anew from main", after=0, rebuild=True)
