"""Digest as people and programs use it: logs, kinds of edges, bad input, catalog rows."""

from __future__ import annotations

import json
import random

import pytest

from goldsmith.catalog.conventions import Convention
from goldsmith.catalog.datasets import Source, Target
from goldsmith.catalog.edges import Edge
from goldsmith.catalog.pipelines import Stage
from goldsmith.digest import describe
from goldsmith.digest.catalog_rows import CatalogView, NoConvention, rows_of
from goldsmith.digest.digest import digest
from goldsmith.digest.guard import Guard, StatementKilled, begin_statement, end_statements
from goldsmith.digest.json_lines import answer, answer_line
from goldsmith.digest.session import combine
from goldsmith.digest.texts import DigestRequest, digest_text
from goldsmith.digest.values import Digest

CTAS = """
CREATE TABLE analytics.daily_user_events AS
SELECT
  DATE(event_ts) AS event_date,
  COUNT(*)           AS total_events,
  COUNT(DISTINCT user_id) AS unique_users
FROM silver_user_events
WHERE event_ts >= CURRENT_DATE - INTERVAL '1 day'
GROUP BY DATE(event_ts);
"""
QUERIES = [
    "COPY bronze_user_events FROM 's3://company/raw/user_events/*.jsonl' ...",
    "INSERT INTO silver_user_events SELECT * FROM bronze_user_events WHERE ...",
    "CREATE TABLE analytics.daily_user_events AS SELECT DATE(event_ts) AS event_date, "
    "COUNT(*) AS total_events FROM silver_user_events GROUP BY DATE(event_ts);",
]
CONVENTIONS = {
    "silver": Convention(
        layer="silver",
        location="s3://company/silver/{name}/",
        file_format="parquet",
        schema_arn="arn:aws:glue:us-west-2:123456789012:schema/{dataset}",
    ),
    "gold": Convention(
        layer="gold",
        location="{dataset}",
        type="redshift",
        stage_name="gold_aggregate",
        transform_name="daily_aggregate",
        rule_set_id="row_count_gt0",
    ),
}


def of_log(*lines: str) -> tuple[Digest, int]:
    statements, queries = digest_text(DigestRequest("\n".join(lines), "queries.json", "redshift"))
    return combine(statements), queries


def test_the_seeds_query_maps_its_columns() -> None:
    found = digest(CTAS, dialect="redshift")
    lines = list(describe.lines_of(found))
    assert lines[0] == "Upstream tables detected: silver_user_events"
    assert lines[1] == "Downstream table detected: analytics.daily_user_events"
    assert lines[2].endswith(": event_ts→event_date, user_id→unique_users")


def test_the_seeds_log_gives_four_datasets_and_three_edges() -> None:
    found, queries = of_log(*(json.dumps({"query": query}) for query in QUERIES))
    assert describe.summary(found, queries) == "Parsed 3 queries → 4 datasets, 3 lineage edges"


def test_a_broken_line_of_a_log_is_reported_and_the_rest_is_read() -> None:
    good = json.dumps({"query": QUERIES[2]})
    found, queries = of_log(good, '{"query": ', good)
    assert queries == 2
    assert [(s.line, s.file) for s in found.errors] == [(2, "queries.json")]
    assert found.downstream == ["analytics.daily_user_events"]


def test_declared_tables_are_used_where_a_query_cannot_be_read() -> None:
    line = {"query": "FROBNICATE IT", "upstream_tables": ["s"], "downstream_tables": ["t"]}
    found, _ = of_log(json.dumps(line))
    assert found.edges == [("s", "t")]


def test_the_seeds_ctas_gives_the_seeds_rows() -> None:
    view = CatalogView(pipelines=frozenset(["user_events_etl"]), conventions=CONVENTIONS)
    rows = rows_of(digest(CTAS, dialect="ansi"), view, "user_events_etl", "ansi")
    source, target, stage, edge = rows[:4]
    assert source == Source(
        source_id="silver_user_events",
        s3_path="s3://company/silver/user_events/",
        file_format="parquet",
        schema_arn="arn:aws:glue:us-west-2:123456789012:schema/silver_user_events",
    )
    assert target == Target(
        target_id="analytics.daily_user_events",
        location="analytics.daily_user_events",
        type="redshift",
    )
    assert stage == Stage(
        pipeline_id="user_events_etl",
        stage_order=3,
        stage_name="gold_aggregate",
        source_id="silver_user_events",
        target_id="analytics.daily_user_events",
        validation_set_id="row_count_gt0",
    )
    assert isinstance(edge, Edge)
    assert edge.key == ("silver_user_events", "analytics.daily_user_events")
    assert edge.transform_name == "daily_aggregate"
    assert edge.transformation_sql is not None
    assert {row.table.name for row in rows[4:]} == {"column_lineage"}


def test_a_layer_without_conventions_is_refused() -> None:
    with pytest.raises(NoConvention):
        rows_of(digest(CTAS), CatalogView(), "p", "ansi")


