"""A stage's SQL: what it reads and writes, what kind of query it is, and as Spark runs it."""

from __future__ import annotations

import json
import re

import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

from goldsmith.planning import sql
from goldsmith.planning.query import QueryFacts
from goldsmith.planning.spark_text import as_spark
from goldsmith.planning.sql import MOST_CHARACTERS, SqlReader


def facts(text: str, dialect: str | None = None, *, ids: tuple[str, ...] = ()) -> QueryFacts:
    return SqlReader(frozenset(ids)).facts(text, dialect)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("SELECT 1", ()),
        ("SELECT * FROM orders", ("orders",)),
        (
            "SELECT * FROM silver.orders o JOIN gold.days AS d ON o.d = d.d",
            ("silver.orders", "gold.days"),
        ),
        ("SELECT * FROM a, b LEFT JOIN a c ON true", ("a", "b")),
        ("SELECT * FROM a WHERE x IN (SELECT x FROM b)", ("a", "b")),
        ("SELECT (SELECT max(x) FROM b) FROM a", ("b", "a")),
        ("SELECT * FROM a UNION ALL SELECT * FROM b", ("a", "b")),
        ("(SELECT * FROM a)", ("a",)),
        ("SELECT * FROM (SELECT * FROM (SELECT * FROM a))", ("a",)),
        ("SELECT * FROM `silver.orders`", ("silver.orders",)),
        ("SELECT * FROM `user-events`", ("user-events",)),
        ("SELECT * FROM lake.silver.orders", ("lake.silver.orders",)),
        ("SELECT * FROM a LATERAL VIEW explode(a.items) t AS item", ("a",)),
        ("SELECT * FROM a -- FROM b\n/* FROM c */", ("a",)),
        ("SELECT 'FROM b' FROM a", ("a",)),
        ("SELECT * FROM VALUES (1), (2)", ()),
        ("SELECT * FROM range(10)", ()),
        (
            "SELECT /*+ BROADCAST(d) */ o.id FROM orders o JOIN days d ON o.d = d.d",
            ("orders", "days"),
        ),
    ],
)
def test_a_query_reads_these_tables(text: str, reads: tuple[str, ...]) -> None:
    found = facts(text)
    assert found.error is None
    assert sorted(found.reads) == sorted(reads)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("WITH x AS (SELECT * FROM a) SELECT * FROM x", ("a",)),
        ("WITH x AS (SELECT * FROM a), y AS (SELECT * FROM x) SELECT * FROM y, b", ("a", "b")),
        # A name is not in scope before it is defined, nor in its own query.
        ("WITH a AS (SELECT * FROM a) SELECT * FROM a", ("a",)),
        ("WITH x AS (SELECT * FROM y), y AS (SELECT * FROM b) SELECT * FROM x, y", ("y", "b")),
        ("WITH RECURSIVE x AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM x) SELECT * FROM x", ()),
        ("SELECT * FROM (WITH x AS (SELECT * FROM a) SELECT * FROM x) JOIN x ON true", ("a", "x")),
        ("WITH x AS (SELECT * FROM a) SELECT * FROM b WHERE i IN (SELECT i FROM x)", ("a", "b")),
        ("WITH x AS (SELECT * FROM a) SELECT * FROM silver.x, X", ("a", "silver.x")),
        (
            "WITH x AS (SELECT * FROM a) SELECT * FROM x UNION SELECT * FROM x",
            ("a",),
        ),
    ],
)
def test_a_common_table_expression_is_no_table(text: str, reads: tuple[str, ...]) -> None:
    assert sorted(facts(text).reads) == sorted(reads)


@pytest.mark.parametrize(
    ("text", "writes", "reads"),
    [
        ("CREATE TABLE analytics.daily AS SELECT * FROM silver", "analytics.daily", ("silver",)),
        ("CREATE OR REPLACE TABLE daily AS (SELECT * FROM silver)", "daily", ("silver",)),
        ("INSERT INTO daily SELECT * FROM silver", "daily", ("silver",)),
        ("INSERT INTO daily (a, b) SELECT a, b FROM silver", "daily", ("silver",)),
        ("INSERT OVERWRITE TABLE daily SELECT * FROM silver", "daily", ("silver",)),
        ("INSERT INTO daily WITH x AS (SELECT * FROM a) SELECT * FROM x", "daily", ("a",)),
        ("WITH x AS (SELECT * FROM a) INSERT INTO daily SELECT * FROM x", "daily", ("a",)),
        ("SELECT * FROM silver;", None, ("silver",)),
    ],
)
def test_what_an_insert_or_a_create_names_is_written_and_not_read(
    text: str, writes: str | None, reads: tuple[str, ...]
) -> None:
    found = facts(text)
    assert (found.error, found.writes, found.reads) == (None, writes, reads)


