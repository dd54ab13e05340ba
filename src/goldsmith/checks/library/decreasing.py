"""No value of the column is greater than the one before it; with `strictly`, none is equal.

Rows come in the order of the columns `by`, or as they lie in the dataset; `within` starts anew for
each value of those columns. With `step` each value differs from the one before by just that.
NULLs are passed over, or with `nulls: part` the value after one is compared with none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Extra, Rows
from goldsmith.checks.ordering import each_after_the_last

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="{column} does not decrease", cost=Cost.PASS)
def decreasing(
    rows: Rows,
    /,
    column: Plain,
    strictly: bool = False,
    by: Sequence[Plain] = (),
    within: Sequence[Plain] = (),
    step: float | None = None,
    nulls: Literal["skip", "part"] = "skip",
) -> Extra:
    def is_broken(value: Column, last: Column) -> Column:
        turned = value >= last if strictly else value > last
        return turned if step is None else turned | ((last - value) != step)

    return each_after_the_last(rows, column, is_broken, by=by, within=within, nulls=nulls)
