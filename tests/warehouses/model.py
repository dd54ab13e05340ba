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


#: Key → when it began → value.
History = dict[Key, dict[datetime | None, Any]]


def with_versions(history: History, came: Iterable[Row]) -> History:
    """Every version of each key, without those that say what the one before them said."""
    after = {key: dict(versions) for key, versions in history.items()}
    touched = set()
    for key, begins, value in came:
        after.setdefault(key, {})[begins] = value
        touched.add(key)
    for key in touched:
        kept: dict[datetime | None, Any] = {}
        for begins, value in _in_order(after[key]):
            if not kept or kept[list(kept)[-1]] != value:
                kept[begins] = value
        after[key] = kept
    return after


def as_rows(history: History) -> list[tuple[Any, ...]]:
    """Key, value, from, to, is current."""
    rows = []
    for key, versions in history.items():
        ordered = _in_order(versions)
        for number, (begins, value) in enumerate(ordered):
            ends = ordered[number + 1][0] if number + 1 < len(ordered) else None
            rows.append((*key, value, begins, ends, number + 1 == len(ordered)))
    return rows


def _in_order(versions: dict[datetime | None, Any]) -> list[tuple[datetime | None, Any]]:
    return sorted(versions.items(), key=lambda one: (one[0] is not None, one[0] or datetime.min))
