"""Which rows a check of several columns leaves out for their NULLs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.field import Field

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Rows with a NULL in any of the columns, only those with NULLs in all of them, or none.
Ignore = Literal["any", "all", "never"]
#: A NULL among values that are looked for in a set.
Nulls = Literal["pass", "broken"]


def not_ignored(fields: Sequence[Field], ignore: Ignore) -> Column:
    """The check speaks of the row."""
    from pyspark.sql import functions as F

    there = [field.value.isNotNull() for field in fields]
    if ignore == "never":
        return F.lit(True)
    return reduce(and_ if ignore == "any" else or_, there)
