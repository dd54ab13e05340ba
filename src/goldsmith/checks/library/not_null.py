"""The column holds a value in every row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is null")
def not_null(column: str) -> Column:
    from pyspark.sql import functions as F

    return F.col(column).isNull()
