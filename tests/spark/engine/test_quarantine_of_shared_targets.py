"""Quarantined rows of a target that several stages write, and of a target that is moved."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goldsmith.engine import faults
from goldsmith.engine.quarantine import quarantine_store
from spark.engine.conftest import Bench
from spark.engine.identity import rename, statuses
from spark.engine.test_moving_datasets import Killed, kill_at, moved
from spark.engine.test_quarantine import RULES
from spark.engine.test_quarantine_over_time import ABS, QUARANTINE, live, live_ids

DAY = {"from": "2026-01-01T00:00:00+00:00", "to": "2026-01-02T00:00:00+00:00"}
COLUMNS = 'declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"'
WRITES = "layer: bronze, write_mode: merge, keys: [id], watermark_column: at"
TWO_MERGE = f"""
sources:
  - {{source_id: raw_@, s3_path: "s3://raw/@/", file_format: jsonl, {COLUMNS}}}
  - {{source_id: more_@, s3_path: "s3://raw/SECOND/", file_format: jsonl, {COLUMNS}}}
targets:
  - {{target_id: bronze_@, location: "s3://lake/@/bronze/", type: s3}}
pipelines:
  - {{pipeline_id: "@"}}
stages:
  - {{pipeline_id: "@", stage_order: 1, source_id: raw_@, target_id: bronze_@, {WRITES},
     validation_set_id: "rule_@"}}
  - {{pipeline_id: "@", stage_order: 2, source_id: more_@, target_id: bronze_@, {WRITES},
     validation_set_id: "rule_@", transform_sql: "SELECT id + 100 AS id, amount, at,
     _source_file FROM more_@"}}
"""


def merging(bench: Bench, second: str) -> None:
    """Two stages that merge into one target, from the same files or from others."""
    rules = RULES.split("stages:")[0].replace("CHECKS", json.dumps([QUARANTINE]))
    bench.apply(rules + TWO_MERGE.replace("SECOND", second))


def row(number: int, amount: int, day: int = 1) -> dict[str, object]:
    return {"id": number, "amount": amount, "at": f"2026-01-{day:02}T10:00:00Z"}


def test_stages_that_merge_the_same_files_into_one_target_keep_each_others_quarantined_rows(
    bench: Bench,
) -> None:
    merging(bench, "@")
    bench.bring("a.jsonl").unlink()
    Path(bench.runtime.settings.address(f"s3://raw/{bench.tag}/2026-01-01")).mkdir()
    bench.bring("2026-01-01/a.jsonl", row(1, -1), row(2, 2))
    statuses(bench.run("stage:@-1"), "succeeded")
    statuses(bench.run("stage:@-2"), "succeeded")
    assert live_ids(bench) == [1, 101], "the first run of the second stage took the row"

    statuses(bench.run("stage:@-2", **DAY), "succeeded")
    assert live_ids(bench) == [1, 101], "the backfill took the row of the other stage"

    bench.bring("2026-01-01/a.jsonl", row(1, 10), row(2, 2))
    statuses(bench.run("stage:@-2"), "succeeded")
    assert live_ids(bench) == [1], "the rewritten file was read by the other stage only"

    done = bench.run("stage:@-2", replay={"sql": ABS})[2]
    assert done.status == "skipped", "the row is not of this stage"
    statuses(bench.run("stage:@-1", replay={"sql": ABS}), "succeeded")
    assert live(bench) == []
    assert bench.rows("bronze", "id", "amount") == [(1, 1), (2, 2), (101, 10), (102, 2)]
    statuses(bench.run("stage:@-1"), "succeeded")
    assert bench.rows("bronze", "id", "amount")[0] == (1, 10)


def test_a_window_of_one_stage_takes_no_quarantined_row_of_another(bench: Bench) -> None:
    merging(bench, "@")
    bench.apply(
        """
targets:
  - {target_id: silver_@, location: "s3://lake/@/silver/", type: s3}
stages:
"""
        + "".join(
            f"""
  - {{pipeline_id: "@", stage_order: {order}, source_id: bronze_@, target_id: silver_@,
     write_mode: merge, keys: [id], watermark_column: at, validation_set_id: "rule_@",
     transform_sql: "SELECT id + {plus} AS id, -amount AS amount, at FROM bronze_@"}}"""
            for order, plus in ((3, 0), (4, 1000))
        )
    )
    bench.bring("a.jsonl", row(1, 1), row(2, 2, day=2))
    statuses(bench.run(), "succeeded")
    every = [1, 2, 101, 102, 1001, 1002, 1101, 1102]
    assert live_ids(bench, "silver") == every
    statuses(bench.run("stage:@-4", **DAY), "succeeded")
    assert live_ids(bench, "silver") == every
    some = {"sql": f"{ABS} WHERE id IN (1, 2)"}
    statuses(bench.run("stage:@-3", replay=some), "succeeded")
    assert live_ids(bench, "silver") == [one for one in every if one > 2]
    statuses(bench.run("stage:@-3", **DAY), "succeeded")
    assert live_ids(bench, "silver") == [1, *every[2:]], "row 1 is of the window, and quarantined"


@pytest.mark.parametrize("killed_at", ["move-renamed", "move-quarantine-renamed"])
def test_a_move_that_was_killed_leaves_live_rows_that_no_discard_takes(
    bench: Bench, killed_at: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    merging(bench, "@_more")
    bench.bring("a.jsonl", row(1, -1), row(2, 2))
    statuses(bench.run("stage:@-1"), "succeeded")
    rename(bench, "bronze_@", "bronze_new_@")
    with monkeypatch.context() as patched:
        patched.setattr(faults, "reach", kill_at(killed_at))
        with pytest.raises(Killed):
            moved(bench, "bronze_@", "bronze_new_@")
    storage, journal = bench.runtime.storage, bench.runtime.journal
    named = [f"bronze_{bench.tag}", f"bronze_new_{bench.tag}"]
    held = quarantine_store.quarantined_rows(storage, journal, named)
    assert [(one.rows, one.unpublished) for one in held] == [(1, 0)]
    assert quarantine_store.discard(storage, journal, held[0].dataset, unpublished=True) == 0

    moved(bench, "bronze_@", "bronze_new_@")
    held = quarantine_store.quarantined_rows(storage, journal, named)
    assert [(one.dataset, one.rows, one.unpublished) for one in held] == [(named[1], 1, 0)]
    statuses(bench.run("stage:@-1", replay={"sql": ABS}), "succeeded")
    table = bench.spark.table(f"lake.bronze.bronze_new_{bench.tag}")
    assert sorted(one["id"] for one in table.collect()) == [1, 2]
