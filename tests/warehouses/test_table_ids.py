"""A table that is dropped and made anew is another one, also where it has the same columns."""

from __future__ import annotations

import pytest

from goldsmith.engine.warehouses.publish import TableReplaced
from goldsmith.planning.locations import is_other_table
from warehouses.bench import Bench

SCHEMA = {"id": "bigint"}


def test_a_table_keeps_its_id_in_every_load_and_under_another_name(warehouse: Bench) -> None:
    table, renamed = warehouse.table(), warehouse.table()
    first = warehouse.load(table, [(1,)], SCHEMA)
    more = {**SCHEMA, "at": "timestamp"}
    assert first.table_id is not None
    for changed in (
        warehouse.load(table, [(2, None)], more),
        warehouse.load(table, [(3, None)], more, mode="overwrite"),
        warehouse.load(table, [(4, None)], more, from_scratch=True),
        warehouse.load(table, [(5, None)], more, mode="merge", keys=("id",)),
    ):
        assert changed.table_id == first.table_id
    warehouse.warehouse.maintain(table)
    warehouse.warehouse.move(table, renamed)
    moved = warehouse.warehouse.loaded(renamed, first.stage_run_id)
    assert moved is not None
    assert moved.table_id == first.table_id


def test_a_table_that_is_made_anew_has_another_id_and_is_not_added_to(warehouse: Bench) -> None:
    table = warehouse.table()
    first = warehouse.load(table, [(1,)], SCHEMA)
    warehouse.ask(f"DROP TABLE {warehouse.sql(table)}")
    warehouse.ask(f"CREATE TABLE {warehouse.sql(table)} (id bigint)")
    now = warehouse.warehouse.loaded(table, first.stage_run_id)
    assert now is not None
    assert is_other_table(str(first.table_id), now.table_id)
    with pytest.raises(TableReplaced):
        warehouse.load(table, [(2,)], SCHEMA, table_id=first.table_id)
    assert warehouse.rows(table) == []
    again = warehouse.load(table, [(2,)], SCHEMA, table_id=now.table_id)
    assert again.table_id is not None
    assert is_other_table(str(first.table_id), again.table_id)


def test_a_table_in_another_schema_is_the_same_table_or_says_its_new_id(warehouse: Bench) -> None:
    table = warehouse.table()
    first = warehouse.load(table, [(1,)], SCHEMA)
    elsewhere = table.replace("shop.", "attic.")
    warehouse.warehouse.move(table, elsewhere)
    moved = warehouse.warehouse.loaded(elsewhere, first.stage_run_id)
    assert moved is not None
    assert moved.table_id is not None
    if warehouse.kind != "redshift":  # there it is a copy
        assert moved.table_id == first.table_id


def test_a_comment_that_somebody_wrote_stays(duckdb: Bench) -> None:
    table, text = duckdb.table(), 'It\'s \\n "ours"\nline two; --'
    duckdb.ask("CREATE SCHEMA IF NOT EXISTS shop")
    duckdb.ask(f"CREATE TABLE {duckdb.sql(table)} (id bigint)")
    quoted = text.replace("'", "''")
    duckdb.ask(f"COMMENT ON TABLE {duckdb.sql(table)} IS '{quoted}'")
    first = duckdb.load(table, [(1,)], SCHEMA)
    elsewhere = table.replace("shop.", "attic.")
    duckdb.warehouse.move(table, elsewhere)
    second = duckdb.load(elsewhere, [(2,)], SCHEMA, table_id=first.table_id)
    assert second.table_id == first.table_id
    name = elsewhere.partition(".")[2]
    [(found,)] = duckdb.ask("SELECT comment FROM duckdb_tables() WHERE table_name = %s", name)
    assert found.startswith(text)


def test_ids_of_a_database_put_back_from_a_dump_are_not_compared() -> None:
    assert is_other_table("oid:16400/16500", "oid:16400/16600")
    assert not is_other_table("oid:16400/16500", "oid:17400/17500")
    assert not is_other_table("oid:16400/16500", "oid:16400/16500")
