"""A stage's statement gives the rows that Spark gives for its SELECT, whatever the SELECT says."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest
from pyspark.sql import SparkSession
from sqlglot.errors import SqlglotError

from goldsmith.engine.shape.shape import over_views, view_names
from goldsmith.planning.query import parse

#: What a dataset's id is called by in the SELECT that Spark runs on its own.
VIEWS = {"orders": "v0", "people": "v1", "analytics.daily": "v2", "odd-id.x y": "v3"}


@pytest.fixture(scope="module")
def session(spark: SparkSession) -> SparkSession:
    own = spark.newSession()
    orders = """VALUES (1L, 'ann', 'a', 10, array('x', 'y')), (2, 'bob', 'b', 20, array('z')),
        (3, 'ann', 'b', 30, array()), (4, 'cid', 'a', 7, NULL), (5, 'ann', 'a', 2, array('x'))
        AS t(id, who, kind, amount, items)"""
    people = "VALUES ('ann', 40, 1), ('bob', 50, 2) AS t(who, age, id)"
    daily = "VALUES ('2026-01-01', 3, named_struct('a', 1, 'b', 2)) AS t(day, n, s)"
    for view, plain, rows in (
        ("v0", "orders", orders),
        ("v1", "people", people),
        ("v2", "daily", daily),
        ("v3", "odd", people),
    ):
        for name in (view, plain):
            own.sql(f"CREATE TEMPORARY VIEW {name} AS SELECT * FROM {rows}")
    return own


Rows = tuple[list[str], list[str]]


@cache
def rows_of(session: SparkSession, text: str) -> Rows:
    """Names of columns and rows; of a text that occurs often, once."""
    found = session.sql(text)
    return found.columns, sorted(repr(tuple(row)) for row in found.collect())


def same(session: SparkSession, statement: str, dialect: str | None, plain: str) -> None:
    columns, rows = rows_of(session, plain)
    assert rows
    assert rows_of(session, over_views(statement, dialect, VIEWS)) == (columns, rows)


SELECTS = (
    "SELECT * FROM orders",
    "FROM orders SELECT id, who",
    "SELECT o.id, p.age FROM orders o JOIN people p ON o.who = p.who",
    "SELECT orders.id, people.age FROM orders, people WHERE orders.who = people.who",
    "SELECT o.id FROM orders o LEFT ANTI JOIN people USING (who)",
    "SELECT * FROM (SELECT kind, who, amount FROM orders)"
    " PIVOT (sum(amount) FOR kind IN ('a', 'b'))",
    "SELECT * FROM orders PIVOT (sum(amount) AS s FOR kind IN ('a' AS x, 'b' AS y)) WHERE id < 3",
    "SELECT * FROM people UNPIVOT (value FOR name IN (age, id))",
    "SELECT p.* FROM people UNPIVOT INCLUDE NULLS (value FOR name IN (age, id)) AS p",
    "SELECT id, item FROM orders LATERAL VIEW OUTER explode(items) t AS item",
    "SELECT orders.id, t.item FROM orders, LATERAL explode(orders.items) AS t(item)",
    "SELECT * FROM orders TABLESAMPLE (100 PERCENT)",
    "SELECT orders.id FROM orders TABLESAMPLE (3 ROWS) WHERE orders.id > 0",
    "SELECT o.id FROM orders TABLESAMPLE (BUCKET 1 OUT OF 1) AS o",
    "SELECT x.a, x.e FROM orders AS x(a, b, c, d, e)",
    "SELECT /*+ BROADCAST(people) */ orders.id FROM orders JOIN people ON orders.who = people.who",
    "SELECT id FROM orders WHERE EXISTS (SELECT 1 FROM people WHERE people.who = orders.who)",
    "SELECT id, (SELECT max(age) FROM people p WHERE p.who = o.who) AS age FROM orders o",
    "WITH orders AS (SELECT id FROM orders WHERE id > 2) SELECT * FROM orders",
    "WITH people AS (SELECT 9 AS id) SELECT orders.id, people.id AS nine FROM orders, people",
    "SELECT * FROM (WITH o AS (SELECT * FROM orders) SELECT id FROM o) JOIN people USING (id)",
    "SELECT `orders`.`id` FROM `orders`",
    "((SELECT id FROM orders))",
    "(SELECT id FROM orders ORDER BY id) LIMIT 2",
    "(SELECT id FROM orders) UNION ALL (SELECT id FROM people)",
    "SELECT id FROM orders UNION ALL SELECT id FROM people ORDER BY id LIMIT 3",
    "SELECT kind, count(*) AS n FROM orders GROUP BY ROLLUP (kind) HAVING n > 1",
    "SELECT id, date_format(timestamp'2026-01-02 03:04:05.678', 'EEEE yyyy SSS') AS t FROM orders",
    "SELECT id, 'FROM orders; -- é' AS text, \"it's\" AS other, r'\\d' AS raw FROM orders",
    "SELECT o.id + r.id AS both FROM orders o CROSS JOIN range(2) r",
    "SELECT * FROM VALUES (1, 'x'), (2, 'y') AS t(id, text) JOIN orders USING (id)",
    "SELECT * EXCEPT (items) FROM orders DISTRIBUTE BY kind SORT BY id",
    "SELECT id FROM orders |> WHERE id > 2 |> SELECT id + 1 AS next",
)


@pytest.mark.parametrize("select", SELECTS)
def test_a_select_gives_its_rows_alone_and_within_any_statement(
    session: SparkSession, select: str
) -> None:
    for statement in (
        select,
        f"{select};",
        f"-- why\n{select} -- what\n;\n-- done: FROM people\n;",
        f"/* é */ INSERT INTO t {select};",
        f"INSERT OVERWRITE TABLE t {select}",
        f"CREATE TABLE shop.t AS {select}",
        f"CREATE OR REPLACE TABLE t AS\n{select}\n-- done",
    ):
        same(session, statement, "spark", select)


@pytest.mark.parametrize("select", SELECTS)
def test_a_select_that_is_printed_anew_gives_its_rows_or_is_refused(
    session: SparkSession, select: str
) -> None:
    try:
        text = over_views(f"INSERT INTO t {select}", "hive", VIEWS)
    except (ValueError, SqlglotError):
        return
    assert rows_of(session, text) == rows_of(session, select)


@pytest.mark.parametrize(
    ("statement", "plain"),
    [
        (
            "SELECT analytics.daily.day, analytics.daily.s.b FROM analytics.daily",
            "SELECT daily.day, daily.s.b FROM daily",
        ),
        ("SELECT analytics.daily.* FROM analytics.daily", "SELECT daily.* FROM daily"),
        ("SELECT `odd-id.x y`.age FROM `odd-id.x y`", "SELECT age FROM odd"),
        (
            "WITH daily AS (SELECT 1 AS x) SELECT day, x FROM analytics.daily, daily AS other",
            "SELECT day, 1 AS x FROM daily",
        ),
        (
            "WITH x AS (SELECT id FROM orders) INSERT INTO t SELECT id FROM x WHERE id > 1",
            "SELECT id FROM orders WHERE id > 1",
        ),
        ("INSERT INTO t (b, a) SELECT id, who FROM orders", "SELECT id AS b, who AS a FROM orders"),
        (
            "INSERT INTO t (age, who, n) SELECT * FROM people",
            "SELECT who AS age, age AS who, id AS n FROM people",
        ),
        (
            "INSERT INTO t (b, `a a`)"
            " WITH x AS (SELECT id, upper(who) FROM orders) SELECT * FROM x",
            "SELECT id AS b, upper(who) AS `a a` FROM orders",
        ),
        (
            "INSERT INTO t (who, id) SELECT id, who FROM orders ORDER BY id DESC LIMIT 2",
            "SELECT id AS who, who AS id FROM orders WHERE id > 3",
        ),
        (
            "INSERT INTO t (n) SELECT id FROM orders UNION ALL SELECT age FROM people",
            "SELECT id AS n FROM orders UNION ALL SELECT age FROM people",
        ),
    ],
)
def test_names_and_column_lists_are_followed(
    session: SparkSession, statement: str, plain: str
) -> None:
    same(session, statement, None, plain)


@pytest.mark.parametrize(
    ("statement", "plain"),
    [
        (
            "SELECT silver.orders.id FROM silver.orders WHERE EXISTS"
            " (SELECT 1 FROM bronze.orders WHERE bronze.orders.id = silver.orders.id)",
            "SELECT v0.id FROM v0 WHERE EXISTS (SELECT 1 FROM v1 WHERE v1.id = v0.id)",
        ),
        (
            "SELECT silver.orders.* FROM silver.orders JOIN bronze.orders"
            " ON silver.orders.who = bronze.orders.who",
            "SELECT v0.* FROM v0 JOIN v1 ON v0.who = v1.who",
        ),
        (
            "SELECT orders.id FROM orders WHERE orders.id IN"
            " (SELECT bronze.orders.id FROM bronze.orders WHERE bronze.orders.who = orders.who)",
            "SELECT v0.id FROM v0 WHERE v0.id IN (SELECT v1.id FROM v1 WHERE v1.who = v0.who)",
        ),
        (
            "SELECT silver.orders.id FROM silver.orders WHERE NOT EXISTS"
            " (SELECT 1 FROM people AS orders WHERE orders.id = silver.orders.id)",
            "SELECT v0.id FROM v0 WHERE NOT EXISTS (SELECT 1 FROM v1 WHERE v1.id = v0.id)",
        ),
        (
            "WITH orders AS (SELECT 3 AS id) SELECT silver.orders.id, orders.id AS three"
            " FROM silver.orders, orders",
            "SELECT v0.id, 3 AS three FROM v0",
        ),
        (
            "SELECT id FROM silver.orders UNION ALL SELECT orders.id FROM bronze.orders",
            "SELECT id FROM v0 UNION ALL SELECT id FROM v1",
        ),
    ],
)
@pytest.mark.parametrize("dialect", [None, "hive"])
def test_datasets_that_end_in_the_same_name_are_told_apart(
    session: SparkSession, statement: str, plain: str, dialect: str | None
) -> None:
    views = {"silver.orders": "v0", "orders": "v0", "bronze.orders": "v1", "people": "v1"}
    columns, rows = rows_of(session, plain)
    assert rows
    assert rows_of(session, over_views(statement, dialect, views)) == (columns, rows)


#: Functions that sqlglot prints for Spark as other ones.
BENT = (
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY amount)",
    "percentile_disc(0.5) WITHIN GROUP (ORDER BY amount DESC)",
    "listagg(who) WITHIN GROUP (ORDER BY id)",
    "max(to_date('2026', 'yyyy'))",
    "max(log10(1000))",
    "max(try_variant_get(parse_json('{\"a\": 1}'), '$.a', 'int'))",
    "max(to_char(454, '999'))",
    "max(unix_date(DATE'1970-01-02'))",
    "max(TIME'06:30:45')",
)


@pytest.mark.parametrize("function", BENT)
def test_functions_mean_the_same_when_a_statement_is_changed(
    session: SparkSession, function: str
) -> None:
    plain = f"SELECT {function} AS v FROM orders"
    same(session, f"INSERT INTO t (v) SELECT {function} FROM orders", None, plain)
    same(session, plain, "databricks", plain)
    with_file = over_views(f"SELECT {function} OVER () AS v FROM orders", None, VIEWS)
    assert function in with_file


def test_the_source_file_is_added_to_the_text_as_it_is(spark: SparkSession) -> None:
    own = spark.newSession()
    own.sql(
        "CREATE TEMPORARY VIEW v0 AS SELECT id, who, 'f' || id AS _source_file FROM VALUES"
        " (1, 'ann'), (2, NULL) AS t(id, who)"
    )
    own.sql("CREATE TEMPORARY VIEW v1 AS SELECT 1 AS id, 40 AS age")
    for text in (
        "SELECT id FROM orders",
        "SELECT id -- FROM people\nFROM orders -- done",
        "FROM orders SELECT id WHERE id > 0",
        "FROM orders |> SELECT id",
        "SELECT id FROM orders ORDER BY id",
        "WITH c AS (SELECT id FROM orders) SELECT c.id FROM c",
        "SELECT id FROM orders WHERE who IS DISTINCT FROM 'x'",
        "(SELECT id FROM orders WHERE id = 1) UNION ALL (SELECT id FROM orders WHERE id = 2)",
        "SELECT id FROM (SELECT id, trim(BOTH ' ' FROM who) AS who FROM orders)",
        "INSERT INTO t SELECT id FROM orders",
    ):
        changed = over_views(text, None, {"orders": "v0"}, source_file_of="orders")
        assert rows_of(own, changed) == (["id", "_source_file"], ["(1, 'f1')", "(2, 'f2')"]), text
    views = {"silver.orders": "v0", "bronze.orders": "v1"}
    joined = "SELECT silver.orders.id FROM silver.orders JOIN bronze.orders USING (id)"
    changed = over_views(joined, None, views, source_file_of="silver.orders")
    assert rows_of(own, changed) == (["id", "_source_file"], ["(1, 'f1')"])


def test_a_comment_that_ends_in_a_backslash_is_refused_because_spark_goes_on(
    session: SparkSession,
) -> None:
    text = "SELECT id FROM people -- in c:\\\nWHERE id > 9"
    assert len(session.sql(text).collect()) == 2
    assert "backslash" in str(parse(text, None).error)


def test_every_aggregate_of_spark_is_recognised(spark: SparkSession) -> None:
    jvm: Any = spark.sparkContext._jvm
    registry = jvm.org.apache.spark.sql.catalyst.analysis.FunctionRegistry.builtin()
    names = registry.listFunction().iterator()
    aggregates = set()
    while names.hasNext():
        name = names.next()
        if registry.lookupFunction(name).get().getGroup() == "agg_funcs":
            aggregates.add(name.funcName())
    assert len(aggregates) > 70
    for name in sorted(aggregates):
        found = [parse(f"SELECT {name}({args}) AS v FROM t", None) for args in ("a", "a, b", "")]
        assert any(facts.aggregates for facts in found if facts.error is None), name
        assert all(facts.aggregates for facts in found if facts.error is None), name


PIVOT = (
    "SELECT * FROM (SELECT kind, who, amount FROM orders) PIVOT (sum(amount) FOR kind IN ('a','b'))"
)


@pytest.mark.parametrize(
    ("statement", "dialect", "plain"),
    [
        (
            "SELECT * FROM orders PIVOT (SUM(amount) FOR kind IN ('a', 'b'))",
            "redshift",
            SELECTS[6]
            .replace(" AS s", "")
            .replace("'a' AS x", "'a'")
            .replace("'b' AS y", "'b'")
            .replace(" WHERE id < 3", ""),
        ),
        (f"INSERT INTO t {PIVOT}", "databricks", PIVOT),
        (f"CREATE TABLE t AS {PIVOT}", "duckdb", PIVOT),
        ("SELECT * FROM orders TABLESAMPLE (100 PERCENT)", "hive", "SELECT * FROM orders"),
        (
            "SELECT orders.id FROM orders TABLESAMPLE BERNOULLI (100)",
            "postgres",
            "SELECT id FROM orders",
        ),
        (
            "INSERT INTO t (b, a) SELECT id, who FROM orders",
            "redshift",
            "SELECT id AS b, who AS a FROM orders",
        ),
        (
            "CREATE TABLE t (b, a) AS SELECT id, who FROM orders",
            "postgres",
            "SELECT id AS b, who AS a FROM orders",
        ),
        (
            "(SELECT id FROM orders ORDER BY id) LIMIT 2; -- done",
            "postgres",
            "SELECT id FROM orders WHERE id < 3",
        ),
        ("SELECT analytics.daily.day FROM analytics.daily", "snowflake", "SELECT day FROM daily"),
        (
            "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY amount) AS m,"
            " percentile_disc(0.4) WITHIN GROUP (ORDER BY amount DESC) AS d"
            " FROM orders WHERE id < 5",
            "redshift",
            "SELECT 15.0D AS m, 20.0D AS d",
        ),
        (
            "SELECT who, id FROM orders"
            " QUALIFY ROW_NUMBER() OVER (PARTITION BY who ORDER BY id) = 1",
            "snowflake",
            "SELECT who, min(id) AS id FROM orders GROUP BY who",
        ),
        (
            "SELECT DISTINCT ON (who) who, id FROM orders ORDER BY who, id DESC",
            "postgres",
            "SELECT who, max(id) AS id FROM orders GROUP BY who",
        ),
        (
            "SELECT id, item FROM orders CROSS JOIN UNNEST(items) AS t(item)",
            "trino",
            "SELECT id, explode(items) AS item FROM orders",
        ),
        (
            "SELECT TOP 2 id FROM orders ORDER BY id",
            "redshift",
            "SELECT id FROM orders WHERE id < 3",
        ),
        (
            "SELECT id::int / 2::int AS half, amount / 4.0 AS part FROM orders",
            "redshift",
            "SELECT id DIV 2 AS half, amount / 4.0 AS part FROM orders",
        ),
    ],
)
def test_another_dialect_gives_the_same_rows(
    session: SparkSession, statement: str, dialect: str, plain: str
) -> None:
    same(session, statement, dialect, plain)


def test_a_dataset_may_have_an_id_of_any_letters(session: SparkSession) -> None:
    datasets = ("größe", "日本", "analytics.täglich", "Ωmega x-1", "a" * 200)
    views = view_names(datasets)
    for dataset, view in views.items():
        session.range(1).createOrReplaceTempView(view)
        text = over_views(f"SELECT t.id FROM `{dataset}` AS t", None, views)
        assert session.sql(text).count() == 1, dataset
