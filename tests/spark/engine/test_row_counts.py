"""The numbers a stage run prints add up, whatever its write mode."""

from __future__ import annotations

import pytest

from goldsmith.cli.rows import counts_text, row_counts
from goldsmith.engine.audit.dataset_audit import sample_dataset
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE

CHECKED = """
validation_rules:
  - rule_set_id: "rules_@"
    check_def:
      - {type: not_null, column: id, on_fail: quarantine}
      - {type: in_range, column: amount, min: 0, on_fail: drop}
"""
TARGET = '  - {target_id: "gold_@", location: "analytics.gold_@", type: redshift}\n'
STAGE = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "TARGET_@"
    write_mode: MODE
    keys: [id]
    watermark_column: at
    validation_set_id: "rules_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
"""
MORNING, NOON = "2026-01-01T08:00:00", "2026-01-01T12:00:00"


#: What `make test` tries; `make soak` tries every mode into both.
QUICK = [("append", "gold"), ("overwrite", "silver"), ("merge", "gold"), ("scd2", "silver")]


@pytest.mark.parametrize(
    ("mode", "target"),
    [
        pytest.param(mode, target, marks=() if (mode, target) in QUICK else pytest.mark.soak)
        for mode in ("append", "overwrite", "merge", "scd2")
        for target in ("silver", "gold")
    ],
)
def test_produced_is_published_quarantined_dropped_and_left_out(
    bench: Bench, mode: str, target: str
) -> None:
    bench.apply(BRONZE + TARGET + CHECKED)
    bench.apply(STAGE.replace("MODE", mode).replace("TARGET", target))
    bench.bring("a.jsonl", {"id": 1, "amount": 1, "at": NOON}, {"id": 2, "amount": 1, "at": NOON})
    first = bench.run()[2]
    assert first.status == "succeeded", first.error_message
    bench.bring(
        "b.jsonl",
        {"id": 1, "amount": 2, "at": MORNING},  # older than what is there
        {"id": 3, "amount": 1, "at": MORNING},
        {"id": 3, "amount": 2, "at": NOON},  # the same key again
        {"id": None, "amount": 1, "at": NOON},
        {"id": 4, "amount": -1, "at": NOON},
    )
    second = bench.run()[2]
    for stage_run in (first, second):
        counts = row_counts(stage_run)
        assert counts is not None
        apart = counts.quarantined + counts.dropped + counts.left_out
        assert counts.produced == counts.published + apart
        assert min(counts.published, counts.left_out) >= 0
    counts = row_counts(second)
    assert counts is not None
    assert (counts.quarantined, counts.dropped) == (1, 1)
    assert counts.left_out == (2 if mode == "merge" else 0)
    text = counts_text(second, by_sql=True)
    assert f"{counts.produced} rows produced, 1 quarantined, 1 dropped" in text
    assert ("left out (older or repeated)" in text) == (mode == "merge")


def test_a_sample_of_raw_files_and_of_a_warehouse_table_shows_rows(bench: Bench) -> None:
    bench.apply(BRONZE + TARGET + CHECKED)
    bench.apply(STAGE.replace("MODE", "append").replace("TARGET", "gold"))
    rows, resources = bench.runtime.catalog.snapshot(), bench.resources()
    assert sample_dataset(resources, rows, f"raw_{bench.tag}", most=5) == []
    assert sample_dataset(resources, rows, f"gold_{bench.tag}", most=5) == []
    bench.bring("a.jsonl", {"id": 1, "amount": 1, "at": NOON}, {"id": 2, "amount": 1, "at": NOON})
    bench.run()
    raw = sample_dataset(resources, rows, f"raw_{bench.tag}", most=5)
    assert sorted(row["id"] for row in raw) == [1, 2]
    [sample] = sample_dataset(resources, rows, f"gold_{bench.tag}", most=1)
    assert sample["amount"] == 1
    assert not bench.leftovers()
