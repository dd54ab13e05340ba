"""What a statement says beside its SELECT is refused by name, never lost."""

from __future__ import annotations

import pytest

from goldsmith.planning.spark_text import as_spark
from goldsmith.planning.sql import SqlReader

SELECT = "SELECT a, b FROM x"


def error(text: str, dialect: str | None = None) -> str:
    return SqlReader(frozenset(("x", "t"))).facts(text, dialect).error or ""


@pytest.mark.parametrize(
    ("text", "dialect", "named"),
    [
        (f"CREATE TABLE t PARTITIONED BY (a) AS {SELECT}", None, "PARTITIONED BY"),
        (f"CREATE TABLE t USING iceberg AS {SELECT}", None, "FILE FORMAT"),
        (f"CREATE TABLE t LOCATION 's3://x/y' AS {SELECT}", None, "LOCATION"),
        (f"CREATE TABLE t TBLPROPERTIES ('k' = 'v') AS {SELECT}", None, "it says K"),
        (f"CREATE TABLE t OPTIONS (k 'v') AS {SELECT}", None, "it says"),
        (f"CREATE TABLE t COMMENT 'mine' AS {SELECT}", None, "COMMENT"),
        (f"CREATE TABLE t CLUSTER BY (a) AS {SELECT}", None, "CLUSTER"),
        (f"CREATE TABLE IF NOT EXISTS t AS {SELECT}", None, "IF NOT EXISTS"),
        (f"CREATE TEMPORARY TABLE t AS {SELECT}", None, "TEMPORARY"),
        (f"CREATE EXTERNAL TABLE t STORED AS PARQUET AS {SELECT}", None, "EXTERNAL"),
        (f"CREATE OR REPLACE TEMP VIEW t AS {SELECT}", None, "it makes a VIEW"),
        (f"CREATE TABLE t DISTKEY(a) SORTKEY(b) AS {SELECT}", "redshift", "DIST KEY"),
        (f"CREATE TABLE t AS {SELECT} WITH NO DATA", "postgres", "WITH DATA"),
        (f"CREATE TABLE t (a INT, b TEXT) AS {SELECT}", "postgres", "gives types"),
        (f"CREATE TABLE t COPY GRANTS AS {SELECT}", "snowflake", "COPY GRANTS"),
        (f"INSERT INTO t PARTITION (d = '1') {SELECT}", None, "PARTITION"),
        (f"INSERT OVERWRITE TABLE t PARTITION (d) {SELECT}", None, "PARTITION"),
        (f"INSERT INTO t BY NAME {SELECT}", None, "BY NAME"),
        (f"INSERT INTO t REPLACE WHERE a = 1 {SELECT}", None, "REPLACE WHERE"),
        (f"INSERT INTO t AS n {SELECT}", None, "alias of the table"),
        (f"INSERT INTO t (a, A) {SELECT}", None, "names a column twice"),
        (f"INSERT INTO t {SELECT} ON CONFLICT (a) DO NOTHING", "postgres", "ON CONFLICT"),
        (f"INSERT INTO t {SELECT} RETURNING a", "postgres", "RETURNING"),
        (f"INSERT OR REPLACE INTO t {SELECT}", "sqlite", "OR REPLACE"),
        (f"INSERT IGNORE INTO t {SELECT}", "mysql", "IGNORE"),
        (
            f"WITH p AS ({SELECT}) INSERT INTO t WITH q AS ({SELECT}) {SELECT}",
            None,
            "a WITH before",
        ),
        ("FROM x INSERT INTO t SELECT a INSERT INTO u SELECT b", None, "a stage runs a SELECT"),
        ("SELECT a INTO t FROM x", "redshift", "INTO"),
        ("SELECT a FROM x FOR UPDATE", "postgres", "FOR UPDATE"),
        ("SELECT a FROM x VERSION AS OF 3", None, "VERSION or TIMESTAMP AS OF"),
        ("SELECT a FROM (SELECT * FROM x TIMESTAMP AS OF '2026-01-01')", None, "TIMESTAMP AS OF"),
        ("SELECT a FROM x AT (OFFSET => -60)", "snowflake", "AT or BEFORE"),
        ("SELECT a FROM x PARTITION (p1)", "mysql", "PARTITION"),
        ("SELECT a FROM ONLY x", "postgres", "ONLY"),
        ("SELECT a FROM x FORMAT JSON", "clickhouse", "FORMAT"),
        ("SELECT a FROM x SETTINGS n = 1", "clickhouse", "SETTINGS"),
        ("SELECT a FROM x OPTION (MAXDOP 1)", "tsql", "option"),
        ("SELECT a FROM x FINAL", "clickhouse", "Final"),
        ("SELECT AS STRUCT a FROM x", "bigquery", "SELECT AS STRUCT"),
        ("WITH d AS (DELETE FROM x RETURNING a) SELECT a FROM d", "postgres", "DELETE"),
        ("SELECT a / b AS c FROM x", "redshift", "drops the fraction"),
        ("SELECT a FROM x -- in c:\\\nWHERE a > 1", None, "a comment ends in a backslash"),
        ("SELECT a FROM x PREWHERE b", "clickhouse", "PREWHERE"),
        ("SELECT a FROM x LIMIT 2 BY b", "clickhouse", "LIMIT BY"),
        ("SELECT a, sum(b) AS b FROM x GROUP BY a WITH TOTALS", "clickhouse", "WITH TOTALS"),
        ("SELECT a FROM x ARRAY JOIN b", "clickhouse", "ARRAY JOIN"),
        ("SELECT a FROM x ANY LEFT JOIN t USING (a)", "clickhouse", "ANY JOIN"),
        ("SELECT a FROM x GLOBAL JOIN t USING (a)", "clickhouse", "GLOBAL JOIN"),
        ("SELECT a FROM (SELECT a FROM x) POSITIONAL JOIN t", "duckdb", "POSITIONAL JOIN"),
        ("SELECT a FROM (SELECT a FROM x) ASOF JOIN t ON a >= b", "duckdb", "ASOF JOIN"),
        ("SELECT a FROM x START WITH b IS NULL CONNECT BY PRIOR a = b", "oracle", "CONNECT BY"),
        ("SELECT a FROM x, unnest(b) WITH ORDINALITY AS u(c, n)", "postgres", "WITH ORDINALITY"),
        ("SELECT * FROM x CROSS JOIN UNNEST(b) WITH ORDINALITY AS u(c, n)", "trino", "ORDINALITY"),
        ("SELECT * RENAME (a AS c) FROM x", "snowflake", "RENAME"),
        ("SELECT * REPLACE (a + 1 AS a) FROM x", "duckdb", "REPLACE"),
        ("WITH c AS MATERIALIZED (SELECT a FROM x) SELECT a FROM c", "postgres", "MATERIALIZED"),
        ("SELECT quantile_cont(a, 0.5) AS m FROM x", "duckdb", "QUANTILE_CONT(a, 0.5)"),
    ],
)
def test_a_clause_outside_the_select_is_refused_by_its_name(
    text: str, dialect: str | None, named: str
) -> None:
    assert named in error(text, dialect)


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        (f"{SELECT}; -- done", None),
        ("SELECT '-- in c:\\\\\n' AS a FROM x -- in c:\\", None),
        (f"{SELECT} /* first */ ; /* last */ ;", None),
        (f"-- why\nINSERT INTO t {SELECT}", None),
        (f"CREATE OR REPLACE TABLE t AS ({SELECT});", None),
        (f"INSERT OVERWRITE t (b, a) {SELECT}", None),
        ("SELECT a FROM x WITH (NOLOCK)", "tsql"),
        ("SELECT a / 2.0, b::decimal(9, 2) / a, a::int / b::int FROM x", "redshift"),
        ("SELECT a / b FROM x", "snowflake"),
    ],
)
def test_what_changes_no_row_is_accepted(text: str, dialect: str | None) -> None:
    assert error(text, dialect) == ""


