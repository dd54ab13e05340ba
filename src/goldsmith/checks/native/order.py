"""Keys that come in order: where one column only grows, no key can occur twice.

Numbers that are counted up, and times of events, mostly lie in files as they came, a few files one
after the other. Then the least and the greatest of each such run are enough: if no two of them
meet, all keys differ. Rows that were taken out of the midst of the others, the strays, are few:
every part is asked for the values of each of them.

This file travels to the workers as it is: it imports what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from goldsmith.checks.native.kernel import Batch, columns_of

#: Values of these are counted in whole steps.
_WHOLE = frozenset(("byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"))
#: The number of the part that all strays are.
STRAYS = -1
_NONE = np.empty(0, np.int64)
#: A column of so many runs in one part is in no order.
_MOST_RUNS = 16


class Run(NamedTuple):
    """Rows in a row that take part in a key, by a column of it that grows from one to the next."""

    field: int
    low: int
    high: int
    rows: int


@dataclass(frozen=True)
class Strays:
    """The strays that take part in a key, by each column of it whose values tell them apart."""

    rows: int
    #: The values in order.
    values: Mapping[int, Any]

    @classmethod
    def of(cls, key: Any, found: Iterable[Batch]) -> Strays:
        """All strays at once: there are few."""
        part, *columns = key
        rows = 0
        met: dict[int, list[Any]] = {place: [] for place in _counted_in_steps(columns)}
        for batch in found:
            taking_part = batch.count(part)
            rows += taking_part
            for place in list(met) if taking_part else ():
                numbers = _numbers(batch, columns[place], part)
                if numbers is None:
                    del met[place]
                else:
                    met[place].append(numbers)
        values = {p: np.sort(np.concatenate(all_)) if all_ else _NONE for p, all_ in met.items()}
        return cls(rows, {p: one for p, one in values.items() if np.all(one[1:] > one[:-1])})

    @property
    def holds(self) -> bool:
        return bool(self.values)

    @property
    def runs(self) -> list[Run]:
        return [
            Run(place, int(one[0]), int(one[-1]), self.rows)
            for place, one in self.values.items()
            if self.rows
        ]


class InOrder:
    """A key followed through the rows of a part, as long as one of its columns falls rarely."""

    def __init__(self, key: Any, strays: Strays | None = None) -> None:
        self._part, *self._columns = key
        self._strays = strays
        #: The runs of each column that has grown so far, but for a few times.
        self._runs: dict[int, list[Run]] = {
            place: []
            for place in _counted_in_steps(self._columns)
            if strays is None or place in strays.values
        }

    @property
    def holds(self) -> bool:
        return bool(self._runs)

    @property
    def looks_at(self) -> set[str]:
        """The columns it takes to follow the key."""
        followed = [self._columns[place] for place in self._runs]
        return {name for _, name in columns_of([self._part, *followed])}

    @property
    def runs(self) -> list[Run]:
        """What is known of the key: runs by each column that comes in order, none without rows."""
        return [run for runs in self._runs.values() for run in runs]

    def go_on(self, batch: Batch) -> None:
        """Look at the rows that come next."""
        if not batch.count(self._part):
            return
        for place, runs in list(self._runs.items()):
            numbers = _numbers(batch, self._columns[place], self._part)
            if numbers is None or not self._add(place, runs, numbers):
                del self._runs[place]

    def _add(self, place: int, runs: list[Run], numbers: Any) -> bool:
        """Go on with the runs of a column; False where it is not to be followed any more."""
        falls = np.flatnonzero(numbers[1:] <= numbers[:-1]) + 1
        if len(falls) and len(runs) + len(falls) > _MOST_RUNS:
            return False
        for own in np.split(numbers, falls):
            if self._meets(place, own):
                return False
            run = Run(place, int(own[0]), int(own[-1]), len(own))
            if runs and runs[-1].high < run.low:
                before = runs.pop()
                run = Run(place, before.low, run.high, before.rows + run.rows)
            runs.append(run)
        return True

    def _meets(self, place: int, numbers: Any) -> bool:
        """A stray has one of the numbers, which grow."""
        if self._strays is None:
            return False
        strays = self._strays.values[place]
        first = np.searchsorted(strays, numbers[0])
        between = strays[first : np.searchsorted(strays, numbers[-1], "right")]
        return bool(np.any(numbers[np.searchsorted(numbers, between)] == between))


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
    """How many rows the runs of one key have, each given with its part, if no two of them meet.

    The parts have looked for the strays by themselves.
    """
    by_field: dict[int, list[tuple[int, Run]]] = {}
    parts = set()
    for part, run in runs:
        parts.add(part)
        by_field.setdefault(run.field, []).append((part, run))
    for found in by_field.values():
        others = sorted((run for part, run in found if part != STRAYS), key=lambda run: run.low)
        meet = any(later.low <= run.high for run, later in pairwise(others))
        if {part for part, _ in found} == parts and not meet:
            return sum(run.rows for _, run in found)
    return None


def _counted_in_steps(columns: Iterable[Any]) -> Iterator[int]:
    """The places of columns whose values are whole numbers to count in."""
    for place, column in enumerate(columns):
        if column[0] == "column" and column[1] in _WHOLE:
            yield place


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
