"""Each value of the column is `interval` more than the one before it, in order of the values.

For times the interval is in `unit`. With `within`, rows are compared only with rows that have the
same values in those columns. NULLs are skipped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Extra, Rows
from goldsmith.checks.ordering import each_after_the_last

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="{column} does not go up by {interval}", cost=Cost.PASS)
def sequential_values(
    rows: Rows,
    /,
    column: Plain,
    interval: int = 1,
    unit: Literal["second", "minute", "hour", "day", "week", "month", "year"] | None = None,
    within: Sequence[Plain] = (),
) -> Extra:
    from pyspark.sql import functions as F

    def is_broken(value: Column, last: Column) -> Column:
        if unit is None:
            return value != last + F.lit(interval)
        step = F.expr(f"INTERVAL {interval} {unit}")
        return value.cast("timestamp") != last.cast("timestamp") + step

    return each_after_the_last(rows, column, is_broken, by=[column], within=within)
