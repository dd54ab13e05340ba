from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from goldsmith.planning.provenance import (
    compares_files,
    keeps_source_file,
    keeps_time,
    provenance_of,
    select_source_file,
)
from goldsmith.planning.query import query_of, statement_of


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT * FROM raw", "kept"),
        ("SELECT r.*, l.name FROM raw r JOIN lookup l USING (id)", "kept"),
        ("SELECT * FROM raw r LEFT JOIN lookup l ON r.id = l.id", "kept"),
        ("SELECT l.name, r.* FROM lookup l RIGHT JOIN raw r ON r.id = l.id", "kept"),
        ("SELECT id, _source_file FROM raw", "kept"),
        ("SELECT id, R._SOURCE_FILE FROM raw r JOIN lookup l USING (id)", "kept"),
        ("WITH c AS (SELECT * FROM raw) SELECT * FROM c", "kept"),
        ("WITH c AS (SELECT * FROM raw), d AS (SELECT * FROM c) SELECT * FROM d", "kept"),
        ("WITH raw AS (SELECT * FROM raw) SELECT * FROM raw", "kept"),
        ("SELECT * FROM (SELECT * FROM raw) s", "kept"),
        ("SELECT * FROM (SELECT * FROM raw)", "kept"),
        ("SELECT DISTINCT * FROM raw", "kept"),
        ("SELECT _source_file, COUNT(*) AS n FROM raw GROUP BY _source_file", "kept"),
        ("SELECT * FROM raw WHERE id > 1 UNION ALL SELECT * FROM raw WHERE id < 1", "kept"),
        ("SELECT id, _source_file FROM raw UNION SELECT id + 1, _source_file FROM raw", "kept"),
        ("SELECT * FROM raw EXCEPT SELECT * FROM blocked", "kept"),
        ("SELECT * FROM raw WHERE id IN (SELECT id FROM lookup)", "kept"),
        ("SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at) AS n FROM raw", "kept"),
        ("SELECT * FROM raw LATERAL VIEW explode(items) e AS item", "kept"),
        ("SELECT id FROM raw", "left out"),
        ("SELECT id, _source_file AS file FROM raw", "left out"),
        ("SELECT * EXCEPT (_source_file) FROM raw", "left out"),
        ("SELECT id, (SELECT MAX(at) FROM lookup) AS at FROM raw", "left out"),
        ("SELECT r.id, l.* FROM raw r JOIN lookup l USING (id)", "left out"),
        ("WITH c AS (SELECT id FROM raw) SELECT * FROM c", "left out"),
        ("WITH c AS (SELECT * FROM raw) SELECT id FROM c", "left out"),
        ("SELECT id FROM raw UNION ALL SELECT id + 1 FROM raw", "left out"),
        ("WITH c AS (SELECT id FROM raw) SELECT * FROM c UNION ALL SELECT * FROM c", "left out"),
        ("SELECT id FROM (SELECT id, at FROM raw WHERE id > 1) s ORDER BY id", "left out"),
        ("SELECT DISTINCT id FROM raw", "unknown"),
        ("SELECT COUNT(*) AS n FROM raw", "unknown"),
        ("SELECT id, COUNT(*) AS n FROM raw GROUP BY id", "unknown"),
        ("SELECT _source_file, id FROM raw GROUP BY ROLLUP (_source_file, id)", "unknown"),
        ("SELECT MAX(_source_file) AS _source_file FROM raw", "unknown"),
        ("SELECT id, 'x' AS _source_file FROM raw", "unknown"),
        ("SELECT r.id, l._source_file FROM raw r JOIN lookup l USING (id)", "unknown"),
        ("SELECT id FROM lookup", "unknown"),
        ("SELECT a.id FROM raw a JOIN raw b ON a.id = b.parent", "unknown"),
        ("SELECT * FROM lookup l LEFT JOIN raw r ON r.id = l.id", "unknown"),
        ("SELECT * FROM raw r RIGHT JOIN lookup l ON r.id = l.id", "unknown"),
        ("SELECT * FROM raw r FULL JOIN lookup l ON r.id = l.id", "unknown"),
        ("SELECT l.* FROM lookup l LEFT SEMI JOIN raw r ON r.id = l.id", "unknown"),
        ("SELECT id FROM raw UNION ALL SELECT id FROM lookup", "unknown"),
        ("SELECT id, _source_file FROM raw UNION ALL SELECT _source_file, id FROM raw", "unknown"),
        ("SELECT id FROM raw UNION SELECT id FROM raw", "unknown"),
        ("SELECT * FROM raw WHERE id IN (SELECT parent FROM raw)", "unknown"),
        ("WITH c(a, b, c) AS (SELECT * FROM raw) SELECT * FROM c", "unknown"),
        ("SELECT * FROM raw AS r(a, b, c)", "unknown"),
        ("WITH c AS (SELECT id FROM raw) SELECT DISTINCT * FROM c", "unknown"),
        ("WITH c AS (SELECT id FROM raw) SELECT to_json(struct(*)) AS j FROM c", "unknown"),
        ("WITH c AS (SELECT id FROM raw) SELECT id FROM c WHERE hash(*) % 2 = 0", "unknown"),
        ("WITH c AS (SELECT id FROM raw) SELECT * FROM c NATURAL JOIN lookup", "unknown"),
        ("WITH c AS (SELECT id FROM raw) SELECT * FROM c WHERE id IN (SELECT * FROM c)", "unknown"),
        ("WITH RECURSIVE c AS (SELECT * FROM raw) SELECT * FROM c", "unknown"),
        ("SELECT * FROM raw PIVOT (SUM(amount) FOR kind IN ('a', 'b'))", "unknown"),
        ("SELECT * FROM (raw r JOIN lookup l ON r.id = l.id)", "unknown"),
    ],
)  # fmt: skip
def test_a_query_keeps_the_file_of_each_row_or_it_is_not_claimed(sql: str, found: str) -> None:
    query, _ = query_of(statement_of(sql, None))

    assert provenance_of(query, "raw") == found


