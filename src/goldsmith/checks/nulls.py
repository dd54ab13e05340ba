"""Which rows a check of several columns leaves out because of NULLs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.field import Field

if TYPE_CHECKING:
    from pyspark.sql import Column

#: Leave out rows with a NULL in any of the columns, with NULLs in all of them, or no row.
Ignore = Literal["any", "all", "never"]
#: Whether a NULL passes or breaks a check against a set of values.
Nulls = Literal["pass", "broken"]


def not_ignored(fields: Sequence[Field], ignore: Ignore) -> Column:
    """The check applies to the row."""
    from pyspark.sql import functions as F

    there = [field.value.isNotNull() for field in fields]
    if ignore == "never":
        return F.lit(True)
    return reduce(and_ if ignore == "any" else or_, there)
