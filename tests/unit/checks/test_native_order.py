"""Keys that come in order are unique, and those taken for such are."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.checks.native.kernel import Batch
from goldsmith.checks.native.order import STRAYS, InOrder, Run, Strays, are_apart, follow

ALL = ("literal", "boolean", True)
NUMBER = ("column", "long", "n")
DAY = ("column", "date", "day")
TEXT = ("column", "string", "s")
THERE = ("not", ("is_null", NUMBER))


def batches(*parts: list[int | None]) -> list[Batch]:
    return [Batch(pa.RecordBatch.from_pydict({"n": pa.array(one, pa.int64())})) for one in parts]


def followed(found: list[Batch], key: Any, strays: Strays | None = None) -> list[Run] | None:
    """The runs of a key; None where it does not come in order."""

    def read(columns: set[str]) -> Iterator[Batch]:
        assert columns <= {"n", "day"}  # a text is read by nobody who follows numbers
        return iter(found)

    left = follow({0: InOrder(key, strays)}, read)
    return left[0].runs if left else None


def test_bounds_are_told_of_what_grows_from_batch_to_batch() -> None:
    assert followed(batches([1, 2, 5], [6], [], [9, 10]), (ALL, NUMBER)) == [Run(0, 1, 10, 6)]


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
    told = [Run(0, *one) for one in runs]
    assert followed(batches(*parts), (ALL, NUMBER)) == told
    apart = are_apart([(0, run) for run in told])
    assert apart == (None if runs[0][1] == runs[1][0] else sum(run.rows for run in told))


@pytest.mark.parametrize("parts", [([1, None],), (list(range(20, 0, -1)),), ([2, 1],) * 20])
def test_what_is_null_or_falls_often_is_not_in_order(parts: Any) -> None:
    assert followed(batches(*parts), (ALL, NUMBER)) is None


def test_rows_that_take_no_part_are_not_looked_at() -> None:
    found = batches([1, None, 2], [None])
    assert followed(found, (THERE, NUMBER)) == [Run(0, 1, 2, 2)]
    assert followed(batches([None]), (THERE, NUMBER)) == []


def test_one_column_that_grows_is_enough() -> None:
    rows = {"s": ["b", "a"], "n": [1, 2], "day": [date(2026, 1, 2), date(2026, 1, 2)]}
    found = [Batch(pa.RecordBatch.from_pydict(rows))]
    told = followed(found, (ALL, TEXT, DAY, NUMBER))
    assert told == [Run(1, 20455, 20455, 1), Run(1, 20455, 20455, 1), Run(2, 1, 2, 2)]
    assert are_apart([(0, run) for run in told]) == 2
    days = pa.array([date(1970, 1, 1), date(1970, 1, 3)])
    found = [Batch(pa.RecordBatch.from_pydict({"day": days}))]
    assert followed(found, (ALL, DAY)) == [Run(0, 0, 2, 2)]


def test_texts_are_not_followed_and_nothing_is_read_for_them() -> None:
    def read(columns: set[str]) -> Iterator[Batch]:
        raise AssertionError(columns)

    assert follow({0: InOrder((ALL, TEXT))}, read) == {}


def test_parts_that_meet_say_nothing() -> None:
    first, second = Run(0, 1, 5, 5), Run(0, 6, 7, 2)
    assert are_apart([(0, second), (1, first)]) == 7
    assert are_apart([(0, first), (1, Run(0, 5, 9, 2))]) is None
    # Of another column each part must be known.
    assert are_apart([(0, first), (0, Run(1, 1, 2, 5)), (1, Run(1, 3, 4, 2))]) == 7
    assert are_apart([(0, Run(0, 1, 2, 5)), (1, Run(1, 3, 4, 2))]) is None


@given(st.lists(st.lists(st.lists(st.none() | st.integers(0, 12), max_size=3), max_size=3)))
def test_keys_that_are_taken_for_unique_are(parts: list[list[list[int | None]]]) -> None:
    runs = []
    for number, found in enumerate(parts):
        told = followed(batches(*found), (THERE, NUMBER))
        if told is None:
            return
        runs += [(number, run) for run in told]
    values = [n for part in parts for batch in part for n in batch if n is not None]
    there = are_apart(runs)
    if there is not None:
        assert there == len(values) == len({*values})
    else:
        assert len(runs) != 1


def test_strays_between_the_others_are_told_apart_by_their_values() -> None:
    strays = Strays.of((THERE, NUMBER), batches([4, None], [2]))
    assert strays.runs == [Run(0, 2, 4, 2)]
    assert followed(batches([1, 3], [5]), (THERE, NUMBER), strays) == [Run(0, 1, 5, 3)]
    assert are_apart([(0, Run(0, 1, 5, 3)), (STRAYS, strays.runs[0])]) == 5


@pytest.mark.parametrize("stray", [[1], [3], [0, 5], [9, 4, 4]])
def test_a_stray_that_occurs_again_makes_nothing_unique(stray: list[int | None]) -> None:
    strays = Strays.of((THERE, NUMBER), batches(stray))
    assert followed(batches([1, 3], [5]), (THERE, NUMBER), strays) is None


def test_only_a_column_that_tells_strays_apart_is_followed() -> None:
    rows = {"n": pa.array([7, 7]), "day": pa.array([date(2026, 1, 2), date(2026, 1, 1)])}
    strays = Strays.of((ALL, NUMBER, DAY), [Batch(pa.RecordBatch.from_pydict(rows))])
    assert [run.field for run in strays.runs] == [1]
    rows = {"n": pa.array([1, 2]), "day": pa.array([date(2026, 1, 3), date(2026, 1, 4)])}
    told = followed([Batch(pa.RecordBatch.from_pydict(rows))], (ALL, NUMBER, DAY), strays)
    assert told is not None
    assert [run.field for run in told] == [1]


_NUMBERS = st.lists(st.none() | st.integers(0, 12), max_size=3)


@given(st.lists(st.lists(_NUMBERS, max_size=3), max_size=3), st.lists(_NUMBERS, max_size=2))
def test_keys_that_are_taken_for_unique_among_strays_are(
    parts: list[list[list[int | None]]], apart: list[list[int | None]]
) -> None:
    key = (THERE, NUMBER)
    strays = Strays.of(key, batches(*apart))
    values = [n for part in [*parts, apart] for batch in part for n in batch if n is not None]
    told = [followed(batches(*found), key, strays) for found in parts]
    if strays.holds and None not in told:
        runs = [(number, run) for number, found in enumerate(told) for run in found or ()]
        there = are_apart([*runs, *((STRAYS, run) for run in strays.runs)])
        assert there in (None, len({*values})) if values else there is None
        assert there is None or there == len(values)
