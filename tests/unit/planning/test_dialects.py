"""What another dialect means otherwise than Spark is refused, with what to write instead."""

from __future__ import annotations

import pytest

from goldsmith.planning.query import parse
from goldsmith.planning.spark_text import as_spark
from goldsmith.planning.sql import SqlReader

REFUSED = [
    ("DATEDIFF(week, a, b)", "redshift", "TIMESTAMPDIFF"),
    ("DATEDIFF(week, a, b)", "snowflake", "TIMESTAMPDIFF"),
    ("DATEDIFF(week, a, b)", "tsql", "TIMESTAMPDIFF"),
    ("DATE_DIFF(a, b, WEEK)", "bigquery", "TIMESTAMPDIFF"),
    ("DATE_DIFF('month', a, b)", "trino", "TIMESTAMPDIFF"),
    ("DATE_TRUNC(a, WEEK)", "bigquery", "Monday"),
    ("DATETRUNC(week, a)", "tsql", "Monday"),
    ("DATE_TRUNC('decade', a)", "postgres", "Monday"),
    ("DAYOFWEEK(a)", "snowflake", "1 on Sunday"),
    ("DATEPART(weekday, a)", "tsql", "1 on Sunday"),
    ("EXTRACT(DOW FROM a)", "trino", "1 on Sunday"),
    ("EXTRACT(WEEK FROM a)", "bigquery", "weekofyear"),
    ("EXTRACT(EPOCH FROM a)", "postgres", "weekofyear"),
    ("WEEKDAY(a)", "mysql", "Spark SQL"),
    ("WEEKDAY(a)", "duckdb", "Spark SQL"),
    ("ADD_MONTHS(a, 1)", "redshift", "INTERVAL"),
    ("ADD_MONTHS(a, 1)", "oracle", "Spark SQL"),
    ("MONTHS_BETWEEN(a, b)", "snowflake", "Spark SQL"),
    ("NEXT_DAY(a, 'mon')", "snowflake", "Spark SQL"),
    ("a AT TIME ZONE 'Europe/Berlin'", "postgres", "from_utc_timestamp"),
    ("TO_CHAR(a, 'Mon')", "postgres", "yyyy-MM-dd"),
    ("TO_DATE(a, 'YYYY-MM-DD HH24:MI')", "oracle", "yyyy-MM-dd"),
    ("TO_CHAR(a, 'YYYY')", "snowflake", "Spark SQL"),
    ("CONVERT(VARCHAR(10), a, 103)", "tsql", "Spark SQL"),
    ("FORMAT(a, 'MMMM')", "tsql", "yyyy-MM-dd"),
    ("CAST(a AS DATE)", "oracle", "time of day"),
    ("CAST(a AS DATE)", "sqlite", "DATE(x)"),
    ("CAST(a AS NUMERIC)", "bigquery", "precision"),
    ("CAST(a AS DECIMAL(9, 2))", "sqlite", "ROUND"),
    ("CAST(a AS VARCHAR(3))", "redshift", "LEFT(CAST(a AS STRING), 3)"),
    ("CAST(a AS VARCHAR)", "tsql", "LEFT(CAST(a AS STRING), 30)"),
    ("CAST(a AS CHAR(3))", "postgres", "RPAD"),
    ("CAST(a AS JSON)", "postgres", "Spark SQL"),
    ("TRY_CAST(a AS INT)", "snowflake", "ROUND"),
    ("a / b", "postgres", "both to BIGINT"),
    ("AVG(a)", "tsql", "DECIMAL"),
    ("AVG(a)", "redshift", "DECIMAL"),
    ("ROUND(a)", "mysql", "DECIMAL"),
    ("ROUND(a, 1, 1)", "tsql", "FLOOR"),
    ("TRUNC(a, 1)", "postgres", "ROUND"),
    ("LOG(a, 2)", "bigquery", "log(base, x)"),
    ("LOG(2, a)", "trino", "log(base, x)"),
    ("a + b", "tsql", "CONCAT"),
    ("a || b", "oracle", "empty text"),
    ("COALESCE(a, '')", "oracle", "empty text"),
    ("SUBSTRING(a, 0, 2)", "postgres", "below 1"),
    ("SUBSTR(a, b)", "redshift", "below 1"),
    ("LEFT(a, -1)", "duckdb", "fewer than 0"),
    ("LENGTH(a)", "mysql", "octet_length"),
    ("LEN(a)", "tsql", "char_length"),
    ("CHARINDEX('x', a)", "tsql", "LOWER"),
    ("REPLACE(a, 'x', 'y')", "tsql", "LOWER"),
    ("INSTR(a, 'x', 1, 2)", "oracle", "LOCATE"),
    ("SPLIT_PART(a, ',', 9)", "trino", "Spark SQL"),
    ("a = 'Open'", "mysql", "LOWER"),
    ("a IN ('Open')", "tsql", "LOWER"),
    ("CASE a WHEN 'x' THEN 1 END", "mysql", "LOWER"),
    ("a LIKE 'x%'", "sqlite", "LOWER"),
    ("LOWER(a) LIKE '[a-c]%'", "tsql", "% and _"),
    (r"a LIKE '10\%'", "duckdb", "% and _"),
    ("a RLIKE 'x'", "snowflake", "RLIKE"),
    (r"a ~ '\d'", "postgres", "RLIKE"),
    ("REGEXP_REPLACE(a, 'x', 'y')", "postgres", "every match"),
    (r"REGEXP_REPLACE(a, '(x)', '\1', 'g')", "postgres", "every match"),
    ("REGEXP_REPLACE(a, 'x', 'y', 'gi')", "duckdb", "every match"),
    ("ARRAY_AGG(a)", "postgres", "Spark SQL"),
    ("a[-1]", "duckdb", "element_at"),
    ("a[1]", "trino", "element_at"),
    ("a ->> 'x'", "postgres", "Spark SQL"),
    ("DECODE(a, NULL, 1, 2)", "redshift", "Spark SQL"),
    ("MAX_BY(a, b)", "duckdb", "Spark SQL"),
    ("DAYNAME(a)", "duckdb", "Spark SQL"),
    ("HASH(a)", "snowflake", "Spark SQL"),
    ("STR_TO_MAP(a)", "mysql", "Spark SQL"),
    ("RANDOM()", "sqlite", "Spark SQL"),
    ("0x1F", "postgres", "Spark SQL"),
]


