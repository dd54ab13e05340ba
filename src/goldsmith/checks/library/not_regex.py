"""The column matches none of the regular expressions anywhere; with `match: all`, not every one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import TYPE_CHECKING, Literal

from goldsmith.checks.check import row_check
from goldsmith.checks.field import Plain
from goldsmith.checks.native.patterns import spelt_out
from goldsmith.checks.settings import Regex

if TYPE_CHECKING:
    from pyspark.sql import Column


@row_check(says="{column} matches {pattern}")
def not_regex(
    column: Plain, pattern: Regex | Sequence[Regex], match: Literal["any", "all"] = "any"
) -> Column:
    patterns = [pattern] if isinstance(pattern, str) else pattern
    return reduce(
        or_ if match == "any" else and_, [column.text.rlike(spelt_out(one)) for one in patterns]
    )
