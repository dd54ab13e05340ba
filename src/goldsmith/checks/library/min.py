"""The smallest value of the column lies between `min` and `max`.

A bound is a number, a text, a date, a time or an SQL expression, as in `in_range`. `empty` is the
result, `pass` or `fail`, without a value: no rows, or only NULLs. With `days` a time counts as its
day."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds, Empty, extreme_between
from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Total
from goldsmith.checks.settings import Bound


@dataset_check(says="the smallest {column} is out of bounds", any_of=("min", "max"))
def min(
    column: Plain,
    min: Bound | None = None,
    max: Bound | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    empty: Empty = "fail",
    days: bool = False,
) -> Total:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    field = column.by_day() if days else column
    return extreme_between(F.min(field.value), field, bounds, empty)
