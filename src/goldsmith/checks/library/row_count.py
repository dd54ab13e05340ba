"""There are at least `min` rows and at most `max`, or exactly `equals`."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds, total_between
from goldsmith.checks.check import dataset_check
from goldsmith.checks.measures import Rows, Total


@dataset_check(says="the number of rows is wrong", any_of=("min", "max", "equals"))
def row_count(
    rows: Rows,
    /,
    min: int | None = None,
    max: int | None = None,
    equals: int | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
) -> Total:
    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    if equals is not None:
        bounds = Bounds(min=equals, max=equals)
    return total_between(rows.count(), bounds, "fail")
