"""There are at least `min` rows and at most `max`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.check import dataset_check

if TYPE_CHECKING:
    from pyspark.sql import Column


@dataset_check(says="there are not between {min} and {max} rows", any_of=("min", "max"))
def row_count(min: int | None = None, max: int | None = None) -> Column:
    from pyspark.sql import functions as F

    rows = F.count(F.lit(1))
    broken = F.lit(False)
    if min is not None:
        broken = broken | (rows < min)
    if max is not None:
        broken = broken | (rows > max)
    return broken
