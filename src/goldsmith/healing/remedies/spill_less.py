"""Use less disk at once: read fewer files, and broadcast small tables instead of shuffling."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.memory import LESS_SPILL
from goldsmith.healing.remedy import remedy


@remedy
def spill_less(failure: Failure, *, files_at_once: int = 16) -> Decision | None:
    before = int(failure.adjusted.get("files_at_once", 4 * files_at_once))
    if before <= 1:
        return None
    fewer = max(before // 4, 1)
    because = f"{fewer} files are read at once, and less is shuffled"
    return rerun(because, files_at_once=fewer, spark=LESS_SPILL)
