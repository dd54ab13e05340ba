from __future__ import annotations

import pytest

from goldsmith.planning.integrity.partitions import Partition, parse_partition, partition_column


@pytest.mark.parametrize(
    ("expression", "expected", "column"),
    [
        ("country", Partition("country"), "country"),
        ("address.city", Partition("address.city"), "address.city"),
        ("day of-month's", Partition("day of-month's"), "day of-month's"),
        ("`a(b),c`", Partition("`a(b),c`"), "a(b),c"),
        ("days(`at``.x`)", Partition("`at``.x`", "days"), "at`.x"),
        ("Bucket( 16 , `a b` )", Partition("`a b`", "bucket", 16), "a b"),
        ("s.`d.t`", Partition("s.`d.t`"), "s.`d.t`"),
    ],
)
def test_a_partition_is_a_column_of_any_name_or_a_transform_of_one(
    expression: str, expected: Partition, column: str
) -> None:
    assert parse_partition(expression) == expected
    assert partition_column(expression) == column


@pytest.mark.parametrize("expression", ["week(at)", "bucket(id)", "bucket(16", "id)", "`a", ""])
def test_what_is_neither_is_refused(expression: str) -> None:
    assert parse_partition(expression) is None
