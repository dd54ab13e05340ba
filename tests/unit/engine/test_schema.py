from __future__ import annotations

import pytest

from goldsmith.engine.shape.schema_policy import fits


@pytest.mark.parametrize(
    ("narrow", "wide", "does"),
    [
        ("int", "bigint", True),
        ("bigint", "int", False),
        ("float", "double", True),
        ("decimal(10,2)", "decimal(12,2)", True),
        ("decimal(10,2)", "decimal(12,3)", False),
        ("int", "double", False),
        ("string", "int", False),
        ("date", "timestamp", False),
    ],
)
def test_a_type_is_widened_only_where_no_value_is_lost(narrow: str, wide: str, does: bool) -> None:
    assert fits(narrow, wide) is does
