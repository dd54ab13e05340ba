"""Partition expressions: a column, or one of Iceberg's transforms of a column."""

from __future__ import annotations

import re
from functools import lru_cache

_COLUMN = r"[^\s(),`'\"]+"
_EXPRESSION = re.compile(
    rf"(?P<plain>{_COLUMN})"
    rf"|(?:years|months|days|hours)\(\s*(?P<timed>{_COLUMN})\s*\)"
    rf"|(?:bucket|truncate)\(\s*[1-9][0-9]{{0,8}}\s*,\s*(?P<sized>{_COLUMN})\s*\)",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def partition_column(expression: str) -> str | None:
    """The column an expression speaks of; None where it is no partition expression."""
    match = _EXPRESSION.fullmatch(expression.strip())
    return None if match is None else match["plain"] or match["timed"] or match["sized"]
