"""The column lies between `min` and `max`; the bounds themselves are in unless they are strict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is not between {min} and {max}", any_of=("min", "max"))
def in_range(
    column: str,
    min: float | str | None = None,
    max: float | str | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
) -> Column:
    from pyspark.sql import functions as F

    value = F.col(column)
    broken = F.lit(False)
    if min is not None:
        broken = broken | (value <= min if strict_min else value < min)
    if max is not None:
        broken = broken | (value >= max if strict_max else value > max)
    return broken
