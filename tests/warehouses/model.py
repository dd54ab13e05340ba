"""What merge and scd2 have to do, in plain Python."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

Key = tuple[Any, ...]
#: Key, watermark, value.
Row = tuple[Key, datetime | None, Any]


def merged(table: dict[Key, Row], came: Iterable[Row]) -> dict[Key, Row]:
    """The row of each key, unless the one there is newer."""
    after = dict(table)
    for row in came:
        there = after.get(row[0])
        if there is None or _as_new(row[1], there[1]):
            after[row[0]] = row
    return after


def _as_new(ours: datetime | None, theirs: datetime | None) -> bool:
    return theirs is None or (ours is not None and ours >= theirs)


#: Key → when it was said → value.
History = dict[Key, dict[datetime | None, Any]]


def with_versions(history: History, came: Iterable[Row]) -> History:
    """Everything that was ever said of each key; the last word on a moment counts."""
    after = {key: dict(versions) for key, versions in history.items()}
    for key, at, value in came:
        after.setdefault(key, {})[at] = value
    return after


def as_rows(history: History) -> list[tuple[Any, ...]]:
    """Key, value, from, to, is current; what says nothing new is valid for no time at all."""
    rows = []
    for key, versions in history.items():
        ordered = _in_order(versions)
        repeats = [n > 0 and ordered[n - 1][1] == value for n, (_at, value) in enumerate(ordered)]
        for number, (at, value) in enumerate(ordered):
            later = [a for n, (a, _v) in enumerate(ordered) if n > number and not repeats[n]]
            ends = at if repeats[number] else later[0] if later else None
            rows.append((*key, value, at, ends, not repeats[number] and not later))
    return rows


def _in_order(versions: dict[datetime | None, Any]) -> list[tuple[datetime | None, Any]]:
    return sorted(
        versions.items(), key=lambda version: (version[0] is not None, version[0] or datetime.min)
    )
