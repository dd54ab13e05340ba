"""What a load does beside its write mode, and keeping tables well, on every warehouse."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from goldsmith.engine.warehouses.publish import TableExists
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


@pytest.mark.parametrize("schema", ["the same", "another"])
def test_a_moved_table_keeps_its_rows_and_its_loads(warehouse: Bench, schema: str) -> None:
    where = warehouse.table()
    loaded = warehouse.load(where, [(1, day(1), 1)], ORDERS)
    head, _, table = where.rpartition(".")
    new = f"{head}.{table}_new" if schema == "the same" else f"{head}_elsewhere.{table}_new"
    warehouse.warehouse.move(where, new)
    assert ids(warehouse, new) == [1]
    assert warehouse.warehouse.columns(where) is None
    assert warehouse.warehouse.loaded(new, loaded.stage_run_id) is not None
    warehouse.load(new, [(2, day(2), 1)], ORDERS)
    assert ids(warehouse, new) == [1, 2]


def test_a_table_is_not_moved_over_another(warehouse: Bench) -> None:
    where, taken = warehouse.table(), warehouse.table()
    for number, table in enumerate((where, taken)):
        warehouse.load(table, [(number, day(1), 1)], ORDERS)
    with pytest.raises(TableExists):
        warehouse.warehouse.move(where, taken)
    assert (ids(warehouse, where), ids(warehouse, taken)) == ([0], [1])


def test_a_load_is_known_however_its_table_is_spelt(warehouse: Bench) -> None:
    where = warehouse.table()
    loaded = warehouse.load(where, [(1, day(1), 1)], ORDERS)
    assert warehouse.warehouse.loaded(where.upper(), loaded.stage_run_id) is not None
    assert warehouse.warehouse.loaded(f"{where}_other", loaded.stage_run_id) is None
