"""Use more and smaller partitions, which spill to disk instead of running out of memory."""

from __future__ import annotations

from goldsmith.healing.failure import Decision, Failure, rerun
from goldsmith.healing.memory import SMALL
from goldsmith.healing.remedy import remedy

_MOST = 4096


@remedy
def more_partitions(failure: Failure, *, times: int = 4) -> Decision | None:
    before = dict(failure.adjusted.get("spark", {}))
    partitions = int(before.get("spark.sql.shuffle.partitions", 50)) * times
    if partitions > _MOST:
        return None
    conf = {**before, **SMALL, "spark.sql.shuffle.partitions": str(partitions)}
    return rerun(f"the work is cut into {partitions} pieces", after=0, spark=conf)
