"""Loads that meet others who hold the table: they come after them, or by policy end them."""

from __future__ import annotations

import psycopg
import pytest

from goldsmith.engine.warehouses.warehouse import WarehouseBusy
from goldsmith.healing.classify import classify
from warehouses.bench import Bench, again, nowhere

SCHEMA = {"id": "bigint"}


def test_the_blocker_is_ended_only_where_that_was_decided(server: Bench) -> None:
    location = server.table()
    server.load(location, [(1,)], SCHEMA)
    with psycopg.connect(server.postgres) as other:
        # Held as a writer holds it: the load can read the table's columns meanwhile.
        other.execute(f"INSERT INTO {location} VALUES (9)")
        load = server.order(location, [(2,)], SCHEMA, lock="end_blocker")
        assert server.warehouse.load(load, nowhere).rows == 1
        with pytest.raises(psycopg.OperationalError):
            other.execute("SELECT 1")
    assert sorted(server.rows(location)) == [(1,), (2,)]


def test_the_target_is_locked_first_where_that_was_decided(server: Bench) -> None:
    location = server.table()
    server.load(location, [(1,)], SCHEMA)
    seen: list[str] = []

    def look(point: str) -> None:
        if point != "warehouse-merged":
            return
        with psycopg.connect(server.postgres) as other:
            found = other.execute(
                "SELECT mode FROM pg_locks WHERE granted AND relation = %s::regclass", (location,)
            ).fetchall()
            seen.extend(mode for (mode,) in found)

    load = server.order(location, [(2,)], SCHEMA, lock="wait")
    server.warehouse.load(load, look)
    assert {"ExclusiveLock", "AccessExclusiveLock"} & set(seen)
    assert sorted(server.rows(location)) == [(1,), (2,)]


@pytest.mark.parametrize("lock", [None, "wait"])
def test_a_lock_is_not_waited_for_forever(server: Bench, lock: str | None) -> None:
    location = server.table()
    server.load(location, [(1,)], SCHEMA)
    with psycopg.connect(server.postgres) as other:
        other.execute(f"LOCK TABLE {location} IN SHARE ROW EXCLUSIVE MODE")
        load = server.order(location, [(2,)], SCHEMA, lock=lock)
        with pytest.raises(WarehouseBusy, match="lock timeout") as busy:
            again(server, lock_sec=1).load(load, nowhere)
    assert classify(busy.value).code.name == "LockTimeout"
    assert sorted(server.rows(location)) == [(1,)]
    assert server.leftovers() == []
    assert server.warehouse.load(load, nowhere).rows == 1
    assert sorted(server.rows(location)) == [(1,), (2,)]
