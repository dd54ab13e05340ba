"""Checks that a query implies for the table it fills."""

from __future__ import annotations

from typing import Any

import pytest

from goldsmith.catalog.conventions import Convention
from goldsmith.catalog.pipelines import Stage
from goldsmith.catalog.rules import RuleSet
from goldsmith.digest.catalog_rows import CatalogView, rows_of
from goldsmith.digest.digest import digest
from goldsmith.digest.suggested_rules import rules_of


def checks(sql: str, dialect: str = "snowflake") -> list[dict[str, Any]]:
    return [
        dict(rule.check) for s in digest(sql, dialect=dialect).statements for rule in rules_of(s)
    ]


UNIQUE_DAY = {"type": "unique", "columns": ["day"]}


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        pytest.param(
            "CREATE TABLE t AS SELECT d AS day, sum(x) AS x FROM s GROUP BY d",
            [UNIQUE_DAY],
            id="GROUP BY keys are unique, by their name in the target",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT d AS day, sum(x) AS x FROM s GROUP BY 1",
            [UNIQUE_DAY],
            id="a key by position",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT sum(x) AS x FROM s GROUP BY d",
            [],
            id="a key that is not selected implies nothing",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT d, e, sum(x) AS x FROM s GROUP BY ROLLUP (d, e)",
            [],
            id="a rollup repeats keys",
        ),
        pytest.param(
            "INSERT INTO t (day) SELECT d FROM s QUALIFY row_number() OVER "
            "(PARTITION BY d ORDER BY ts) = 1",
            [UNIQUE_DAY],
            id="the first row of each partition, by the column list",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT a, b, c FROM s "
            "WHERE a IS NOT NULL AND b IN ('x', 'y') AND c BETWEEN -1 AND 2.5",
            [
                {"type": "not_null", "column": "a"},
                {"type": "one_of", "column": "b", "values": ["x", "y"]},
                {"type": "in_range", "column": "c", "min": -1, "max": 2.5},
            ],
            id="conditions that every row passed",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT a FROM s WHERE a IS NOT NULL OR b = 1",
            [],
            id="one of two conditions implies nothing",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT s.k, u.v FROM s JOIN u ON s.k = u.k",
            [{"type": "not_null", "column": "k"}],
            id="keys of an inner join hold a value",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT s.k, u.v FROM s LEFT JOIN u ON s.k = u.k",
            [],
            id="keys of a left join may be null",
        ),
        pytest.param(
            "CREATE TABLE t AS SELECT a FROM s WHERE a IS NOT NULL UNION ALL SELECT a FROM u",
            [],
            id="a branch of a union implies nothing of the whole",
        ),
    ],
)
def test_a_query_implies_checks(sql: str, expected: list[dict[str, Any]]) -> None:
    assert checks(sql) == expected


def layers(**more: Any) -> dict[str, Convention]:
    return {
        name: Convention(layer=name, location=f"s3://b/{name}/{{name}}/", type="s3", **more)
        for name in ("raw", "bronze", "silver", "gold")
    }


SQL = "CREATE TABLE gold_days AS SELECT d AS day, sum(x) AS x FROM silver_s GROUP BY d"


def test_apply_writes_the_implied_checks_as_a_rule_set_that_warns() -> None:
    rows = rows_of(digest(SQL), CatalogView(conventions=layers()), "p", "spark")
    rule_set = next(row for row in rows if isinstance(row, RuleSet))
    stage = next(row for row in rows if isinstance(row, Stage))
    assert rule_set.check_def == (UNIQUE_DAY,)
    assert rule_set.severity == "warning"
    assert stage.validation_set_id == rule_set.rule_set_id == "gold_days_from_sql"


def test_the_rule_set_of_a_convention_wins() -> None:
    view = CatalogView(conventions=layers(rule_set_id="row_count_gt0"))
    rows = rows_of(digest(SQL), view, "p", "spark")
    assert not [row for row in rows if isinstance(row, RuleSet)]
