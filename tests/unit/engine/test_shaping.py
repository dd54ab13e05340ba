from __future__ import annotations

import pytest

from goldsmith.engine.shape.shape import over_views

VIEWS = {"orders": "v0", "profiles": "v1", "analytics.daily": "v2"}


@pytest.mark.parametrize(
    ("sql", "runs"),
    [
        pytest.param(
            "SELECT orders.id\nFROM orders -- them\nLEFT JOIN profiles p ON p.id = orders.id;",
            "SELECT orders.id\nFROM `v0` AS `orders` -- them\nLEFT JOIN `v1` p ON p.id = orders.id",
            id="only names of datasets change, comments and lines stay",
        ),
        pytest.param(
            "SELECT analytics.daily.day FROM analytics.daily",
            "SELECT `daily`.day FROM `v2` AS `daily`",
            id="a dotted id is called by its last part",
        ),
        pytest.param(
            "SELECT payload.user.id FROM orders",
            "SELECT payload.user.id FROM `v0` AS `orders`",
            id="a field of a column is no dotted id",
        ),
        pytest.param(
            "WITH orders AS (SELECT * FROM orders) SELECT * FROM orders",
            "WITH orders AS (SELECT * FROM `v0` AS `orders`) SELECT * FROM orders",
            id="a common table expression hides the dataset after it, not inside it",
        ),
    ],
)
def test_dataset_ids_become_views(sql: str, runs: str) -> None:
    assert over_views(sql, None, VIEWS) == runs


def test_another_dialect_is_translated() -> None:
    text = over_views("SELECT at::date AS day FROM orders", "redshift", VIEWS)

    assert text == "SELECT\n  CAST(at AS DATE) AS day\nFROM v0 AS orders"


def test_an_insert_runs_its_select() -> None:
    text = over_views("INSERT INTO anywhere (a) SELECT id AS a FROM orders", "spark", VIEWS)

    assert text == "SELECT id AS a FROM `v0` AS `orders`"


@pytest.mark.parametrize(
    ("sql", "has_file"),
    [
        pytest.param("SELECT id FROM orders", True, id="rows pass one by one"),
        pytest.param("SELECT id FROM orders o", True, id="under an alias"),
        pytest.param("SELECT * FROM orders", False, id="a star has it anyway"),
        pytest.param("SELECT DISTINCT id FROM orders", False, id="distinct rows have many files"),
        pytest.param("SELECT COUNT(*) AS n FROM orders", False, id="so have totals"),
        pytest.param("SELECT id FROM profiles", False, id="another dataset's file is not its own"),
    ],
)
def test_bronze_keeps_the_name_of_the_file_where_it_can(sql: str, has_file: bool) -> None:
    text = over_views(sql, None, VIEWS, source_file_of="orders")

    assert ("_source_file" in text) == has_file
