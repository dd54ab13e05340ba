"""Quarantine the offending rows, with the reason, and publish the others.

For records that cannot be parsed (`RecordMalformed`) and rows that break a check (`CheckFailed`).
"""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.remedy import remedy


@remedy(loosens="quarantines rows that fail a check or cannot be parsed and publishes the others")
def quarantine_rows(failure: Failure) -> Decision | None:
    if failure.adjusted.get("quarantine"):
        return None
    return rerun("broken rows are quarantined and the others published", after=0, quarantine=True)
