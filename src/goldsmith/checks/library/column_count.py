"""There are at least `min` columns and at most `max`, or exactly `equals`."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.measures import KnownTotals, Rows


@dataset_check(
    says="the number of columns is wrong", any_of=("min", "max", "equals"), cost=Cost.NOTHING
)
def column_count(
    rows: Rows, /, min: int | None = None, max: int | None = None, equals: int | None = None
) -> KnownTotals:
    bounds = Bounds(min=min, max=max) if equals is None else Bounds(min=equals, max=equals)
    return KnownTotals(judged=bounds.judge(len(rows.schema.fields)))
