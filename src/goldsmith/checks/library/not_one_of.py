"""The column's value is none of `values`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is one of {values}")
def not_one_of(column: Plain, values: Sequence[object]) -> Column:
    return column.is_in(values)
