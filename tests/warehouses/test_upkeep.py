"""What a load does beside its write mode, and keeping tables well, on every warehouse."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from warehouses.bench import Bench

ORDERS = {"id": "bigint", "at": "timestamp", "amount": "int"}


def day(number: int) -> datetime:
    return datetime(2026, 1, number, tzinfo=UTC)


def ids(warehouse: Bench, where: str) -> list[int]:
    return sorted(row[0] for row in warehouse.rows(where, "id"))


def test_an_append_of_a_window_replaces_the_rows_of_the_window(warehouse: Bench) -> None:
    where = warehouse.table()
    warehouse.load(where, [(1, day(1), 1), (2, day(2), 1), (3, day(3), 1)], ORDERS)
    window = ("at", day(2), day(3))
    warehouse.load(where, [(20, day(2), 2)], ORDERS, replaced=window)
    warehouse.load(where, [(20, day(2), 2)], ORDERS, replaced=window)
    assert ids(warehouse, where) == [1, 3, 20]


@pytest.mark.parametrize("mode", ["append", "merge", "scd2"])
def test_a_load_from_scratch_keeps_nothing(warehouse: Bench, mode: str) -> None:
    where, how = warehouse.table(), {"mode": mode, "keys": ("id",), "watermark": "at"}
    warehouse.load(where, [(1, day(1), 1), (2, day(2), 1)], ORDERS, **how)
    warehouse.load(where, [(2, day(1), 2)], ORDERS, from_scratch=True, **how)
    assert warehouse.rows(where, "id", "amount") == [(2, 2)]


def test_a_table_is_vacuumed_and_keeps_its_rows(warehouse: Bench) -> None:
    where = warehouse.table()
    assert warehouse.warehouse.maintain(where) == []
    warehouse.load(where, [(1, day(1), 1)], ORDERS)
    done = warehouse.warehouse.maintain(where)
    assert any("ANALYZE" in statement for statement in done)
    assert ids(warehouse, where) == [1]
