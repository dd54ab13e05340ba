"""The column's text is at least `min` characters long and at most `max`, or exactly `equals`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} has the wrong length", any_of=("min", "max", "equals"))
def length(
    column: Plain,
    min: int | None = None,
    max: int | None = None,
    equals: int | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
) -> Column:
    from pyspark.sql import functions as F

    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    if equals is not None:
        bounds = Bounds(min=equals, max=equals)
    return bounds.outside(F.length(column.text))
