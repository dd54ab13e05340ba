"""The column is like none of the SQL patterns; with `match: all`, not like every one.

`%` stands for any text, `_` for one character."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} is like {pattern}")
def not_like(
    column: Plain, pattern: str | Sequence[str], match: Literal["any", "all"] = "any"
) -> Column:
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return reduce(or_ if match == "any" else and_, [column.text.like(one) for one in patterns])
