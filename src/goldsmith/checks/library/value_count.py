"""The number of rows in which the column is not NULL lies between `min` and `max`."""

from __future__ import annotations

from goldsmith.checks.bounds import Bounds, total_between
from goldsmith.checks.check import dataset_check
from goldsmith.checks.field import Field
from goldsmith.checks.measures import Total


@dataset_check(says="the number of values in {column} is out of bounds", any_of=("min", "max"))
def value_count(column: Field, min: int | None = None, max: int | None = None) -> Total:
    from pyspark.sql import functions as F

    return total_between(F.count(column.value), Bounds(min=min, max=max), "fail")
