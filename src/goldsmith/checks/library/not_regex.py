"""No regular expression matches any part of the column's text; with `match: all`, not all do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.checks.portable_patterns import spelt_out
from goldsmith.checks.settings import Regex

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} matches {pattern}")
def not_regex(
    column: Plain, pattern: Regex | Sequence[Regex], match: Literal["any", "all"] = "any"
) -> Column:
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return reduce(
        or_ if match == "any" else and_, [column.text.rlike(spelt_out(each)) for each in patterns]
    )
