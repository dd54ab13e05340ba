"""The column matches the regular expression somewhere; `^` and `$` tie it to the ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} does not match {pattern}")
def regex(column: str, pattern: str) -> Column:
    from pyspark.sql import functions as F

    return ~F.col(column).rlike(pattern)
