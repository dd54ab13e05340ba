"""The regular expression matches a part of the column's text; `^` and `$` anchor it to the ends.

Of several patterns, `match: any` requires one to match, `match: all` every one."""

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


@row_check(says="{column} does not match {pattern}")
def regex(
    column: Plain, pattern: Regex | Sequence[Regex], match: Literal["any", "all"] = "any"
) -> Column:
    patterns = [pattern] if isinstance(pattern, str) else pattern
    found = [column.text.rlike(spelt_out(each)) for each in patterns]
    return ~reduce(or_ if match == "any" else and_, found)
