"""The newest value of a time column is at most so many hours old."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import dataset_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="the newest {column} is older than {max_age_hours} hours")
def freshness(column: str, max_age_hours: float) -> Column:
    from pyspark.sql import functions as F

    oldest = F.current_timestamp() - F.make_dt_interval(secs=F.lit(max_age_hours * 3600))
    return F.max(F.col(column)) < oldest
