"""Odd names and names that begin with an underscore, in every mode of every warehouse."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from warehouses.bench import Bench

#: The key, the watermark and a value.
ODD = {
    "dots and dashes": ("order.id", "at.time", "a-b.c"),
    "spaces and quotes": ("order id", "at 'the' time", 'it\'s "100%"'),
    "backticks and semicolons": ("order`id", "`at`;", "--"),
    "underscores": ("_id", "_at", "_status"),
    "words of SQL": ("select", "timestamp", "group"),
    "other letters": ("größe", "время", "日付"),
}
FIRST, SECOND = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2))


@pytest.mark.parametrize("said", ODD)
@pytest.mark.parametrize("mode", ["append", "overwrite", "merge", "scd2"])
def test_odd_names_go_through_every_mode(warehouse: Bench, mode: str, said: str) -> None:
    key, at, value = ODD[said]
    schema = {key: "bigint", at: "timestamp", value: "string"}
    more: dict[str, Any] = {"mode": mode}
    if mode in ("merge", "scd2"):
        more |= {"keys": (key,), "watermark": at}
    table = warehouse.table()
    warehouse.load(table, [(1, FIRST, "a"), (2, FIRST, "b")], schema, **more)
    warehouse.load(table, [(2, SECOND, "c"), (3, SECOND, "d")], schema, **more)
    both = [(1, "a"), (2, "b"), (2, "c"), (3, "d")]
    wanted = {
        "append": both,
        "overwrite": [(2, "c"), (3, "d")],
        "merge": [(1, "a"), (2, "c"), (3, "d")],
        "scd2": both,
    }[mode]
    assert sorted(warehouse.rows(table, key, value)) == wanted
    if mode == "scd2":
        now = warehouse.rows(table, key, value, "_is_current")
        assert sorted(row[:2] for row in now if row[2]) == [(1, "a"), (2, "c"), (3, "d")]


def test_what_only_the_columns_of_bronze_tell_apart_is_no_version(warehouse: Bench) -> None:
    schema = {"id": "bigint", "at": "timestamp", "_status": "string", "_run_id": "string"}
    more: dict[str, Any] = {"mode": "scd2", "keys": ("id",), "watermark": "at"}
    table = warehouse.table()
    warehouse.load(table, [(1, FIRST, "open", "run 1")], schema, **more)
    warehouse.load(table, [(1, SECOND, "open", "run 2")], schema, **more)
    versions = warehouse.rows(table, "_valid_from", "_valid_to")
    assert sum(begins != ends for begins, ends in versions) == 1


def test_a_table_with_odd_names_is_written_and_asked(warehouse: Bench) -> None:
    table = 'odd "schema"\'s.ta`ble; --'
    warehouse.load(table, [(1,)], {"id": "bigint"})
    warehouse.load(table, [(2,)], {"id": "bigint"})
    assert sorted(warehouse.rows(table)) == [(1,), (2,)]