@pytest.mark.parametrize(
    ("text", "aggregates"),
    [
        ("SELECT a FROM t", False),
        ("SELECT upper(a) FROM t WHERE b > 1 ORDER BY a", False),
        ("SELECT count(*) FROM t", True),
        ("SELECT a, sum(b) FROM t GROUP BY a", True),
        ("SELECT DISTINCT a FROM t", True),
        ("SELECT count(DISTINCT a) FROM t", True),
        ("SELECT * FROM a UNION SELECT * FROM b", True),
        ("SELECT * FROM a UNION ALL SELECT * FROM b", False),
        ("SELECT * FROM a EXCEPT SELECT * FROM b", True),
        ("SELECT a, sum(b) OVER (PARTITION BY a) FROM t", False),
        ("SELECT * FROM (SELECT max(a) FROM t)", True),
        ("SELECT * FROM t WHERE a = (SELECT max(a) FROM t)", True),
        ("SELECT collect_list(a) FROM t", True),
        ("SELECT mean(a) FROM t", True),
        ("SELECT try_sum(a) AS a FROM t", True),
        ("SELECT any(a) AS a, some(b) AS b FROM t", True),
        ("SELECT system.builtin.sum(a) AS a FROM t", True),
        ("SELECT 1 AS one FROM t HAVING true", True),
        ("SELECT a FROM t EXCEPT SELECT a FROM s", True),
        ("SELECT a FROM t WHERE a LIKE ANY ('x%', 'y%')", False),
        ("SELECT a FROM t WHERE exists(b, x -> x > 1)", False),
        ("SELECT try_sum(a) OVER (PARTITION BY b) AS a FROM t", False),
        ("SELECT first_value(a) IGNORE NULLS OVER (ORDER BY b) AS a FROM t", False),
        ("SELECT sum(a) FILTER (WHERE b) OVER (PARTITION BY c) AS a FROM t", False),
    ],
)
def test_a_query_that_needs_all_rows_is_recognised(text: str, aggregates: bool) -> None:
    assert facts(text).aggregates is aggregates


@pytest.mark.parametrize(
    ("text", "windows"),
    [
        ("SELECT a FROM t", False),
        ("SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t", True),
        ("SELECT sum(b) OVER () FROM t", True),
        ("SELECT sum(b) OVER w FROM t WINDOW w AS (PARTITION BY a)", True),
        ("SELECT * FROM t QUALIFY row_number() OVER (PARTITION BY a ORDER BY b) = 1", True),
    ],
)
def test_a_window_is_recognised(text: str, windows: bool) -> None:
    assert facts(text).windows is windows


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("SELECT a FROM t", False),
        ("SELECT now() FROM t", True),
        ("SELECT current_date FROM t", True),
        ("SELECT * FROM t WHERE at >= CURRENT_DATE - INTERVAL '1 day'", True),
        ("SELECT current_timestamp() FROM t", True),
        ("SELECT rand() FROM t", True),
        ("SELECT uuid() FROM t", True),
        ("SELECT unix_timestamp() FROM t", True),
        ("SELECT unix_timestamp(at) FROM t", False),
        ("SELECT date_add(at, 1) FROM t", False),
        ("SELECT now FROM t", False),
        ("SELECT 'now()' FROM t", False),
        ("SELECT * FROM t TABLESAMPLE (10 PERCENT)", True),
        ("SELECT monotonically_increasing_id() FROM t", False),
    ],
)
def test_a_query_that_asks_for_the_time_or_for_chance_is_recognised(text: str, asks: bool) -> None:
    assert bool(facts(text).volatile) is asks


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("SELECT a, b AS c, upper(d) AS e FROM t", ("a", "c", "e")),
        ("SELECT t.a FROM t", ("a",)),
        ("SELECT * FROM t", None),
        ("SELECT t.*, 1 AS x FROM t", None),
        ("SELECT upper(a) FROM t", None),
        ("SELECT a FROM t UNION ALL SELECT b FROM s", ("a",)),
        ("WITH x AS (SELECT * FROM t) SELECT a FROM x", ("a",)),
    ],
)
def test_the_columns_a_query_gives_are_known_where_no_star_hides_them(
    text: str, columns: tuple[str, ...] | None
) -> None:
    assert facts(text).columns == columns


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("SELECT *\nFROM\nWHERE a = 1 AND (", 3, ""),
        ("SELECT a FROM t WHERE (a = 1", 1, ""),
        ("SELEC a\nFROM t", 2, "near 'FROM'"),
        ("", 1, "it holds 0 statements"),
        ("-- nothing", 1, "it holds 0 statements"),
        ("SELECT 1; SELECT 2", 1, "it holds 2 statements, and a stage runs one"),
        ("DROP TABLE t", 1, "it is a DROP, and a stage runs a SELECT"),
        ("DELETE FROM t", 1, "it is a DELETE, and a stage runs a SELECT"),
        ("UPDATE t SET a = 1", 1, "it is a UPDATE"),
        ("MERGE INTO t USING s ON t.a = s.a WHEN MATCHED THEN DELETE", 1, "it is a MERGE"),
        ("INSERT INTO t VALUES (1)", 1, "it is a INSERT"),
        ("CREATE TABLE t (a INT)", 1, "it is a CREATE"),
        ("SELECT 'never closed", 1, ""),
        ("SELECT /* never closed", 1, ""),
        ("SELECT " + "(" * 5_000 + "1" + ")" * 5_000, 1, "nested too deeply"),
    ],
)
def test_what_cannot_be_run_is_said_with_its_line(text: str, line: int, says: str) -> None:
    found = facts(text)
    assert found.error is not None
    assert says in found.error
    assert found.line == line
    assert (found.reads, found.writes) == ((), None)


