"""The distinct values of the column are exactly `values`.

`nulls` says whether NULLs are left out (`pass`) or break the check (`broken`)."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Rows, Total
from goldsmith.checks.nulls import Nulls
from goldsmith.checks.value_sets import compared


@dataset_check(says="{column} does not hold just {values}")
def distinct_values_equal(
    rows: Rows, /, column: Plain, values: Sequence[object], nulls: Nulls = "pass"
) -> Total:
    return compared(rows, column, values, others_may_be=False, all_must_be=True, nulls=nulls)
