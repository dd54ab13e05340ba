"""Keys that come in order are unique, and those taken for such are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.checks.arrow.arrow_eval import Batch
from goldsmith.checks.arrow.sorted_keys import (
    UNSORTED_FILES,
    KeyRun,
    SortedKeys,
    UnsortedKeys,
    are_apart,
    follow,
)

ALL = ("literal", "boolean", True)
NUMBER = ("column", "long", "n")
DAY = ("column", "date", "day")
TEXT = ("column", "string", "s")
THERE = ("not", ("is_null", NUMBER))


def batches(*parts: list[int | None]) -> list[Batch]:
    return [
        Batch(pa.RecordBatch.from_pydict({"n": pa.array(values, pa.int64())})) for values in parts
    ]


def followed(
    found: list[Batch], key: Any, unsorted: UnsortedKeys | None = None
) -> list[KeyRun] | None:
    """The runs of a key; None where it does not come in order."""

    def read(columns: set[str]) -> Iterator[Batch]:
        assert columns <= {"n", "day"}  # a text is read by nobody who follows numbers
        return iter(found)

    left = follow({0: SortedKeys(key, unsorted)}, read)
    return left[0].runs if left else None


def test_bounds_are_told_of_what_grows_from_batch_to_batch() -> None:
    assert followed(batches([1, 2, 5], [6], [], [9, 10]), (ALL, NUMBER)) == [KeyRun(0, 1, 10, 6)]


@pytest.mark.parametrize(
    ("parts", "runs"),
    [
        (([5, 6, 1, 2],), [(5, 6, 2), (1, 2, 2)]),
        (([5, 6], [1], [2]), [(5, 6, 2), (1, 2, 2)]),
        (([1, 1],), [(1, 1, 1), (1, 1, 1)]),
        (([1, 2], [2, 3]), [(1, 2, 2), (2, 3, 2)]),
        (([3], [1, 2]), [(3, 3, 1), (1, 2, 2)]),
    ],
)
def test_what_stays_or_falls_begins_another_run(parts: Any, runs: Any) -> None:
    key_runs = [KeyRun(0, *run) for run in runs]
    assert followed(batches(*parts), (ALL, NUMBER)) == key_runs
    apart = are_apart([(0, run) for run in key_runs])
    assert apart == (None if runs[0][1] == runs[1][0] else sum(run.rows for run in key_runs))


@pytest.mark.parametrize("parts", [([1, None],), (list(range(20, 0, -1)),), ([2, 1],) * 20])
def test_what_is_null_or_falls_often_is_not_in_order(parts: Any) -> None:
    assert followed(batches(*parts), (ALL, NUMBER)) is None


def test_rows_that_take_no_part_are_not_looked_at() -> None:
    found = batches([1, None, 2], [None])
    assert followed(found, (THERE, NUMBER)) == [KeyRun(0, 1, 2, 2)]
    assert followed(batches([None]), (THERE, NUMBER)) == []


def test_one_column_that_grows_is_enough() -> None:
    rows = {"s": ["b", "a"], "n": [1, 2], "day": [date(2026, 1, 2), date(2026, 1, 2)]}
    found = [Batch(pa.RecordBatch.from_pydict(rows))]
    key_runs = followed(found, (ALL, TEXT, DAY, NUMBER))
    assert key_runs == [KeyRun(1, 20455, 20455, 1), KeyRun(1, 20455, 20455, 1), KeyRun(2, 1, 2, 2)]
    assert are_apart([(0, run) for run in key_runs]) == 2
    days = pa.array([date(1970, 1, 1), date(1970, 1, 3)])
    found = [Batch(pa.RecordBatch.from_pydict({"day": days}))]
    assert followed(found, (ALL, DAY)) == [KeyRun(0, 0, 2, 2)]


def test_texts_are_not_followed_and_nothing_is_read_for_them() -> None:
    def read(columns: set[str]) -> Iterator[Batch]:
        raise AssertionError(columns)

    assert follow({0: SortedKeys((ALL, TEXT))}, read) == {}


def test_parts_that_meet_say_nothing() -> None:
    first, second = KeyRun(0, 1, 5, 5), KeyRun(0, 6, 7, 2)
    assert are_apart([(0, second), (1, first)]) == 7
    assert are_apart([(0, first), (1, KeyRun(0, 5, 9, 2))]) is None
    # Of another column each part must be known.
    assert are_apart([(0, first), (0, KeyRun(1, 1, 2, 5)), (1, KeyRun(1, 3, 4, 2))]) == 7
    assert are_apart([(0, KeyRun(0, 1, 2, 5)), (1, KeyRun(1, 3, 4, 2))]) is None


@given(st.lists(st.lists(st.lists(st.none() | st.integers(0, 12), max_size=3), max_size=3)))
def test_keys_that_are_taken_for_unique_are(parts: list[list[list[int | None]]]) -> None:
    runs = []
    for number, found in enumerate(parts):
        key_runs = followed(batches(*found), (THERE, NUMBER))
        if key_runs is None:
            return
        runs += [(number, run) for run in key_runs]
    values = [n for part in parts for batch in part for n in batch if n is not None]
    there = are_apart(runs)
    if there is not None:
        assert there == len(values) == len({*values})
    else:
        assert len(runs) != 1


def test_strays_between_the_others_are_told_apart_by_their_values() -> None:
    unsorted = UnsortedKeys.of((THERE, NUMBER), batches([4, None], [2]))
    assert unsorted.runs == [KeyRun(0, 2, 4, 2)]
    assert followed(batches([1, 3], [5]), (THERE, NUMBER), unsorted) == [KeyRun(0, 1, 5, 3)]
    assert are_apart([(0, KeyRun(0, 1, 5, 3)), (UNSORTED_FILES, unsorted.runs[0])]) == 5


@pytest.mark.parametrize("stray", [[1], [3], [0, 5], [9, 4, 4]])
def test_a_stray_that_occurs_again_makes_nothing_unique(stray: list[int | None]) -> None:
    unsorted = UnsortedKeys.of((THERE, NUMBER), batches(stray))
    assert followed(batches([1, 3], [5]), (THERE, NUMBER), unsorted) is None


def test_only_a_column_that_tells_strays_apart_is_followed() -> None:
    rows = {"n": pa.array([7, 7]), "day": pa.array([date(2026, 1, 2), date(2026, 1, 1)])}
    unsorted = UnsortedKeys.of((ALL, NUMBER, DAY), [Batch(pa.RecordBatch.from_pydict(rows))])
    assert [run.field for run in unsorted.runs] == [1]
    rows = {"n": pa.array([1, 2]), "day": pa.array([date(2026, 1, 3), date(2026, 1, 4)])}
    key_runs = followed([Batch(pa.RecordBatch.from_pydict(rows))], (ALL, NUMBER, DAY), unsorted)
    assert key_runs is not None
    assert [run.field for run in key_runs] == [1]


_NUMBERS = st.lists(st.none() | st.integers(0, 12), max_size=3)


@given(st.lists(st.lists(_NUMBERS, max_size=3), max_size=3), st.lists(_NUMBERS, max_size=2))
def test_keys_that_are_taken_for_unique_among_strays_are(
    parts: list[list[list[int | None]]], apart: list[list[int | None]]
) -> None:
    key = (THERE, NUMBER)
    unsorted = UnsortedKeys.of(key, batches(*apart))
    values = [n for part in [*parts, apart] for batch in part for n in batch if n is not None]
    key_runs = [followed(batches(*found), key, unsorted) for found in parts]
    if unsorted.holds and None not in key_runs:
        runs = [(number, run) for number, found in enumerate(key_runs) for run in found or ()]
        there = are_apart([*runs, *((UNSORTED_FILES, run) for run in unsorted.runs)])
        assert there in (None, len({*values})) if values else there is None
        assert there is None or there == len(values)
