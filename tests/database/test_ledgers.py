"""Which ledger a stage goes on with, on SQLite and PostgreSQL: renumbered, renamed, swapped."""

from __future__ import annotations

from typing import Any

import pytest

from goldsmith.catalog.catalog import Catalog
from goldsmith.planning.catalog_indexer import CatalogIndexer
from goldsmith.planning.ledger_problems import HistoryUnclear, TableMoved, TargetRenamed
from goldsmith.planning.ledgers import LedgerMatch, Ledgers
from plain_sql import PlainSql


@pytest.fixture
def shop(plain: PlainSql) -> PlainSql:
    """Two stages, each with a ledger of what it has loaded."""
    plain.run("INSERT INTO pipelines (pipeline_id) VALUES ('p')")
    plain.run("INSERT INTO sources (source_id, s3_path) VALUES ('raw', 's3://b/raw/')")
    for target in ("bronze", "silver"):
        plain.run(
            f"INSERT INTO targets (target_id, location) VALUES ('{target}', 's3://b/{target}')"
        )
    stage(plain, 1, "raw", "bronze")
    stage(plain, 2, "bronze", "silver")
    ledger(plain, "p-1", 1, "raw", "bronze")
    ledger(plain, "p-2", 2, "bronze", "silver")
    return plain


def stage(plain: PlainSql, order: int, source: str, target: str, name: str | None = None) -> None:
    name_sql = "NULL" if name is None else f"'{name}'"
    plain.run(
        "INSERT INTO stages (pipeline_id, stage_order, source_id, target_id, stage_name, layer,"
        f" write_mode) VALUES ('p', {order}, '{source}', '{target}', {name_sql}, 'silver',"
        " 'append')"
    )


def ledger(plain: PlainSql, id_: str, order: int, source: str, target: str, **more: Any) -> None:
    row = {
        "ledger_id": id_,
        "pipeline_id": "p",
        "stage_order": order,
        "source_id": source,
        "target_id": target,
        "table_name": f"lake.silver.{target}",
        "location": f"s3://b/{target}",
        "published_by": f"run_of_{id_}",
        **more,
    }
    values_sql = ", ".join("NULL" if v is None else f"'{v}'" for v in row.values())
    plain.run(f"INSERT INTO stage_ledgers ({', '.join(row)}) VALUES ({values_sql})")


@pytest.fixture
def match(catalog: Catalog, catalog_indexer: CatalogIndexer) -> Any:
    def of(order: int, pipeline: str = "p") -> LedgerMatch:
        context = catalog_indexer.catalog_index().stages[f"{pipeline}-{order}"]
        return Ledgers(catalog).match(context)

    return of


def test_a_stage_has_the_ledger_of_its_number(shop: PlainSql, match: Any) -> None:
    assert [(match(n).ledger_id, match(n).problem) for n in (1, 2)] == [
        ("p-1", None),
        ("p-2", None),
    ]


