from __future__ import annotations

from datetime import datetime

import pytest

from goldsmith.worker.loop import EverythingStopped
from spark.engine.conftest import Bench

BRONZE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
sources:
  - source_id: "raw_@"
    s3_path: "s3://raw/@/"
    file_format: jsonl
    declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
"""
SILVER = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
"""
MERGED = SILVER + "    write_mode: merge\n    keys: [id]\n    watermark_column: at\n"


def test_only_new_files_are_read_and_each_once(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    assert bench.run()[1].rows_written == 1
    assert bench.run()[1].status == "skipped"
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    assert bench.run()[1].rows_written == 1

    assert bench.rows("bronze", "id", "_source_file") == [
        (1, f"s3://raw/{bench.tag}/a.jsonl"),
        (2, f"s3://raw/{bench.tag}/b.jsonl"),
    ]


def test_a_file_rewritten_in_place_replaces_the_rows_it_gave(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    bench.run()
    bench.bring("a.jsonl", {"id": 1, "amount": 11}, {"id": 3, "amount": 30})
    bench.run()

    assert bench.rows("bronze", "id", "amount") == [(1, 11), (2, 20), (3, 30)]


def test_records_that_cannot_be_parsed_are_kept_with_their_text(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, '{"id": 2, "amou')
    done = bench.run()[1]

    assert (done.rows_written, done.rows_quarantined) == (1, 1)
    kept = bench.spark.table(f"lake.quarantine.bronze_{bench.tag}").collect()
    assert [(row["_text"], row["_stage_run_id"]) for row in kept] == [
        ('{"id": 2, "amou', done.stage_run_id)
    ]
    # The ids of two runs begin alike, which is all that a file's statistics know of them.
    bench.bring("b.jsonl", '{"id": 3, "amou')
    assert bench.run()[1].rows_quarantined == 1
    assert bench.spark.table(f"lake.quarantine.bronze_{bench.tag}").count() == 2


def test_a_merge_keeps_the_newest_row_of_each_key_whatever_the_order_of_arrival(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    bench.apply(MERGED)
    bench.bring("a.jsonl", {"id": 1, "amount": 10, "at": "2026-01-02"})
    bench.run()
    late = {"id": 1, "amount": 5, "at": "2026-01-01"}
    bench.bring("b.jsonl", late, {"id": 2, "amount": 20, "at": "2026-01-01"})
    bench.run()
    bench.bring("c.jsonl", {"id": 2, "amount": 25, "at": "2026-01-03"})
    bench.run()

    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 25)]


@pytest.mark.parametrize("mode", ["merge", "scd2"])
def test_a_column_of_maps_can_be_kept_by_key(bench: Bench, mode: str) -> None:
    bench.apply(BRONZE.replace("amount BIGINT", "amount MAP<STRING, BIGINT>"))
    bench.apply(MERGED.replace("merge", mode))
    first, second = "2026-01-01T00:00:00", "2026-01-02T00:00:00"
    bench.bring("a.jsonl", {"id": 1, "amount": {"a": 1}, "at": first})
    bench.bring("b.jsonl", {"id": 1, "amount": {"a": 1}, "at": second})
    done = bench.run()
    assert done[2].status == "succeeded", done[2].error_message
    assert done[2].rows_read == 2
    bench.bring("c.jsonl", {"id": 1, "amount": {"a": 2}, "at": "2026-01-03T00:00:00"})
    bench.run()

    now = "_is_current" if mode == "scd2" else "true"
    rows = bench.spark.table(f"lake.silver.silver_{bench.tag}").where(now).select("amount")
    assert [row[0] for row in rows.collect()] == [{"a": 2}]


def test_sql_that_asks_for_chance_can_be_merged(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(MERGED.replace("SELECT id, amount, at", "SELECT id, uuid() AS amount, at"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10, "at": "2026-01-02"})

    assert bench.run()[2].rows_written == 1


def test_scd2_keeps_versions_also_late_and_repeated_ones(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(MERGED.replace("write_mode: merge", "write_mode: scd2"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10, "at": "2026-01-01"})
    bench.run()
    bench.bring("b.jsonl", {"id": 1, "amount": 30, "at": "2026-01-05"})
    bench.run()
    late = {"id": 1, "amount": 20, "at": "2026-01-03"}
    repeated = {"id": 1, "amount": 30, "at": "2026-01-07"}
    bench.bring("c.jsonl", late, repeated)
    bench.run()

    first, third, fifth, seventh = (datetime(2026, 1, day) for day in (1, 3, 5, 7))
    found = bench.rows("silver", "amount", "_valid_from", "_valid_to", "_is_current")
    # What says nothing new is valid for no time at all.
    assert (30, seventh, seventh, False) in found
    assert [row for row in found if row[1] != row[2]] == [
        (10, first, third, False),
        (20, third, fifth, False),
        (30, fifth, None, True),
    ]


RULE = """
validation_rules:
  - rule_set_id: "rule_@"
    check_def: [{type: in_range, column: amount, min: 0, severity: SEVERITY}]
stages:
  - pipeline_id: "@"
    stage_order: 1
    source_id: "raw_@"
    target_id: "bronze_@"
    validation_set_id: "rule_@"
"""


def test_a_critical_check_that_fails_publishes_nothing_and_a_later_run_is_right(
    bench: Bench,
) -> None:
    bench.apply(BRONZE)
    bench.apply(RULE.replace("SEVERITY", "critical"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    bad = bench.bring("b.jsonl", {"id": 2, "amount": -1})
    failed = bench.run()[1]

    assert (failed.status, failed.error_code) == ("failed", "CheckFailed")
    assert "in 1 of 1 rows" in str(failed.error_message)
    assert bench.rows("bronze", "id") == [(1,)]

    bad.unlink()
    bench.bring("b.jsonl", {"id": 2, "amount": 1})
    assert bench.run()[1].status == "succeeded"
    assert bench.rows("bronze", "id") == [(1,), (2,)]


def test_a_warning_publishes_and_is_written_down(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(RULE.replace("SEVERITY", "warning"))
    bench.bring("a.jsonl", {"id": 1, "amount": -10})
    done = bench.run()[1]

    assert done.status == "succeeded"
    with bench.runtime.journal.reading() as connection:
        verdict = connection.exec_driver_sql(
            "SELECT passed, broken FROM v_checks WHERE stage_run_id = ?", (done.stage_run_id,)
        ).one()
    assert tuple(verdict) == (0, 1)


def test_a_failed_stage_blocks_what_reads_its_target(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(RULE.replace("SEVERITY", "critical"))
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": -10})
    done = bench.run()

    assert (done[1].status, done[2].status) == ("failed", "blocked")
    assert f"{bench.tag}-1" in str(done[2].because)


WIDER = '"id BIGINT, amount BIGINT, at TIMESTAMP, channel STRING"'


def test_a_new_column_evolves_bronze(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    bench.apply(BRONZE.replace('"id BIGINT, amount BIGINT, at TIMESTAMP"', WIDER))
    bench.bring("b.jsonl", {"id": 2, "amount": 20, "channel": "app"})
    bench.run()

    assert "channel" in bench.columns("bronze")
    assert (
        bench.spark.table(f"lake.bronze.bronze_{bench.tag}").where("channel = 'app'").count() == 1
    )


def test_a_new_column_stops_a_frozen_stage(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(SILVER)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()
    bench.apply(SILVER.replace("SELECT id, amount, at", "SELECT id, amount, at, 1 AS more"))
    bench.bring("b.jsonl", {"id": 2, "amount": 20})
    failed = bench.run()[2]

    assert failed.error_code == "SchemaMismatch"
    assert "more" in str(failed.error_message)
    assert bench.columns("silver") == ["id", "amount", "at"]


def test_wrong_sql_is_one_sentence_with_the_stage_and_the_line(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(
        SILVER.replace(
            "SELECT id, amount, at FROM bronze_@", '"SELECT id,\\n  amout\\nFROM bronze_@"'
        )
    )
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    failed = bench.run()[2]

    assert failed.error_code == "ColumnUnknown"
    assert f"Stage {bench.tag}-2 (silver_{bench.tag}" in str(failed.error_message)
    assert "line 2" in str(failed.error_message)


def test_a_full_refresh_reads_everything_again(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(MERGED)
    bench.bring("a.jsonl", {"id": 1, "amount": 10, "at": "2026-01-02"})
    bench.bring("b.jsonl", {"id": 2, "amount": 20, "at": "2026-01-02"})
    bench.run()
    bench.run(full_refresh=True)

    assert bench.rows("bronze", "id") == [(1,), (2,)]
    assert bench.rows("silver", "id", "amount") == [(1, 10), (2, 20)]
    assert {run.status for run in bench.run().values()} == {"skipped"}


def test_a_few_rows_can_be_tried_out_and_nothing_is_published_or_lost(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": 20})
    tried = bench.run(limit=1)[1]

    assert (tried.status, tried.because) == (
        "skipped",
        "tried out with 1 row; nothing was published",
    )
    assert bench.rows("bronze", "id") == []
    assert bench.run()[1].rows_written == 2


def test_a_row_stops_a_pipeline_and_another_row_lets_it_go_on(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.apply('pipelines: [{pipeline_id: "@", enabled: false}]')
    with pytest.raises(EverythingStopped):
        bench.run()
    bench.apply('pipelines: [{pipeline_id: "@", enabled: true}]')
    bench.run()

    assert bench.rows("bronze", "id") == [(1,)]


def test_a_file_that_is_cut_off_is_named_and_nothing_is_lost(bench: Bench) -> None:
    bench.apply(BRONZE.replace("file_format: jsonl", "file_format: parquet"))
    broken = bench.bring("a.parquet", "PAR1 and then nothing")
    failed = bench.run()[1]

    assert failed.error_code == "FileTruncated"
    assert f"s3://raw/{bench.tag}/a.parquet" in str(failed.error_message)
    broken.unlink()
    bench.spark.createDataFrame([(1, 2)], "id BIGINT, amount BIGINT").toPandas().to_parquet(broken)
    assert bench.run()[1].rows_written == 1


def test_an_error_after_the_publish_is_no_failure_and_nothing_is_loaded_twice(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_args: object, **_more: object) -> None:
        raise OSError("the journal is gone for a moment")

    bench.apply(BRONZE)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    with monkeypatch.context() as broken:
        broken.setattr("goldsmith.engine.stage_record.record", fails)
        assert bench.run()[1].status == "succeeded"

    assert bench.run()[1].status == "skipped"
    assert bench.rows("bronze", "id") == [(1,)]


GOLD_AND_BACK = """
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "gold_@"}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "gold_@"
    target_id: "silver_@"
    write_mode: overwrite
    transform_sql: SELECT id, amount, at FROM gold_@
targets:
  - {target_id: "gold_@", location: "shop.gold_@", type: redshift}
"""


def test_what_was_unloaded_from_a_warehouse_is_taken_away(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(GOLD_AND_BACK)
    bench.bring("a.jsonl", {"id": 1, "amount": 10})
    bench.run()

    assert bench.rows("silver", "id", "amount") == [(1, 10)]
    assert bench.leftovers() == []


BY_DAY = (
    SILVER
    + """\
    write_mode: overwrite
    partition_by: [days(at)]
    options: {overwrite: partitions, read: new}
"""
)
CHECKED = """
validation_rules:
  - rule_set_id: "positive_@"
    check_def:
      - {type: in_range, column: amount, min: 0, on_fail: quarantine}
"""


@pytest.mark.parametrize("checked", [False, True])
def test_only_the_partitions_that_rows_fall_into_are_replaced(bench: Bench, checked: bool) -> None:
    bench.apply(BRONZE)
    bench.apply(CHECKED)
    bench.apply(BY_DAY + ('    validation_set_id: "positive_@"\n' if checked else ""))
    bench.bring(
        "a.jsonl",
        {"id": 1, "amount": 10, "at": "2026-01-01T08:00:00"},
        {"id": 2, "amount": 20, "at": "2026-01-01T20:00:00"},
        {"id": 3, "amount": 30, "at": "2026-01-02T08:00:00"},
        {"id": 4, "amount": 40},
    )
    bench.run()
    bench.bring("b.jsonl", {"id": 5, "amount": 50, "at": "2026-01-01T10:00:00"})
    assert bench.run()[2].rows_written == 1
    assert bench.rows("silver", "id") == [(3,), (4,), (5,)]
    # Rows of no day are a partition too.
    bench.bring("c.jsonl", {"id": 6, "amount": 60}, {"id": 7, "amount": -1})
    assert bench.run()[2].rows_quarantined == (1 if checked else 0)
    assert bench.rows("silver", "id") == [(3,), (5,), (6,), *([] if checked else [(7,)])]


def test_no_rows_replace_no_partition(bench: Bench) -> None:
    bench.apply(BRONZE)
    bench.apply(BY_DAY.replace("FROM bronze_@", "FROM bronze_@ WHERE amount > 0"))
    bench.bring("a.jsonl", {"id": 1, "amount": 10, "at": "2026-01-01T08:00:00"})
    bench.run()
    bench.bring("b.jsonl", {"id": 2, "amount": -1, "at": "2026-01-01T08:00:00"})
    done = bench.run()[2]
    assert (done.status, done.rows_written) == ("succeeded", 0)
    assert bench.rows("silver", "id") == [(1,)]
    assert bench.run()[2].status == "skipped"


def test_other_engines_read_what_was_published(bench: Bench) -> None:
    import duckdb

    from goldsmith.storage.lake_tables import table_at

    bench.apply(BRONZE)
    bench.apply(MERGED)
    bench.bring("a.jsonl", {"id": 1, "amount": 10}, {"id": 2, "amount": 20})
    bench.run()
    bench.bring("b.jsonl", {"id": 2, "amount": 21, "at": "2026-01-02"}, {"id": 3, "amount": 30})
    bench.run()
    table = table_at(bench.runtime.storage, ("silver", f"silver_{bench.tag}"))
    assert table is not None
    by_arrow = table.scan().to_arrow().sort_by("id").select(["id", "amount"]).to_pylist()
    assert by_arrow == [{"id": n, "amount": amount} for n, amount in ((1, 10), (2, 21), (3, 30))]
    with duckdb.connect() as connection:
        table.scan().to_duckdb("orders", connection=connection)
        found = connection.execute('SELECT count(*), sum(amount), max("at") FROM orders').fetchone()
    assert found is not None
    assert found[:2] == (3, 61)
