"""Partition expressions: a column, or one of Iceberg's transforms of a column."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

# Parts of a name may be in backticks; a name without backticks may have spaces and quotes.
_COLUMN = r"(?:`(?:[^`]|``)*`|[^(),`])+?"
_EXPRESSION = re.compile(
    rf"(?P<plain>{_COLUMN})"
    rf"|(?P<timed>years|months|days|hours)\(\s*(?P<time>{_COLUMN})\s*\)"
    rf"|(?P<sized>bucket|truncate)\(\s*(?P<size>[1-9][0-9]{{0,8}})\s*,\s*(?P<of>{_COLUMN})\s*\)",
    re.IGNORECASE,
)


_QUOTED = re.compile(r"`((?:[^`]|``)*)`")


class Partition(NamedTuple):
    """A column and its transform, if any."""

    column: str
    transform: str | None = None
    size: int | None = None


@lru_cache(maxsize=4096)
def parse_partition(expression: str) -> Partition | None:
    """Parse a partition expression; None where it is none."""
    match = _EXPRESSION.fullmatch(expression.strip())
    if match is None:
        return None
    if match["plain"]:
        return Partition(match["plain"])
    if match["timed"]:
        return Partition(match["time"], match["timed"].lower())
    return Partition(match["of"], match["sized"].lower(), int(match["size"]))


def partition_column(expression: str) -> str | None:
    """The column of a partition expression; None where it is none."""
    parsed = parse_partition(expression)
    if parsed is None:
        return None
    quoted = _QUOTED.match(parsed.column)
    return parsed.column if quoted is None else quoted[1].replace("``", "`")
