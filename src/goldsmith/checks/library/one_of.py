"""The column holds one of the values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is not one of {values}")
def one_of(column: str, values: Sequence[object]) -> Column:
    from pyspark.sql import functions as F

    return ~F.col(column).isin(list(values))