def test_edges_have_kinds() -> None:
    values = "a, CAST(b AS INT) AS b, c + 1 AS c, SUM(d) AS d, LAG(e) OVER (ORDER BY f) AS e"
    sql = f"SELECT {values} FROM s"
    kinds = {c.column: max(c.sources.values()).text for c in digest(sql).columns}
    assert list(kinds.values()) == ["identity", "cast", "expression", "aggregate", "window"]


def test_filter_join_group_and_sort_columns_are_not_values() -> None:
    sql = "SELECT x.a FROM s x JOIN r y ON x.k = y.k WHERE x.f = 1 GROUP BY x.g ORDER BY x.o"
    (statement,) = digest(sql).statements
    uses = {kind: {root.column for root in roots} for kind, roots in statement.indirect.items()}
    assert uses == {"join": {"k"}, "filter": {"f"}, "group": {"g"}, "sort": {"o"}}


@pytest.mark.parametrize("line", ["nonsense", "[1]", '{"id": 7}'])
def test_a_bad_line_of_the_machine_interface_gets_an_error(line: str) -> None:
    found = answer_line(line)
    assert found["error"]
    assert found["upstream"] == []


def test_an_unknown_dialect_is_an_error_with_the_known_names() -> None:
    assert "Known dialects" in answer({"id": 1, "dialect": "klingon", "sql": "SELECT 1"})["error"]


def test_a_statement_nobody_can_read_is_reported_with_its_line() -> None:
    found = digest("SELECT a FROM s;\nFROBNICATE THE TABLE")
    assert [(s.line, bool(s.error)) for s in found.errors] == [(2, True)]
    assert found.upstream == ["s"]


def test_a_template_that_does_not_close_hides_only_its_own_statement() -> None:
    sql = "SELECT * FROM {{ ref('x' ;\nINSERT INTO a SELECT b FROM c;\nSELECT q FROM {{ ref('y') }}"
    found = digest(sql, dialect="spark")
    assert found.edges == [("c", "a")]
    assert found.upstream[1:] == ["c", "y"]
    assert [error.line for error in found.errors] == [1]


def test_lines_of_a_long_script_are_counted_once() -> None:
    script = "\n\n".join(f"INSERT INTO t SELECT a FROM s{index};" for index in range(200))
    found = digest(f"{script}\nnonsense here", dialect="spark")
    assert [error.line for error in found.errors] == [400]


def test_a_template_that_does_not_close_is_reported() -> None:
    found = digest("SELECT a FROM s;\nSELECT b FROM {{ ref('r')")
    assert any("does not close" in str(s.error) for s in found.errors)
    assert "s" in found.upstream


def _spin(request: str) -> str:
    while request == "spin":
        pass
    return request.upper()


def test_a_statement_that_never_ends_is_killed_and_the_next_is_answered() -> None:
    with Guard(_spin, seconds=0.2) as guard:
        assert guard.call("a") == "A"
        with pytest.raises(StatementKilled):
            guard.call("spin")
        assert guard.call("b") == "B"


def _script_that_spins(_request: str) -> list[str]:
    found: list[str] = []
    for name in ("a", "spin", "b"):
        if not begin_statement():
            found.append(f"{name} was left out")
            continue
        while name == "spin":
            pass
        found.append(name)
    end_statements()
    return found


def test_a_statement_of_a_script_that_never_ends_is_left_out_and_the_rest_is_read() -> None:
    with Guard(_script_that_spins, seconds=60, statement_seconds=0.2) as guard:
        assert guard.call("script") == ["a", "spin was left out", "b"]
        assert guard.call("again") == ["a", "spin was left out", "b"]


def test_formatting_comments_case_and_alias_names_change_nothing() -> None:
    plain = "INSERT INTO t SELECT x.a, y.b + 1 AS c FROM s x JOIN r y ON x.k = y.k WHERE x.d > 1"
    others = [
        plain.replace(" ", "\n\t"),
        plain.replace(" FROM", " /* from r2 */ FROM").replace("SELECT", "SELECT -- z\n"),
        plain.lower(),
        plain.upper(),
        plain.replace("x", "first_one").replace("y.", "second.").replace("r y", "r second"),
    ]
    wanted = answer({"sql": plain})
    for other in others:
        assert answer({"sql": other}) == wanted, other


def test_mangled_sql_never_raises_and_stays_in_its_budget() -> None:
    chance = random.Random(18)
    lateral = "WITH a AS (SELECT 1) SELECT * FROM a, b LATERAL VIEW explode(c) d AS e"
    texts = [CTAS, *QUERIES, lateral]
    pieces = ["(", ")", "'", '"', ";", "", "--", "SELECT ", "$$", "{{"]
    with Guard(answer, seconds=10) as guard:  # raises when a statement breaks or takes too long
        for _ in range(300):
            text = list(chance.choice(texts))
            for _ in range(chance.randint(1, 12)):
                at = chance.randrange(len(text))
                text[at : at + chance.randint(0, 4)] = chance.choice(pieces)
            dialect = chance.choice(["ansi", "snowflake", "tsql", "bigquery"])
            assert guard.call({"id": 1, "sql": "".join(text), "dialect": dialect})["id"] == 1
