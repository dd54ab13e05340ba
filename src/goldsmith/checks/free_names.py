"""Names for Goldsmith's helper columns that no user column has."""

from __future__ import annotations

from collections.abc import Iterable

#: The prefix of every helper column; a stage refuses rows that have such a column.
PREFIX = "_goldsmith_"


def free_name(name: str, columns: Iterable[str]) -> str:
    """A name that none of these columns has, ignoring case."""
    taken = {column.lower() for column in columns}
    found = PREFIX + name
    while found in taken:
        found += "_"
    return found
