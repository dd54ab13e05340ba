"""No value of the column is smaller than the one before it; with `strictly`, none is equal.

Rows are ordered by the columns `by`, or as in the dataset. With `within`, rows are compared only
with rows that have the same values in those columns. With `step`, each value must be exactly
`step` more than the one before. NULLs are skipped; with `nulls: part` the value after a NULL is
not compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import Cost, dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Extra, Rows
from goldsmith.checks.ordering import each_after_the_last

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="{column} does not increase", cost=Cost.PASS)
def increasing(
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
        turned = value <= last if strictly else value < last
        return turned if step is None else turned | ((value - last) != step)

    return each_after_the_last(rows, column, is_broken, by=by, within=within, nulls=nulls)