@pytest.mark.parametrize(("expression", "dialect", "hint"), REFUSED)
def test_what_spark_would_take_otherwise_is_refused_with_a_hint(
    expression: str, dialect: str, hint: str
) -> None:
    facts = parse(f"SELECT\n{expression} AS c FROM x", dialect)
    assert facts.error
    assert hint in (facts.hint or "")
    assert "Spark SQL" in (facts.hint or "")


@pytest.mark.parametrize(
    ("text", "dialect"),
    [
        ("SELECT a FROM x ORDER BY a FETCH FIRST 1 ROWS WITH TIES", "postgres"),
        ("SELECT TOP 10 PERCENT a FROM x ORDER BY a", "tsql"),
        ("SELECT a FROM x WHERE EXISTS (SELECT 1 FROM y WHERE HASH(y.a) = x.a)", "duckdb"),
        ("WITH c AS (SELECT HASH(a) AS a FROM x) SELECT a FROM c", "duckdb"),
        ("SELECT a FROM x GROUP BY a HAVING HASH(a) = 1", "duckdb"),
        ("SELECT a FROM x JOIN y ON HASH(x.a) = y.a", "duckdb"),
    ],
)
def test_it_is_refused_wherever_it_stands(text: str, dialect: str) -> None:
    assert parse(text, dialect).error


@pytest.mark.parametrize("dialect", [None, "", "spark", "spark2", "databricks"])
def test_sparks_own_functions_are_never_touched(dialect: str | None) -> None:
    text = "SELECT DAYOFWEEK(a), LOG(2, b), GREATEST(a, b), MY_FUNCTION(a), CAST(a AS INT) FROM x"
    assert parse(text, dialect).error is None
    assert " ".join(as_spark(text, dialect).split()) == text


def test_case_does_not_matter_where_both_are_in_small_letters_or_no_letters() -> None:
    for text in ("LOWER(a) = 'open'", "a = '2026-01-01'", "LOWER(a) LIKE 'x%'", "a <> b"):
        assert parse(f"SELECT {text} AS c FROM x", "mysql").error is None


def test_the_hint_is_kept_with_the_facts_of_a_shape() -> None:
    text = "SELECT\n  CAST(orders.a AS VARCHAR(3)) AS a FROM orders"
    facts = SqlReader(frozenset(("orders",))).facts(text, "redshift")
    assert facts.line == 2
    assert "'CAST(orders.a AS VARCHAR(3))' cuts the text" in (facts.error or "")
    assert "LEFT(CAST(orders.a AS STRING), 3)" in (facts.hint or "")
