"""Prove keys unique by their order: where one column of a key only increases, no key repeats.

Serial numbers and event times are mostly stored in a few ascending runs. Then the lowest and the
highest value of each run are enough: if no two runs overlap, all keys are unique. The few rows of
`unsorted_files`, removed from between the others, are compared with the values of every part.

This module is pickled by value to the Python workers: it imports only what they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from goldsmith.checks.arrow.arrow_eval import Batch, columns_of

#: Types whose values are whole numbers.
_WHOLE = frozenset(("byte", "short", "integer", "long", "date", "timestamp", "timestamp_ntz"))
#: The part number of the unsorted files.
UNSORTED_FILES = -1
_NONE = np.empty(0, np.int64)
#: A column with more runs in one part is not sorted.
_MOST_RUNS = 16


class KeyRun(NamedTuple):
    """Consecutive rows that take part in a key, in which one column of the key only increases."""

    field: int
    low: int
    high: int
    rows: int


@dataclass(frozen=True)
class UnsortedKeys:
    """The unsorted rows that take part in a key, by each column of the key that is unique there."""

    rows: int
    #: The sorted values, by the index of the column.
    values: Mapping[int, Any]

    @classmethod
    def of(cls, key: Any, found: Iterable[Batch]) -> UnsortedKeys:
        """Read all unsorted rows at once: there are few."""
        part, *columns = key
        rows = 0
        numbers_of: dict[int, list[Any]] = {index: [] for index in _counted_in_steps(columns)}
        for batch in found:
            taking_part = batch.count(part)
            rows += taking_part
            for index in list(numbers_of) if taking_part else ():
                numbers = _numbers(batch, columns[index], part)
                if numbers is None:
                    del numbers_of[index]
                else:
                    numbers_of[index].append(numbers)
        values = {
            p: np.sort(np.concatenate(all_)) if all_ else _NONE for p, all_ in numbers_of.items()
        }
        return cls(
            rows,
            {p: ordered for p, ordered in values.items() if np.all(ordered[1:] > ordered[:-1])},
        )

    @property
    def holds(self) -> bool:
        return bool(self.values)

    @property
    def runs(self) -> list[KeyRun]:
        return [
            KeyRun(index, int(ordered[0]), int(ordered[-1]), self.rows)
            for index, ordered in self.values.items()
            if self.rows
        ]


class SortedKeys:
    """Follow a key through the rows of a part, as long as one of its columns rarely decreases."""

    def __init__(self, key: Any, unsorted: UnsortedKeys | None = None) -> None:
        self._part, *self._columns = key
        self._unsorted = unsorted
        #: The runs of each column that has increased so far, with few exceptions.
        self._runs: dict[int, list[KeyRun]] = {
            index: []
            for index in _counted_in_steps(self._columns)
            if unsorted is None or index in unsorted.values
        }

    @property
    def holds(self) -> bool:
        return bool(self._runs)

    @property
    def looks_at(self) -> set[str]:
        """The columns to read in order to follow the key."""
        followed = [self._columns[index] for index in self._runs]
        return {name for _, name in columns_of([self._part, *followed])}

    @property
    def runs(self) -> list[KeyRun]:
        """The runs of each sorted column of the key; none without rows."""
        return [run for runs in self._runs.values() for run in runs]

    def go_on(self, batch: Batch) -> None:
        """Process the next rows."""
        if not batch.count(self._part):
            return
        for index, runs in list(self._runs.items()):
            numbers = _numbers(batch, self._columns[index], self._part)
            if numbers is None or not self._add(index, runs, numbers):
                del self._runs[index]

    def _add(self, index: int, runs: list[KeyRun], numbers: Any) -> bool:
        """Add values to the runs of a column; False if it can no longer prove the key unique."""
        falls = np.flatnonzero(numbers[1:] <= numbers[:-1]) + 1
        if len(falls) and len(runs) + len(falls) > _MOST_RUNS:
            return False
        for own in np.split(numbers, falls):
            if self._meets(index, own):
                return False
            run = KeyRun(index, int(own[0]), int(own[-1]), len(own))
            if runs and runs[-1].high < run.low:
                before = runs.pop()
                run = KeyRun(index, before.low, run.high, before.rows + run.rows)
            runs.append(run)
        return True

    def _meets(self, index: int, numbers: Any) -> bool:
        """An unsorted row has one of the numbers, which are ascending."""
        if self._unsorted is None:
            return False
        unsorted = self._unsorted.values[index]
        first = np.searchsorted(unsorted, numbers[0])
        between = unsorted[first : np.searchsorted(unsorted, numbers[-1], "right")]
        return bool(np.any(numbers[np.searchsorted(numbers, between)] == between))


def follow(
    keys: Mapping[int, SortedKeys], read: Callable[[set[str]], Iterator[Batch]]
) -> dict[int, SortedKeys]:
    """The keys that are sorted; stops reading rows as soon as none is left."""
    left = {index: key for index, key in keys.items() if key.holds}
    columns = set().union(*(key.looks_at for key in left.values()))
    for batch in read(columns) if left else ():
        for key in left.values():
            key.go_on(batch)
        left = {index: key for index, key in left.items() if key.holds}
        if not left:
            break
    return left


def are_apart(runs: Iterable[tuple[int, KeyRun]]) -> int | None:
    """The number of rows of a key if, by one of its columns, no two runs overlap; else None.

    Each run is given with its part. The parts have compared the unsorted rows themselves.
    """
    by_field: dict[int, list[tuple[int, KeyRun]]] = {}
    parts = set()
    for part, run in runs:
        parts.add(part)
        by_field.setdefault(run.field, []).append((part, run))
    for found in by_field.values():
        others = sorted(
            (run for part, run in found if part != UNSORTED_FILES), key=lambda run: run.low
        )
        meet = any(later.low <= run.high for run, later in pairwise(others))
        if {part for part, _ in found} == parts and not meet:
            return sum(run.rows for _, run in found)
    return None


def _counted_in_steps(columns: Iterable[Any]) -> Iterator[int]:
    """The indexes of columns whose values are whole numbers."""
    for index, column in enumerate(columns):
        if column[0] == "column" and column[1] in _WHOLE:
            yield index


def _numbers(batch: Batch, column: Any, part: Any) -> Any:
    """The column as whole numbers, for the rows that take part; None if any of them is NULL."""
    values, taken = batch.array(column), batch.value(part)
    if not isinstance(taken, pa.Scalar):
        values = values.filter(taken)
    if values.null_count:
        return None
    if pa.types.is_date(values.type):
        values = values.cast(pa.int32())
    return values.cast(pa.int64()).to_numpy(zero_copy_only=False)