@pytest.mark.parametrize(
    ("sql", "runs"),
    [
        (
            "WITH c AS (SELECT id FROM raw) SELECT * FROM c",
            "WITH c AS (SELECT id, raw._source_file FROM raw) SELECT * FROM c",
        ),
        (
            "WITH c AS (SELECT id FROM raw r) SELECT c.id FROM c JOIN l USING (id)",
            "WITH c AS (SELECT id, r._source_file FROM raw AS r) "
            "SELECT c.id, c._source_file FROM c JOIN l USING (id)",
        ),
        (
            "SELECT id FROM raw UNION ALL SELECT id + 1 FROM (SELECT id FROM raw)",
            "SELECT id, raw._source_file FROM raw UNION ALL "
            "SELECT id + 1, _source_file FROM (SELECT id, raw._source_file FROM raw)",
        ),
    ],
)
def test_the_file_is_selected_at_every_level_it_is_left_out(sql: str, runs: str) -> None:
    query, _ = query_of(statement_of(sql, None))

    assert select_source_file(query, "raw")
    assert query.sql("spark") == runs
    assert provenance_of(query, "raw") == "kept"


@pytest.mark.parametrize(
    ("sql", "kept"),
    [
        (None, True),
        ("SELECT * FROM raw", True),
        ("SELECT id, At FROM raw", True),
        ("WITH c AS (SELECT id, at FROM raw) SELECT c.* FROM c", True),
        ("SELECT id, CAST(at AS TIMESTAMP) AS at FROM raw", True),
        ("SELECT at, COUNT(*) AS n FROM raw GROUP BY at", True),
        ("SELECT id, CAST(at AS DATE) AS at FROM raw", False),
        ("SELECT id, at + INTERVAL 1 DAY AS at FROM raw", False),
        ("SELECT id, updated AS at FROM raw", False),
        ("SELECT id FROM raw", False),
        ("SELECT r.id, l.at FROM raw r JOIN lookup l USING (id)", False),
        ("SELECT * FROM raw r FULL JOIN lookup l ON r.id = l.id", False),
    ],
)
def test_a_time_finds_the_rows_of_a_window_only_where_no_sql_changes_it(
    sql: str | None, kept: bool
) -> None:
    assert keeps_time(stage_of(sql), "at") is kept


@pytest.mark.parametrize(
    ("sql", "compares"),
    [
        (None, False),
        ("SELECT * FROM raw WHERE id > 1", False),
        ("SELECT _source_file, MAX(id) AS id FROM raw GROUP BY _source_file", False),
        ("SELECT *, ROW_NUMBER() OVER (PARTITION BY r._source_file ORDER BY id) AS n FROM raw r",
         False),
        ("SELECT *, ROW_NUMBER() OVER (PARTITION BY id ORDER BY at) AS n FROM raw", True),
        ("SELECT *, LAG(id) OVER w AS n FROM raw WINDOW w AS (ORDER BY at)", True),
        ("WITH c AS (SELECT * FROM raw ORDER BY id LIMIT 5) SELECT * FROM c", True),
    ],
)  # fmt: skip
def test_rows_of_several_files_are_compared_by_a_window_or_a_limit(
    sql: str | None, compares: bool
) -> None:
    assert compares_files(stage_of(sql)) is compares
    assert compares_files(stage_of(sql, deduplicate={"keys": ["id"], "newest_by": "at"}))


def test_options_that_make_the_column_anew_change_it() -> None:
    assert not keeps_time(stage_of(None, rename={"updated": "at"}), "at")
    assert not keeps_time(stage_of(None, add_columns={"AT": "now()"}), "at")
    assert keeps_time(stage_of(None, cast={"at": "timestamp"}), "at")
    assert not keeps_time(stage_of(None, cast={"At": "date"}), "at")
    assert not keeps_source_file(stage_of("SELECT * FROM raw", rename={"_source_file": "file"}))


def stage_of(sql: str | None, **options: Any) -> Any:
    """As much of a stage as decides what its columns are."""
    return SimpleNamespace(
        stage=SimpleNamespace(options=options),
        resolved=SimpleNamespace(sql=sql, dialect=None, layer="bronze"),
        inputs=[SimpleNamespace(dataset_id="raw")],
    )


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ("silver.orders.*", "kept"),
        ("silver.orders._source_file", "kept"),
        ("bronze.orders._source_file", "unknown"),
        ("bronze.orders.*", "left out"),
        ("silver.orders.id", "left out"),
    ],
)
def test_datasets_that_end_in_the_same_name_are_told_apart(columns: str, expected: str) -> None:
    text = f"SELECT {columns} FROM silver.orders JOIN bronze.orders USING (id)"
    query, _writes = query_of(statement_of(text, None))
    assert provenance_of(query, "silver.orders") == expected
