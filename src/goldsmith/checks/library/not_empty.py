"""The column holds no empty text; with `trim`, none of spaces alone either."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is empty")
def not_empty(column: Plain, trim: bool = True) -> Column:
    from pyspark.sql import functions as F

    return (F.trim(column.text) if trim else column.text) == ""
