"""What the errors of ledgers advise."""

from __future__ import annotations

import pytest

from goldsmith.planning.ledger_problems import TableMoved


@pytest.mark.parametrize(
    ("old", "new", "moves"),
    [
        ("lake.silver.orders", "lake.gold.orders", True),
        ("duckdb:shop.orders", "duckdb:mart.orders", True),
        ("lake.gold.orders", "duckdb:shop.orders", False),
        ("duckdb:shop.orders", "lake.gold.orders", False),
    ],
)
def test_a_move_is_advised_only_where_rows_can_be_moved(old: str, new: str, moves: bool) -> None:
    hint = TableMoved(stage="p-1", target="orders", old=old, new=new).hint
    assert ("datasets move" in hint) == moves
    assert "--full-refresh" in hint
