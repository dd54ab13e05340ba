"""The column's text matches none of the LIKE patterns; with `match: all`, not all of them.

`%` is any text, `_` any one character."""

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
    return reduce(or_ if match == "any" else and_, [column.text.like(each) for each in patterns])
