"""Every way to write a table, on every warehouse."""

from __future__ import annotations

from collections import Counter

from conftest import Bench

COLUMNS = {"id": "bigint", "name": "string", "at": "timestamp_ntz"}


def test_smoke(warehouse: Bench) -> None:
    where = warehouse.table()
    assert warehouse.warehouse.columns(where) is None
    done = warehouse.load(where, [(1, "a", None), (2, "", None), (3, None, None)], COLUMNS)
    assert done.rows == 3
    assert Counter(warehouse.rows(where, "id", "name")) == Counter([(1, "a"), (2, ""), (3, None)])
    assert warehouse.litter() == []
