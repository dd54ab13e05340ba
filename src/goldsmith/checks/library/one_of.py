"""The column's value is one of `values`.

`nulls` says whether a NULL is left out (`pass`) or breaks the check (`broken`)."""

from __future__ import annotations

from collections.abc import Sequence

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.checks.measures import Broken
from goldsmith.checks.nulls import Nulls


@row_check(says="{column} is not one of {values}")
def one_of(column: Plain, values: Sequence[object], nulls: Nulls = "pass") -> Broken:
    from pyspark.sql import functions as F

    outside, missing = ~column.is_in(values), column.value.isNull()
    if nulls == "pass":
        return Broken(condition=outside)
    return Broken(condition=outside | missing, applies=F.lit(True))
