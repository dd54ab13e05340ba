"""The column's text is not empty; with `trim`, a text of spaces alone counts as empty."""

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
