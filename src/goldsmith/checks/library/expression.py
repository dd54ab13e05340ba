"""The SQL condition is true in each row; a row where it is NULL passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{sql} does not hold")
def expression(sql: str) -> Column:
    from pyspark.sql import functions as F

    return ~F.expr(sql)
