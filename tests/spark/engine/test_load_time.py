"""A later load is newer, whatever a clock said during an earlier one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from goldsmith.engine import load_time
from spark.engine.conftest import Bench
from spark.engine.test_stages import BRONZE

HISTORIES = """
stages:
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    write_mode: scd2
    keys: [id]
    transform_sql: SELECT id, amount FROM bronze_@
  - pipeline_id: "@"
    stage_order: 3
    source_id: "bronze_@"
    target_id: "gold_@"
    layer: gold
    write_mode: scd2
    keys: [id]
targets:
  - {target_id: "gold_@", location: "s3://lake/gold/@/", type: s3}
"""


def test_a_clock_that_was_ahead_makes_no_later_load_look_older(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(BRONZE)
    bench.apply(HISTORIES)
    ahead, real = timedelta(days=2), load_time.read_clock

    def wrong(connection: Any) -> Any:
        return real(connection) + ahead

    with monkeypatch.context() as patched:
        patched.setattr(load_time, "read_clock", wrong)
        bench.bring("a.jsonl", {"id": 1, "amount": 1})
        bench.run()
    bench.sql(
        "UPDATE stage_runs SET ended_at = strftime('%Y-%m-%d %H:%M:%f', ended_at, '+2 days')"
        " WHERE pipeline_id = '@'"
    )
    for amount in (2, 3):
        bench.bring(f"b{amount}.jsonl", {"id": 1, "amount": amount})
        bench.run()

    assert [amount for _at, amount in bench.rows("bronze", "_ingested_at", "amount")] == [1, 2, 3]
    for layer in ("silver", "gold"):
        versions = bench.rows(layer, "_valid_from", "amount", "_is_current")
        assert [row[1:] for row in versions] == [(1, False), (2, False), (3, True)]
