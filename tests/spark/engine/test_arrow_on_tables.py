"""The files of a table, as Arrow reads them, hold the table's rows whatever happened to it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import functions as F

from goldsmith.checks.arrow import jobs
from goldsmith.checks.arrow.count_keys import count_keys
from goldsmith.checks.context import Context
from goldsmith.checks.evaluate import Evaluation, evaluate
from goldsmith.checks.parquet_files import ParquetFiles
from goldsmith.checks.planned_check import planned
from goldsmith.engine.lake import parquet_files
from goldsmith.engine.lake.lake_table import LakeTable
from servers import s3 as s3_server
from spark.engine.buckets import on
from spark.engine.conftest import Bench, Elsewhere

NAME = ("bronze", "files_of")
ASKED: list[dict[str, Any]] = [
    {"type": "row_count", "min": 1},
    {"type": "not_null", "column": "id"},
    {"type": "null_rate", "column": "label", "max": 0.0},
    {"type": "null_rate", "column": "later", "max": 0.0},
    {"type": "in_range", "column": "size", "min": 3_000_000_000},
    {"type": "unique", "column": "label"},
    {"type": "unique", "columns": ["id", "size"]},
]


def test_columns_that_were_renamed_added_and_widened_are_found(bench: Bench) -> None:
    spark, table = bench.spark, LakeTable(bench.spark, *NAME)
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bronze")
    spark.sql(f"CREATE TABLE {table.sql_name} (id bigint, name string, size int) USING iceberg")
    spark.sql(f"INSERT INTO {table.sql_name} VALUES (1, 'a', 7), (2, 'b', 8)")
    spark.sql(f"ALTER TABLE {table.sql_name} RENAME COLUMN name TO label")
    spark.sql(f"ALTER TABLE {table.sql_name} ADD COLUMN later date")
    # A new column under an old name is another column.
    spark.sql(f"ALTER TABLE {table.sql_name} ADD COLUMN name string")
    spark.sql(f"ALTER TABLE {table.sql_name} ALTER COLUMN size TYPE bigint")
    spark.sql(
        f"INSERT INTO {table.sql_name} (id, label, size, later, name)"
        " VALUES (3, 'a', 4000000000, date'2026-01-01', 'x'), (NULL, NULL, 8, NULL, NULL)"
    )
    _agree(bench, table)
    _agree(bench, table, {"type": "one_of", "column": "name", "values": ["x"], "nulls": "broken"})


def test_a_table_with_rows_that_were_deleted_is_left_to_spark(bench: Bench) -> None:
    spark, table = bench.spark, LakeTable(bench.spark, NAME[0], "files_deleted")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bronze")
    spark.sql(
        f"CREATE TABLE {table.sql_name} (id bigint) USING iceberg TBLPROPERTIES"
        " ('format-version' = '2', 'write.delete.mode' = 'merge-on-read')"
    )
    spark.sql(f"INSERT INTO {table.sql_name} SELECT /*+ COALESCE(1) */ id FROM range(10)")
    assert _stored(bench, table) is not None
    spark.sql(f"DELETE FROM {table.sql_name} WHERE id = 3")
    assert _stored(bench, table) is None


def test_what_may_lie_in_the_names_of_folders_is_left_to_spark(bench: Bench) -> None:
    spark, table = bench.spark, LakeTable(bench.spark, NAME[0], "files_parted")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bronze")
    spark.sql(
        f"CREATE TABLE {table.sql_name} (id bigint, land string, at date) USING iceberg"
        " PARTITIONED BY (land, months(at))"
    )
    spark.sql(f"INSERT INTO {table.sql_name} VALUES (1, 'a', date'2026-01-01')")
    staged_files = _stored(bench, table)
    assert staged_files is not None
    assert {*staged_files.columns} == {"id", "at"}


def test_a_small_table_and_one_that_must_not_be_read_so_are_left_to_spark(bench: Bench) -> None:
    spark, table = bench.spark, LakeTable(bench.spark, NAME[0], "files_few")
    spark.sql("CREATE NAMESPACE IF NOT EXISTS lake.bronze")
    spark.sql(f"CREATE TABLE {table.sql_name} (id bigint) USING iceberg")
    spark.sql(f"INSERT INTO {table.sql_name} VALUES (1)")
    snapshot = str(table.current_snapshot())
    storage = bench.runtime.storage
    assert parquet_files.of_table(storage, table.parts[1:], snapshot) is None
    assert parquet_files.of_table(storage, table.parts[1:], snapshot, at_least=1) is not None
    assert parquet_files.of_table(storage, table.parts[1:], snapshot, at_least=2) is None


def _stored(bench: Bench, table: LakeTable) -> ParquetFiles | None:
    snapshot = str(table.current_snapshot())
    return parquet_files.of_table(bench.runtime.storage, table.parts[1:], snapshot, at_least=0)


def _agree(bench: Bench, table: LakeTable, *more: dict[str, Any]) -> None:
    """Arrow measures all of it, and says what Spark says."""
    rows, context = (
        bench.spark.table(table.sql_name),
        Context(now=datetime(2026, 1, 10, tzinfo=UTC)),
    )
    checks = planned([*ASKED, *more], context=context)
    staged_files = _stored(bench, table)
    assert staged_files is not None
    evaluation = Evaluation(rows.schema, checks, context)
    riding = evaluation.aggregates()
    assert {*jobs.measure(rows, riding, staged_files)} == {*riding}
    assert {*count_keys(rows, evaluation.keys(), staged_files)} == {*evaluation.keys()}
    by_arrow = evaluate(rows, checks, context, stored=staged_files)
    by_spark = evaluate(rows, checks, context)
    assert [(outcome.passed, outcome.broken, outcome.observed) for outcome in by_arrow] == [
        (outcome.passed, outcome.broken, outcome.observed) for outcome in by_spark
    ]


@pytest.mark.parametrize(("again", "counts"), [(None, (3000, 3000)), (2998, (3001, 3000))])
def test_keys_between_which_rows_were_taken_out_are_proved_by_their_order(
    bench: Bench, tmp_path: Path, again: int | None, counts: tuple[int, int], monkeypatch: Any
) -> None:
    """Where a row that was taken out has a key of the others, they are counted by their hashes."""
    rows = bench.spark.range(3000).selectExpr("id", "concat('n', id) AS label", "id % 7 AS part")
    for name, of in (("good", "id % 1000 <> 7"), ("apart", "id % 1000 = 7")):
        selection = rows.where(of)
        if again is not None and name == "apart":
            selection = selection.unionAll(rows.where(f"id = {again}")).coalesce(1)
        selection.write.parquet(str(tmp_path / name))
    removed_folders = [str(tmp_path / "apart"), str(tmp_path / "never written")]
    monkeypatch.setattr(parquet_files, "_FEW", 0)
    staged_files = parquet_files.of_staged(
        bench.runtime.storage,
        [str(tmp_path / "good")],
        rows.columns,
        3000,
        removed_folders=removed_folders,
        at_least=0,
    )
    assert staged_files is not None
    assert staged_files.unsorted_files
    jobs_of: list[bool] = []
    packing = jobs.work().packing
    monkeypatch.setattr(
        jobs.work(), "packing", lambda *a: jobs_of.append(a[4]) or packing(*a), raising=True
    )
    context = Context(now=datetime(2026, 1, 10, tzinfo=UTC))
    checks_of_key = planned([{"type": "unique", "columns": ["part", "id"]}], context=context)
    there = bench.spark.read.parquet(str(tmp_path / "good"), str(tmp_path / "apart"))
    found = count_keys(there, Evaluation(there.schema, checks_of_key, context).keys(), staged_files)
    assert (found[0]["rows"], found[0]["distinct"]) == counts
    assert jobs_of == ([True] if again is None else [True, False])


def test_many_rows_that_were_taken_out_are_rows_like_others(bench: Bench, tmp_path: Path) -> None:
    folders = [str(tmp_path / "good"), str(tmp_path / "apart")]
    for folder in folders:
        bench.spark.range(10).write.parquet(folder)
    for good in (folders[:1], [str(tmp_path / "never written")]):
        staged_files = parquet_files.of_staged(
            bench.runtime.storage, good, ["id"], 20, removed_folders=folders[1:], at_least=0
        )
        assert staged_files is not None
        assert staged_files.ranges
        assert not staged_files.unsorted_files


def test_times_that_lie_far_ahead_are_read_as_spark_wrote_them(
    bench: Bench, tmp_path: Path
) -> None:
    spark, folder = bench.spark.newSession(), str(tmp_path / "rows")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "INT96")
    spark.sql("SELECT timestamp'9999-12-31 23:59:59.123456Z' AS at").write.parquet(folder)
    rows = spark.read.parquet(folder)
    staged_files = parquet_files.of_staged(bench.runtime.storage, [folder], ["at"], 1, at_least=0)
    assert staged_files is not None
    found = jobs.measure(rows, {"newest": F.max("at"), "rows": F.count(F.lit(1))}, staged_files)
    assert found == {"newest": rows.first()["at"], "rows": 1}


def test_files_in_a_bucket_are_read_by_the_workers(elsewhere: Elsewhere, tmp_path: Path) -> None:
    with s3_server.running("lying") as s3:
        _judged_in(s3, elsewhere(on(s3.endpoint)), tmp_path)


def _judged_in(s3: s3_server.S3, bench: Bench, tmp_path: Path) -> None:
    rows = bench.spark.range(100).selectExpr("id", "concat('n', id % 7) AS label")
    rows.repartition(2).write.parquet(str(tmp_path / "rows"))
    client = s3.client()
    for file in (tmp_path / "rows").glob("*.parquet"):
        client.put_object(Bucket="lying", Key=f"at rest/{file.name}", Body=file.read_bytes())
    client.close()
    staged_files = parquet_files.of_staged(
        bench.runtime.storage, ["s3://lying/at rest"], rows.columns, 100, at_least=0
    )
    assert staged_files is not None
    assert s3_server.SECRET_KEY not in repr(staged_files)
    context = Context(now=datetime(2026, 1, 10, tzinfo=UTC))
    checks = planned(
        [
            {"type": "unique", "column": "id"},
            {"type": "distinct_count", "column": "label", "min": 7, "max": 7},
            {"type": "one_of", "column": "label", "values": ["n1", "n2"]},
        ],
        context=context,
    )
    evaluation = Evaluation(rows.schema, checks, context)
    assert {*count_keys(rows, evaluation.keys(), staged_files)} == {0, 1}
    outcomes = evaluate(rows, checks, context, stored=staged_files)
    assert [(outcome.passed, outcome.broken) for outcome in outcomes] == [
        (True, 0),
        (True, None),
        (False, 71),
    ]
