"""The sum of the column lies between `min` and `max`.

The bounds are inclusive unless strict. `empty` is the result, `pass` or `fail`, without a value:
no rows, or only NULLs."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds, Empty, total_between
from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Number
from goldsmith.checks.measures import Total


@dataset_check(says="the sum of {column} is out of bounds", any_of=("min", "max"))
def sum(
    column: Number,
    min: float | None = None,
    max: float | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    empty: Empty = "fail",
) -> Total:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    return total_between(F.sum(column.value), bounds, empty)
