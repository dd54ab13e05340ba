"""The median of the column lies between `min` and `max`.

Of two middle values the median is their mean. `empty` is the result, `pass` or `fail`, without a
value: no rows, or only NULLs."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds, Empty
from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Number
from goldsmith.checks.measures import Extra


@dataset_check(
    says="the median of {column} is out of bounds", any_of=("min", "max"), cost=Cost.PASS
)
def median(
    column: Number,
    min: float | None = None,
    max: float | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    empty: Empty = "fail",
) -> Extra:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    return Extra(
        plan=lambda rows: rows.agg(F.median(column.value).alias("value")),
        judge=lambda measured: bounds.judge(measured["value"], empty),
    )
