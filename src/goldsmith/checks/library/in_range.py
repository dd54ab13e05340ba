"""The column's value lies between `min` and `max`; the bounds are inclusive unless strict.

A bound is a number, a text, a date or a time, or `{sql: …}`, an SQL expression. For a column of
times a text may be an expression, too: `now() - interval '24 hours'`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from goldsmith.checks.bounds import Bounds
from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.checks.settings import Bound

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is not {bounds}", any_of=("min", "max"))
def in_range(
    column: Plain,
    min: Bound | None = None,
    max: Bound | None = None,
    strict_min: bool = False,
    strict_max: bool = False,
) -> Column:
    bounds = Bounds(min=min, max=max, strict_min=strict_min, strict_max=strict_max)
    return bounds.broken(column)
