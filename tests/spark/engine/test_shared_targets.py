"""Rows of one target that several stages write, and of sources whose rows change."""

from __future__ import annotations

import pytest

from goldsmith.planning.history import WritersLeftOut
from spark.engine.conftest import Bench
from spark.engine.identity import TWO, ids, more, shop, statuses, two, unrecord

__all__ = ["shop", "two"]


def test_a_full_refresh_that_was_killed_after_its_first_publish_doubles_nothing(
    two: Bench,
) -> None:
    request = two.run(full_refresh=True)
    unrecord(two, request[1])
    two.sql("DELETE FROM stage_runs WHERE stage_run_id = ?", request[2].stage_run_id)
    two.sql(
        "UPDATE requests SET status = 'waiting', worker = NULL, ended_at = NULL"
        " WHERE request_id = (SELECT request_id FROM runs WHERE run_id = ?)",
        request[1].run_id,
    )
    statuses(two.run(), "skipped")
    assert ids(two, "bronze") == [1, 10]


def test_a_full_refresh_never_drops_the_rows_of_a_writer_that_is_not_enabled(two: Bench) -> None:
    two.sql("UPDATE stages SET enabled = false WHERE pipeline_id = '@' AND stage_order = 2")
    with pytest.raises(WritersLeftOut):
        two.run(full_refresh=True)
    assert ids(two, "bronze") == [1, 10]


def test_a_window_of_a_table_that_another_stage_appends_to_is_not_backfilled(bench: Bench) -> None:
    bench.apply(
        TWO.replace("targets:", "targets:\n  - {target_id: silver_@, location: s3://lake/@/s/}")
        + """
  - {pipeline_id: "@", stage_order: 3, source_id: bronze_@, target_id: silver_@, layer: silver,
     write_mode: append, watermark_column: at, transform_sql: "SELECT id, at FROM bronze_@"}
  - {pipeline_id: "@", stage_order: 4, source_id: bronze_@, target_id: silver_@, layer: silver,
     write_mode: append, watermark_column: at, transform_sql: "SELECT id, at FROM bronze_@"}
"""
    )
    more(bench)
    bench.bring("a.json", {"id": 1, "at": "2026-01-01T00:00:00Z"})
    refused = bench.run("stage:@-3", **{"from": "2026-01-01", "to": "2026-01-02"})[3]
    assert refused.error_code == "NotIdempotent"
    assert "-4 writes rows of the same times" in str(refused.error_message)


def test_a_source_that_is_renamed_is_not_loaded_again(shop: Bench) -> None:
    shop.sql("UPDATE sources SET source_id = 'new_@' WHERE source_id = 'raw_@'")
    shop.sql("UPDATE stages SET source_id = 'new_@' WHERE source_id = 'raw_@'")
    shop.bring("b.json", {"id": 3})
    statuses(shop.run(), "succeeded")
    assert ids(shop, "bronze") == [1, 2, 3]


def test_a_source_whose_path_is_spelt_otherwise_is_not_loaded_again(shop: Bench) -> None:
    shop.sql("UPDATE sources SET s3_path = 's3a://raw//@' WHERE source_id = 'raw_@'")
    shop.bring("a.json", {"id": 4})
    shop.bring("b.json", {"id": 3})
    statuses(shop.run("stage:@-1"), "succeeded")
    assert ids(shop, "bronze") == [3, 4]


def test_an_overwrite_reads_a_file_again_that_was_gone_and_came_back(bench: Bench) -> None:
    bench.apply(
        """
sources:
  - {source_id: raw_@, s3_path: "s3://raw/@/", file_format: json}
targets:
  - {target_id: bronze_@, location: "s3://lake/@/bronze/", type: iceberg}
pipelines:
  - {pipeline_id: "@"}
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: raw_@, target_id: bronze_@, layer: bronze,
     write_mode: overwrite}
"""
    )
    gone = bench.bring("a.json", {"id": 1})
    bench.bring("b.json", {"id": 2})
    bench.run()
    content = gone.read_bytes()
    gone.unlink()
    bench.bring("c.json", {"id": 3})
    bench.run()
    assert ids(bench, "bronze") == [2, 3]
    gone.write_bytes(content)
    statuses(bench.run(), "succeeded")
    assert ids(bench, "bronze") == [1, 2, 3]


def test_a_location_that_changes_and_changes_back_loads_nothing_twice(shop: Bench) -> None:
    for location, number in (("b", 3), ("b", 4), ("bronze", 5), ("bronze", 6)):
        shop.sql(
            f"UPDATE targets SET location = 's3://lake/@/{location}/' WHERE target_id = 'silver_@'"
        )
        shop.bring(f"{number}.json", {"id": number})
        shop.run("@")
    assert ids(shop, "silver") == ids(shop, "bronze") == [1, 2, 3, 4, 5, 6]
