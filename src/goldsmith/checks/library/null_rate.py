"""The share of NULLs in the column lies between `min` and `max`; without rows it is 0."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Judged, Measured, Rows, Total
from goldsmith.checks.settings import Share


@dataset_check(says="the share of nulls in {column} is out of bounds", any_of=("min", "max"))
def null_rate(
    rows: Rows, /, column: Field, min: Share | None = None, max: Share | None = None
) -> Total:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max)

    def judge(measured: Measured) -> Judged:
        total = measured["total"]
        return bounds.judge((total - measured["there"]) / total if total else 0.0)

    return Total(measures={"total": rows.count(), "there": F.count(column.value)}, judge=judge)