def test_an_error_names_datasets_as_they_are_written() -> None:
    found = facts("SELECT * FRM silver.orders WHERE (", ids=("silver.orders",))
    assert found.error is not None
    assert "goldsmith_dataset" not in found.error


def test_a_text_of_megabytes_is_not_even_parsed() -> None:
    found = facts("SELECT '" + "x" * MOST_CHARACTERS + "'")
    assert found.error == "it is 1,000,009 characters long"


def test_long_conditions_are_read_to_their_end() -> None:
    wide = " OR ".join(f"a = {number}" for number in range(800))
    found = facts(f"SELECT a FROM t WHERE ({wide}) AND a IN (SELECT a FROM t)")
    assert (found.error, found.whole) == (None, ("t",))


def test_an_unknown_dialect_is_an_error_of_the_text() -> None:
    assert facts("SELECT 1", "klingon").error is not None


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are really parsed."""
    texts: list[str] = []
    real = sql.parse

    def parse(text: str, dialect: str | None) -> QueryFacts:
        texts.append(text)
        return real(text, dialect)

    monkeypatch.setattr(sql, "parse", parse)
    return texts


IDS = frozenset(("raw_1", "raw_2", "silver.orders_1", "silver.orders_2"))


def test_two_texts_that_differ_only_in_ids_are_parsed_once(parsed: list[str]) -> None:
    reader = SqlReader(IDS)
    template = (
        "SELECT raw_{n}.id, o.total, 'raw_{n}' AS raw_{n} FROM raw_{n} JOIN silver.orders_{n} o"
        " ON raw_{n}.id = o.id"
    )
    first, second = (reader.facts(template.format(n=n)) for n in (1, 2))
    assert len(parsed) == 1
    assert first.reads == ("raw_1", "silver.orders_1")
    assert second.reads == ("raw_2", "silver.orders_2")
    assert (first.columns, second.columns) == (("id", "total", "raw_1"), ("id", "total", "raw_2"))


def test_a_text_is_parsed_once_however_often_it_is_asked_about(parsed: list[str]) -> None:
    reader = SqlReader(IDS)
    for _ in range(3):
        reader.facts("SELECT * FROM raw_1")
        reader.knowing(frozenset(("raw_1",))).facts("SELECT * FROM raw_1")
    assert len(parsed) == 1


def test_each_dialect_is_parsed_by_its_own_grammar(parsed: list[str]) -> None:
    reader = SqlReader(IDS)
    assert reader.facts("SELECT TOP 5 a FROM raw_1", "redshift").reads == ("raw_1",)
    assert reader.facts("SELECT TOP 5 a FROM raw_1", "spark").error is not None
    assert len(parsed) == 2


def test_what_was_parsed_is_handed_over_once_and_saves_the_next_process_the_work(
    parsed: list[str],
) -> None:
    reader = SqlReader(IDS)
    text = "INSERT INTO raw_2 SELECT count(*) AS n, now() AS at FROM raw_1"
    first = reader.facts(text)
    kept = {key: json.dumps(query_facts) for key, query_facts in reader.take_parsed().items()}
    assert len(kept) == 1
    assert reader.take_parsed() == {}
    again = SqlReader(IDS, kept=kept)
    assert again.facts(text) == first
    assert again.facts(text.replace("raw_1", "silver.orders_1")).reads == ("silver.orders_1",)
    assert again.take_parsed() == {}
    assert len(parsed) == 1


@pytest.mark.parametrize(
    "text",
    [
        "SELECT count(*) FROM count",
        "SELECT now() AS at FROM now",
        "SELECT date(at) AS day FROM date",
        "SELECT sum(x) AS x FROM sum GROUP BY a",
        "SELECT `user-events`.x AS x FROM `user-events`, user",
        "SELECT 'a' AS a, 'it is a.b' AS b FROM a",
        "WITH a AS (SELECT * FROM b) SELECT * FROM a, a.b",
        "INSERT INTO a (b, c) SELECT b, c FROM count",
        "SELECT x AS user FROM A",
    ],
)
def test_which_ids_are_known_makes_no_difference_to_what_a_text_says(text: str) -> None:
    ids = ("a", "b", "a.b", "count", "now", "date", "sum", "user", "user-events")
    assert facts(text, ids=ids) == facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT date '2026-01-01' AS d FROM t WHERE at > timestamp '2026-01-01 00:00:00'",
        "SELECT CAST(x AS date) AS d, interval '1' month AS i FROM t left JOIN s ON t.x = s.x",
        "SELECT current_date AS day, extract(year FROM at) AS year FROM t full JOIN s USING (x)",
        "SELECT case when a then 1 end AS n, sum(b) over (order by c) AS m FROM t minus SELECT 1",
        "SELECT a FROM t union all SELECT a FROM s order by a desc nulls last limit 3",
    ],
)
def test_an_id_that_is_a_word_of_sql_does_not_change_what_a_text_means(text: str) -> None:
    for word in set(re.findall(r"\w+", text)):
        assert facts(text, ids=(word,)) == facts(text, ids=("t", "s", word)) == facts(text), word


def test_no_word_of_any_dialect_is_replaced() -> None:
    terms = {
        str(word).lower()
        for dialect in sqlglot.Dialect.classes.values()
        for word in (*dialect.tokenizer_class.KEYWORDS, *dialect.DATE_PART_MAPPING)
        if re.fullmatch(r"\w+", str(word))
    }
    assert len(terms) > 500
    assert [word for word in terms if not sql._is_sql_word(word)] == []


_TEMPLATES = (
    "SELECT {0}.id, x.n FROM {0} JOIN {1} AS x USING (id)",
    "SELECT {0}.id, x.n FROM {0} JOIN {1} AS x USING (id) WHERE '{1}' <> a",
    "SELECT count({0}) FROM {1}",
    "SELECT {0} AS a_id, {0}.{1} FROM {1}",
    "INSERT INTO {0} SELECT * FROM {1}, {1}_old",
)


@settings(max_examples=200)
@given(
    texts=st.lists(
        st.builds(
            lambda template, first, second: template.format(first, second),
            st.sampled_from(_TEMPLATES),
            *[st.sampled_from(["a", "b", "a.b", "id", "count", "not_known", "x"])] * 2,
        ),
        min_size=3,
        max_size=12,
    )
)
def test_texts_of_one_template_say_what_each_says_alone(texts: list[str]) -> None:
    ids = frozenset(["a", "b", "a.b", "id", "count"])
    reader = SqlReader(ids)
    for text in texts:
        assert reader.facts(text) == SqlReader(ids).facts(text)


def test_a_query_for_spark_is_kept_as_it_was_written() -> None:
    text = "select  a,\n  b -- the second\nfrom t;\n"
    assert (
        as_spark(text, None) == as_spark(text, "spark") == "select  a,\n  b -- the second\nfrom t"
    )


def test_of_an_insert_only_the_select_is_run() -> None:
    assert as_spark("INSERT INTO daily SELECT a FROM t", None).split() == [
        "SELECT",
        "a",
        "FROM",
        "t",
    ]


def test_a_query_in_another_dialect_is_translated() -> None:
    text = """
