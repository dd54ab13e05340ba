"""Texts that occur often are matched once, and what comes out is the same."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.checks.arrow.arrow_eval import Batch, columns_of, measure, often_matched

TEXT = ("column", "string", "s")
PATTERNS = ("^a", "b$", "a+b", "^[ab]*$")
AGGREGATES = [("count", ("matches", TEXT, pattern), "long") for pattern in PATTERNS]


def rows(*texts: str | None) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"s": pa.array(texts, pa.string())})


def test_a_column_is_asked_often_from_three_different_patterns_on() -> None:
    assert often_matched(AGGREGATES[:3]) == {TEXT}
    assert often_matched([*AGGREGATES[:2], *AGGREGATES[:2]]) == set()
    inside = [
        ("count", ("and", tree, ("not", AGGREGATES[3][1])), "long") for _, tree, _ in AGGREGATES[:2]
    ]
    assert often_matched(inside) == {TEXT}


def test_values_of_a_list_are_not_taken_for_trees() -> None:
    listed = [("one_of", TEXT, ("matches", "x")), ("one_of", TEXT, ("column", "row"))]
    assert often_matched([("count", aggregate, "long") for aggregate in listed]) == set()
    assert [*columns_of(listed)] == [("string", "s"), ("string", "s")]


@given(st.lists(st.lists(st.none() | st.text("abc", max_size=2), max_size=20), max_size=3))
def test_each_value_is_matched_once_and_the_counts_stay(parts: list[list[str | None]]) -> None:
    together = measure([rows(*part) for part in parts], AGGREGATES)
    alone = [measure([rows(*part) for part in parts], [aggregate])[0] for aggregate in AGGREGATES]
    assert together == alone


@pytest.mark.parametrize(("texts", "matched"), [(["a"] * 9 + [None], 1), (list("abcdefghij"), 10)])
def test_only_what_repeats_is_told_apart_first(texts: list[str | None], matched: int) -> None:
    seen = []

    def note(found: pa.Array) -> pa.Array:
        seen.append(len(found))
        return found.is_valid()

    repeating = {TEXT}
    matches = Batch(rows(*texts), repeating).of_texts(TEXT, note)
    assert seen == [matched]
    assert repeating == ({TEXT} if matched == 1 else set())
    # NULL of all patterns, whichever way it came.
    assert matches.to_pylist() == [
        True if text is not None else matches[-1].as_py() for text in texts
    ]
