"""The column is NULL."""

from __future__ import annotations

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Broken


@row_check(says="{column} is not null")
def null(column: Field) -> Broken:
    from pyspark.sql import functions as F

    return Broken(condition=column.value.isNotNull(), applies=F.lit(True))
