"""What Arrow is trusted with: patterns that mean the same to Java, hashes that tell keys apart."""

from __future__ import annotations

import decimal
from datetime import UTC, date, datetime
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldsmith.checks.arrow.arrow_eval import columns_of, measure, without_nulls
from goldsmith.checks.arrow.hashing import hashes
from goldsmith.checks.arrow.reading import batches, complete
from goldsmith.checks.parquet_files import Range, ranges_of
from goldsmith.checks.portable_patterns import is_common, spelt_out

COMMON = [
    r"^[^@\s]{1,}@[^@\s]+\.[a-z]+$",
    "^[A-Z]{3}-[0-9]{5,5}$",
    "(?i)^ab|cd$",
    "(a|b)+c?",
    "(?:ab)*",
    r"\bfoo\b",
    "a.*?b",
    r"a\/b",
    r"[\d.]+",
]
JAVAS_OWN = [
    "a++",  # possessive
    "a{2}{3}",
    "[a&&b]",  # an intersection
    "[[a]]",  # a union
    "(?=a)",
    "(?<x>a)",
    "a{1001}",
    "a{,3}",
    "x{3",
    r"\p{L}",
    "[]a]",
    r"\Qa\E",
    "^*a",
    "(*a)",
    "a|*b",
    "(?i:ab)",
    r"\x41",
    "[a-z",
    "é",
    "a\nb",
    "\\",
]


@pytest.mark.parametrize("pattern", COMMON)
def test_a_pattern_that_means_the_same_to_both(pattern: str) -> None:
    assert is_common(pattern)


@pytest.mark.parametrize("pattern", JAVAS_OWN)
def test_a_pattern_that_is_left_to_java(pattern: str) -> None:
    assert not is_common(pattern)


@pytest.mark.parametrize(
    ("pattern", "spelt"),
    [
        (r"^[^@\s]+@[\w.-]+$", r"^[^@ \t\n\x0B\f\r]+@[a-zA-Z_0-9.-]+$"),
        (r"[-\d][\w-]", r"[-0-9][a-zA-Z_0-9-]"),
        (r"[^-\d]", r"[^-0-9]"),
        (r"\d\w\s\[\d\]", r"\d\w\s\[\d\]"),
        (r"[\S\D\W]", r"[\S\D\W]"),
        (r"[\w-.]", r"[\w-.]"),
        (r"[+-\d]", r"[+-\d]"),
        (r"[a^-\d]", r"[a^-\d]"),
        (r"(?i)[\s\d]", r"(?i)[\s\d]"),
        (r"[\w&&[^a]]", r"[\w&&[^a]]"),
        (r"(?x)[\s]", r"(?x)[\s]"),
    ],
)
def test_classes_are_spelt_out_where_that_is_surely_the_same(pattern: str, spelt: str) -> None:
    assert spelt_out(pattern) == spelt
    assert is_common(spelt) == is_common(pattern)


VALUES: list[tuple[pa.DataType, list[Any]]] = [
    (pa.int64(), [0, 1, -1, 2**63 - 1, -(2**63), 256, 2**32]),
    (pa.int8(), [0, 1, -1, 127]),
    (pa.bool_(), [True, False]),
    (pa.string(), ["", "a", "b", "ab", "abcdefgh", "abcdefghi", "abcdefgh\0", "\0", "é", "x" * 99]),
    (pa.binary(), [b"", b"\0", b"\0\0", b"12345678", b"123456789"]),
    (pa.date32(), [date(1970, 1, 1), date(2026, 1, 1), date(1, 1, 1)]),
    (
        pa.timestamp("us", tz="UTC"),
        [datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, microsecond=1, tzinfo=UTC)],
    ),
    (pa.decimal128(38, 2), [decimal.Decimal(text) for text in ("0", "0.01", "-0.01", "1e30")]),
    (pa.float64(), [0.0, 1.0, -1.0, float("nan"), float("inf"), 1e-300]),
]


@pytest.mark.parametrize(("type_", "values"), VALUES, ids=[str(type_) for type_, _ in VALUES])
def test_different_values_have_different_hashes_and_equal_ones_the_same(
    type_: pa.DataType, values: list[Any]
) -> None:
    both = pa.array(["of another row", *map(str, values)])
    column = pa.array([values[0], *values, None, *values, None], type_).slice(1)
    found = hashes([column]).tolist()
    half = len(values) + 1
    assert found[:half] == found[half:]
    assert len(set(found)) == half
    # With another column beside it they are still told apart.
    pair = hashes([column.slice(0, half - 1), both.slice(1)]).tolist()
    assert len({*pair, *found}) == 2 * half - 1


