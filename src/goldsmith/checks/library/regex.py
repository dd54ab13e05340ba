"""The column matches the regular expression somewhere; `^` and `$` tie it to the ends.

Of several patterns `match: any` asks for one of them, `match: all` for each."""

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


@row_check(says="{column} does not match {pattern}")
def regex(
    column: Plain, pattern: Regex | Sequence[Regex], match: Literal["any", "all"] = "any"
) -> Column:
    patterns = [pattern] if isinstance(pattern, str) else pattern
    found = [column.text.rlike(spelt_out(one)) for one in patterns]
    return ~reduce(or_ if match == "any" else and_, found)