def test_renumbered_stages_keep_their_ledgers(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE stages SET stage_order = stage_order + 10")
    assert [(match(n).ledger_id, match(n).problem) for n in (11, 12)] == [
        ("p-1", None),
        ("p-2", None),
    ]


def test_swapped_stages_swap_their_ledgers(shop: PlainSql, match: Any) -> None:
    for old, new in ((1, 9), (2, 1), (9, 2)):
        shop.run(f"UPDATE stages SET stage_order = {new} WHERE stage_order = {old}")
    assert (match(2).ledger_id, match(1).ledger_id) == ("p-1", "p-2")


def test_a_stage_put_before_others_begins_a_ledger_of_its_own(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE stages SET stage_order = stage_order + 1 WHERE stage_order = 2")
    shop.run("UPDATE stages SET stage_order = stage_order + 1 WHERE stage_order = 1")
    shop.run("INSERT INTO targets (target_id, location) VALUES ('new', 's3://b/new')")
    stage(shop, 1, "raw", "new")
    assert (match(2).ledger_id, match(3).ledger_id) == ("p-1", "p-2")
    new = match(1)
    assert (new.ledger_id, new.ledger, new.problem) == ("p-1:new", None, None)


def test_a_pipeline_that_shares_a_source_begins_a_ledger_of_its_own(
    shop: PlainSql, match: Any
) -> None:
    shop.run("INSERT INTO pipelines (pipeline_id) VALUES ('q')")
    shop.run("INSERT INTO targets (target_id, location) VALUES ('other', 's3://b/other')")
    shop.run(
        "INSERT INTO stages (pipeline_id, stage_order, source_id, target_id)"
        " VALUES ('q', 1, 'raw', 'other')"
    )
    found = match(1, "q")
    assert (found.ledger_id, found.ledger, found.problem) == ("q-1", None, None)


def test_writers_of_one_target_are_told_apart_by_their_source(shop: PlainSql, match: Any) -> None:
    stage(shop, 3, "other", "bronze")
    ledger(shop, "p-3", 3, "other", "bronze")
    for old, new in ((1, 9), (3, 1), (9, 3)):
        shop.run(f"UPDATE stages SET stage_order = {new} WHERE stage_order = {old}")
    assert (match(3).ledger_id, match(1).ledger_id) == ("p-1", "p-3")


def test_writers_of_one_source_are_told_apart_by_their_name(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE stages SET stage_name = 'a' WHERE stage_order = 1")
    shop.run("UPDATE stage_ledgers SET stage_name = 'a' WHERE ledger_id = 'p-1'")
    stage(shop, 3, "raw", "bronze", "b")
    ledger(shop, "p-3", 3, "raw", "bronze", stage_name="b")
    for old, new in ((1, 9), (3, 1), (9, 3)):
        shop.run(f"UPDATE stages SET stage_order = {new} WHERE stage_order = {old}")
    assert (match(3).ledger_id, match(1).ledger_id) == ("p-1", "p-3")


def test_writers_nobody_can_tell_apart_are_refused(shop: PlainSql, match: Any) -> None:
    stage(shop, 3, "raw", "bronze")
    ledger(shop, "p-3", 3, "raw", "bronze")
    shop.run("UPDATE stages SET stage_order = stage_order + 10 WHERE target_id = 'bronze'")
    for order in (11, 13):
        assert isinstance(match(order).problem, HistoryUnclear)


def test_a_second_stage_of_the_same_source_is_new(shop: PlainSql, match: Any) -> None:
    stage(shop, 3, "raw", "bronze")
    assert (match(1).ledger_id, match(3).ledger, match(3).problem) == ("p-1", None, None)


def test_a_renamed_target_is_refused(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE targets SET target_id = 'silver2' WHERE target_id = 'silver'")
    shop.run("UPDATE stages SET target_id = 'silver2' WHERE target_id = 'silver'")
    problem = match(2).problem
    assert isinstance(problem, TargetRenamed)
    assert "goldsmith datasets move silver silver2" in problem.hint
    shop.run("UPDATE stages SET stage_order = 5 WHERE stage_order = 2")
    assert isinstance(match(5).problem, TargetRenamed)  # its location tells


def test_a_target_named_back_goes_on(shop: PlainSql, match: Any) -> None:
    ledger(shop, "p-2:silver2", 2, "bronze", "silver2")
    assert (match(2).ledger_id, match(2).problem) == ("p-2", None)


def test_another_layer_is_refused(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE stages SET layer = 'gold' WHERE stage_order = 2")
    assert isinstance(match(2).problem, TableMoved)


def test_a_ledger_of_nothing_keeps_nobody_from_anything(shop: PlainSql, match: Any) -> None:
    shop.run("UPDATE stage_ledgers SET published_by = NULL")
    shop.run("UPDATE stages SET layer = 'gold', stage_order = stage_order + 10")
    shop.run("UPDATE stages SET target_id = 'new' WHERE stage_order = 12")
    assert [match(order).problem for order in (11, 12)] == [None, None]