def test_a_comment_after_the_last_semicolon_is_left_out() -> None:
    assert as_spark("SELECT ';' AS a -- one\nFROM x; -- two; three", None) == (
        "SELECT ';' AS a -- one\nFROM x"
    )


def test_an_insert_runs_its_select_as_it_was_written() -> None:
    text = "INSERT INTO t (a)\nSELECT  date_format(d, 'SSS') AS a -- short\nFROM x;"
    assert as_spark(text, None).lstrip() == "SELECT  date_format(d, 'SSS') AS a -- short\nFROM x"


def test_the_text_is_never_printed_anew() -> None:
    select = "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a), listagg(b)\nFROM x"
    written = as_spark(f"INSERT INTO t (m, l)\n{select}", None)
    assert written.startswith("SELECT `m`, `l` FROM (")
    assert f"\n{select}\n" in written
    for dialect in ("databricks", "spark2"):
        assert as_spark("SELECT to_date(a, 'yyyy-MM-dd') FROM x", dialect).endswith(
            "to_date(a, 'yyyy-MM-dd') FROM x"
        )


def test_a_column_called_insert_is_not_taken_for_the_insert() -> None:
    text = "WITH c AS (SELECT 1 AS insert, a FROM x) INSERT INTO t (b) SELECT a FROM c"
    written = as_spark(text, None)
    assert written.startswith("SELECT `b` FROM (WITH c AS (SELECT 1 AS insert, a FROM x)")


def test_a_column_list_names_the_columns_of_a_query() -> None:
    facts = SqlReader(frozenset()).facts("INSERT INTO t (b, a) SELECT x, y FROM z")
    assert facts.columns == ("b", "a")
