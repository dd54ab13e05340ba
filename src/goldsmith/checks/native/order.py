"""Keys that come in order: where one column only grows, no key can occur twice.

Numbers that are counted up, and times of events, mostly lie in files as they came. Then the least
and the greatest of each part of the files are enough: if the parts do not meet, all keys differ.

This file travels to the workers as it is: it imports what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from goldsmith.checks.native.kernel import Batch, columns_of

#: Values of these are counted in whole steps.
_WHOLE = frozenset(("byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"))


class Run(NamedTuple):
    """The rows of a part that take part in a key, by a column of it that grows from row to row."""

    field: int
    low: int
    high: int
    rows: int


class InOrder:
    """A key followed through the rows of a part, as long as one of its columns only grows."""

    def __init__(self, key: Any) -> None:
        self._part, *self._columns = key
        self._rows = 0
        #: The bounds of each column that has only grown so far; None where no row was met.
        self._bounds: dict[int, tuple[int, int] | None] = {
            place: None
            for place, column in enumerate(self._columns)
            if column[0] == "column" and column[1] in _WHOLE
        }

    @property
    def holds(self) -> bool:
        return bool(self._bounds)

    @property
    def looks_at(self) -> set[str]:
        """The columns it takes to follow the key."""
        followed = [self._columns[place] for place in self._bounds]
        return {name for _, name in columns_of([self._part, *followed])}

    @property
    def runs(self) -> list[Run]:
        """What is known of the key: one run for each column that only grows, none without rows."""
        return [
            Run(place, *bounds, self._rows)
            for place, bounds in self._bounds.items()
            if bounds is not None
        ]

    def go_on(self, batch: Batch) -> None:
        """Look at the rows that come next."""
        taking_part = batch.count(self._part)
        if not taking_part:
            return
        self._rows += taking_part
        for place, bounds in list(self._bounds.items()):
            numbers = _numbers(batch, self._columns[place], self._part)
            if numbers is None or not _grows(numbers, bounds):
                del self._bounds[place]
            else:
                low = int(numbers[0]) if bounds is None else bounds[0]
                self._bounds[place] = (low, int(numbers[-1]))


def follow(
    keys: Mapping[int, InOrder], read: Callable[[set[str]], Iterator[Batch]]
) -> dict[int, InOrder]:
    """Those of the keys that come in order, after a look at as many rows as that takes."""
    left = {place: key for place, key in keys.items() if key.holds}
    columns = set().union(*(key.looks_at for key in left.values()))
    for batch in read(columns) if left else ():
        for key in left.values():
            key.go_on(batch)
        left = {place: key for place, key in left.items() if key.holds}
        if not left:
            break
    return left


def are_apart(runs: Iterable[tuple[int, Run]]) -> int | None:
    """How many rows the runs of one key have, each given with its part, if no two parts meet."""
    by_field: dict[int, list[Run]] = {}
    parts = set()
    for part, run in runs:
        parts.add(part)
        by_field.setdefault(run.field, []).append(run)
    for found in by_field.values():
        found.sort(key=lambda run: run.low)
        meet = any(later.low <= run.high for run, later in pairwise(found))
        if len(found) == len(parts) and not meet:
            return sum(run.rows for run in found)
    return None


def _numbers(batch: Batch, column: Any, part: Any) -> Any:
    """The column as whole numbers, of the rows that take part; None where one is NULL."""
    values, taken = batch.array(column), batch.value(part)
    if not isinstance(taken, pa.Scalar):
        values = values.filter(taken)
    if values.null_count:
        return None
    if pa.types.is_date(values.type):
        values = values.cast(pa.int32())
    return values.cast(pa.int64()).to_numpy(zero_copy_only=False)


def _grows(numbers: Any, bounds: tuple[int, int] | None) -> bool:
    if bounds is not None and numbers[0] <= bounds[1]:
        return False
    return bool(np.all(numbers[1:] > numbers[:-1]))
