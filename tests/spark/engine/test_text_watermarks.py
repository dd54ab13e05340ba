"""A watermark that is text is compared as a number or a time, never letter by letter."""

from __future__ import annotations

import pytest

from spark.engine.conftest import Bench

BRONZE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    transform_sql: SELECT id, version, amount FROM bronze_@
    write_mode: merge
    keys: [id]
    watermark_column: version
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, version STRING, amount BIGINT"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
"""
TIMES = ("2026-01-09T00:00:00+02:00", "2026-01-08T23:00:00Z")


def row(version: str | None, amount: int) -> dict[str, object]:
    return {"id": 1, "version": version, "amount": amount}


@pytest.mark.parametrize(
    ("older", "newer"),
    [("9", "10"), pytest.param("-1.5", "+2", marks=pytest.mark.soak), TIMES],
)
def test_the_newer_version_wins_in_one_load_and_over_the_table(
    bench: Bench, older: str, newer: str
) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", row(None, 0), row(newer, 2), row(older, 1))
    bench.run()
    assert bench.rows("silver", "version", "amount") == [(newer, 2)]
    bench.bring("b.jsonl", row(older, 3))
    bench.run()
    assert bench.rows("silver", "version", "amount") == [(newer, 2)]
    bench.bring("c.jsonl", row(newer, 4))
    bench.run()
    assert bench.rows("silver", "version", "amount") == [(newer, 4)]


def test_versions_that_nobody_can_compare_fail_the_stage_and_publish_nothing(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", row("v9", 1))
    bench.run()  # one row of a key is compared with nothing
    bench.bring("b.jsonl", row("v10", 2))
    failed = bench.run()[2]

    assert (failed.status, failed.error_code) == ("failed", "WatermarkNotComparable")
    assert "'version'" in str(failed.error_message)
    assert bench.rows("silver", "version") == [("v9",)]
    assert bench.leftovers() == []


def test_two_rows_of_one_load_that_nobody_can_compare_fail_the_stage(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", row("2026-01-02", 1), row("20260103", 2))
    failed = bench.run()[2]

    assert (failed.status, failed.error_code) == ("failed", "WatermarkNotComparable")


@pytest.mark.parametrize("text", ["12:30", "7", "soon"])
def test_a_history_begins_at_a_time_and_not_at_whatever_casts_to_one(
    bench: Bench, text: str
) -> None:
    bench.apply(BRONZE.replace("write_mode: merge", "write_mode: scd2"))
    bench.bring("a.jsonl", row(text, 1))
    failed = bench.run()[2]

    assert (failed.status, failed.error_code) == ("failed", "WatermarkNotComparable")
