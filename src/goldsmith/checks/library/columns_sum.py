"""The columns of a row add up to `equals`, or to a number between `min` and `max`.

`ignore` says which rows are left out: those with a NULL in `any` of the columns, those with NULLs
in `all`, or none (`never`). In other rows a NULL counts as 0."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import row_check
from goldsmith.checks.field import Number
from goldsmith.checks.measures import Broken
from goldsmith.checks.nulls import Ignore, not_ignored


@row_check(says="{columns} do not add up", any_of=("min", "max", "equals"))
def columns_sum(
    columns: Sequence[Number],
    equals: float | None = None,
    min: float | None = None,
    max: float | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
    ignore: Ignore = "any",
) -> Broken:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    if equals is not None:
        bounds = Bounds(min=equals, max=equals)
    total = reduce(add, [F.coalesce(column.value, F.lit(0)) for column in columns])
    return Broken(condition=bounds.outside(total), applies=not_ignored(columns, ignore))