CREATE TABLE analytics.daily_user_events AS
SELECT DATE(event_ts) AS event_date, NVL(total, 0) AS total, GETDATE() AS at, "user" AS who
FROM silver_user_events
WHERE event_ts >= CURRENT_DATE - INTERVAL '1 day' AND name ILIKE 'a%'
"""
    translated = as_spark(text, "redshift")
    assert facts(translated).error is None
    assert facts(translated).reads == ("silver_user_events",)
    assert facts(translated).columns == ("event_date", "total", "at", "who")
    assert "GETDATE" not in translated
    assert '"user"' not in translated
    assert "CREATE" not in translated


def test_outer_expressions_of_an_insert_stay_with_its_select() -> None:
    translated = as_spark("WITH x AS (SELECT 1 AS a) INSERT INTO t SELECT a FROM x", "redshift")
    assert facts(translated) == facts("WITH x AS (SELECT 1 AS a) SELECT a FROM x")


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("SELECT * FROM t", ()),
        ("SELECT * FROM t a JOIN t b ON a.x = b.y", ("t",)),
        ("SELECT * FROM t a, t b", ("t",)),
        ("SELECT * FROM t WHERE a UNION ALL SELECT * FROM t WHERE b", ()),
        ("SELECT * FROM (SELECT * FROM t UNION ALL SELECT * FROM t) JOIN s USING (x)", ()),
        ("WITH c AS (SELECT * FROM t) SELECT * FROM c JOIN c d ON c.x = d.y", ("t",)),
        ("WITH c AS (SELECT * FROM t), d AS (SELECT * FROM c) SELECT * FROM c JOIN d", ("t",)),
        ("WITH t AS (SELECT 1 AS x) SELECT * FROM t a JOIN t b", ()),
        ("WITH c AS (SELECT * FROM t) SELECT * FROM s", ()),
        ("SELECT * FROM t WHERE EXISTS (SELECT 1 FROM t u WHERE u.x = t.y)", ("t",)),
        ("SELECT (SELECT max(x) FROM t) AS m, y FROM t", ("t",)),
        ("SELECT * FROM s WHERE x NOT IN (SELECT x FROM t)", ("t",)),
        ("SELECT * FROM s LEFT JOIN t USING (x)", ("t",)),
        ("SELECT * FROM t RIGHT JOIN s USING (x)", ("t",)),
        ("SELECT * FROM t FULL JOIN s USING (x)", ("t", "s")),
        ("SELECT * FROM s LEFT ANTI JOIN t USING (x)", ("t",)),
        ("SELECT * FROM t LEFT ANTI JOIN s USING (x)", ("s",)),
        ("SELECT * FROM t LEFT JOIN s USING (x)", ("s",)),
        ("SELECT * FROM t JOIN s USING (x) LATERAL VIEW explode(y) e AS z", ()),
        ("SELECT * FROM a.t x JOIN a.t y ON x.i = y.j", ("a.t",)),
        ("SELECT x FROM t WHERE a EXCEPT ALL SELECT x FROM t WHERE b", ("t",)),
        ("SELECT x FROM t EXCEPT ALL SELECT x FROM s", ("t", "s")),
        ("SELECT x FROM t INTERSECT ALL SELECT x FROM s", ("t", "s")),
        ("SELECT x FROM s MINUS ALL SELECT x FROM t", ("s", "t")),
        ("SELECT * FROM (s LEFT JOIN t ON s.x = t.x)", ("t",)),
        ("SELECT * FROM u JOIN (s LEFT JOIN t ON s.x = t.x) ON u.x = s.x", ("t",)),
        ("SELECT * FROM u JOIN s LEFT JOIN t ON s.x = t.x ON u.x = s.x", ("t",)),
        ("SELECT * FROM ((SELECT * FROM s) a LEFT JOIN t) JOIN u", ("t",)),
        ("SELECT * FROM (t a JOIN t b ON a.x = b.y)", ("t",)),
        ("SELECT * FROM t a, LATERAL (SELECT * FROM t b WHERE b.x = a.x)", ("t",)),
        ("SELECT * FROM t a LEFT JOIN LATERAL (SELECT * FROM s WHERE s.x = a.x)", ("s",)),
        ("FROM t |> JOIN t u ON u.x = t.y", ("t",)),
        ("SELECT * FROM s UNION ALL SELECT * FROM s ORDER BY (SELECT max(x) FROM t)", ("t",)),
        ("SELECT /*+ BROADCAST(t) */ t.x FROM t JOIN s USING (x)", ()),
    ],
)
def test_a_table_that_must_be_read_whole_is_recognised(text: str, whole: tuple[str, ...]) -> None:
    assert facts(text).whole == whole
