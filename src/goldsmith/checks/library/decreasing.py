"""No value of the column is greater than the one before it; with `strictly`, none is equal.

Rows come in the order of the columns `by`, or as they lie in the dataset; `within` starts anew for
each value of those columns. NULLs are passed over."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Extra, Rows
from goldsmith.checks.ordering import each_after_the_last


@dataset_check(says="{column} does not decrease", cost=Cost.PASS)
def decreasing(
    rows: Rows,
    /,
    column: Plain,
    strictly: bool = False,
    by: Sequence[Plain] = (),
    within: Sequence[Plain] = (),
) -> Extra:
    return each_after_the_last(
        rows,
        column,
        lambda value, last: value >= last if strictly else value > last,
        by=by,
        within=within,
    )