def test_zeros_are_one_zero_and_what_is_no_number_is_one_nan() -> None:
    odd = pa.array([0.0, -0.0, float("nan"), -float("nan")])
    assert len(set(hashes([odd]).tolist())) == 2
    assert len(set(hashes([odd.cast(pa.float32())]).tolist())) == 2


@given(st.lists(st.text(max_size=20), min_size=2, max_size=30, unique=True))
def test_no_two_texts_are_taken_for_one(texts: list[str]) -> None:
    found = hashes([pa.array(texts)]).tolist()
    assert len(set(found)) == len(texts)
    for left, right in combinations(range(len(texts)), 2):
        swapped = hashes(
            [pa.array([texts[left], texts[right]]), pa.array([texts[right], texts[left]])]
        )
        assert swapped[0] != swapped[1]


def test_a_file_is_cut_into_ranges_that_hold_each_row_group_once() -> None:
    megabyte = 1 << 20
    cut = ranges_of([("a", 150 * megabyte), ("b", 1), ("empty", 0)])
    assert [file_range.path for file_range in cut] == ["a", "a", "a", "b", "empty"]
    assert cut[0] == Range("a", 0, 64 * megabyte)
    assert all(file_range.end == following.start for file_range, following in pairwise(cut[:3]))


def in_file(folder: Path, *, statistics: bool = True) -> Range:
    """Two groups of two rows each; in the second `b` is NULL once, and `c` is always."""
    rows = pa.table({"a": [1, 2, 3, 4], "b": ["x", "y", None, "z"], "c": pa.nulls(4, pa.int32())})
    file = folder / "rows.parquet"
    pq.write_table(rows, file, row_group_size=2, write_statistics=statistics)
    return Range(str(file), 0, file.stat().st_size)


WANTED = {"a": pa.int64(), "b": pa.string(), "c": pa.int32(), "gone": pa.int64()}
KNOWN_AS: dict[str, Any] = {name: (None, (name,)) for name in WANTED}


def test_footers_tell_which_columns_hold_a_value_in_every_row(tmp_path: Path) -> None:
    whole = in_file(tmp_path)
    assert complete([whole], WANTED, KNOWN_AS, {}) == {"a"}
    # The middle of its second group does not lie in the first bytes of the file.
    first = whole._replace(end=200)
    assert [rows.num_rows for rows in batches([first], WANTED, KNOWN_AS, {})] == [2]
    assert complete([first], WANTED, KNOWN_AS, {}) == {"a", "b"}
    assert complete([first, whole], WANTED, KNOWN_AS, {}) == {"a"}


def test_a_footer_that_tells_nothing_is_not_believed(tmp_path: Path) -> None:
    assert complete([in_file(tmp_path, statistics=False)], WANTED, KNOWN_AS, {}) == set()


def test_rows_are_counted_without_a_column_of_theirs(tmp_path: Path) -> None:
    found = list(batches([in_file(tmp_path)], {}, KNOWN_AS, {}))
    assert sum(rows.num_rows for rows in found) == 4
    none = list(batches([in_file(tmp_path)], {"gone": pa.int64()}, KNOWN_AS, {}))
    assert pa.Table.from_batches(none).column("gone").to_pylist() == [None] * 4


def test_what_is_known_of_nulls_is_not_read(tmp_path: Path) -> None:
    a, b = ("column", "long", "a"), ("column", "string", "b")
    aggregates = [
        ("count", ("is_null", a), "long"),
        ("count", ("and", ("not", ("is_null", a)), ("is_null", b)), "long"),
        ("count", ("one_of", b, (("is_null", a), "x")), "long"),
    ]
    simpler = [without_nulls(aggregate, {"a"}) for aggregate in aggregates]
    assert {name for _, name in columns_of(simpler)} == {"b"}
    assert simpler[2] == aggregates[2]
    rows = batches([in_file(tmp_path)], {"b": pa.string()}, KNOWN_AS, {})
    assert measure(rows, simpler[:2]) == [0, 1]
