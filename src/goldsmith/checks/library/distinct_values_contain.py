"""Every one of `values` occurs in the column."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Rows, Total
from goldsmith.checks.value_sets import compared


@dataset_check(says="{column} does not hold every one of {values}")
def distinct_values_contain(rows: Rows, /, column: Plain, values: Sequence[object]) -> Total:
    return compared(rows, column, values, others_may_be=True, all_must_be=True)
