"""Throttled stages read and load in micro-batches; what they publish is the same as without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import duckdb
import pytest

from goldsmith.engine import faults
from goldsmith.journal.reasons import why
from goldsmith.runtime import Runtime
from plain_sql import PlainSql
from spark.engine.conftest import Bench
from spark.engine.stopping import Stopping
from stopping_stages import on

#: A burst of four records or requests makes micro-batches of two; so much comes back in no time.
PIPELINE = """
pipelines: [{pipeline_id: "@"}]
stages:
  - {pipeline_id: "@", stage_order: 1, source_id: "raw_@", target_id: "bronze_@"}
  - pipeline_id: "@"
    stage_order: 2
    source_id: "bronze_@"
    target_id: "silver_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
    write_mode: MODE
    keys: [id]
    watermark_column: at
    validation_set_id: "rules_@"
    options: {read: new}
  - pipeline_id: "@"
    stage_order: 3
    source_id: "bronze_@"
    target_id: "gold_@"
    transform_sql: SELECT id, amount, at FROM bronze_@
    write_mode: MODE
    keys: [id]
    watermark_column: at
    options: {read: new}
sources:
  - {source_id: "raw_@", s3_path: "s3://raw/@/", file_format: jsonl,
     declared_schema: "id BIGINT, amount BIGINT, at TIMESTAMP"}
targets:
  - {target_id: "bronze_@", location: "s3://lake/bronze/@/", type: s3}
  - {target_id: "silver_@", location: "s3://lake/silver/@/", type: s3}
  - {target_id: "gold_@", location: "gold.@", type: redshift}
validation_rules:
  - rule_set_id: "rules_@"
    check_def: [{type: not_null, column: amount, on_fail: quarantine}]
"""
THROTTLES = """
throttles:
  - {throttle_id: "read_@", entity_type: source, entity_id: "raw_@",
     metric: records_per_second, threshold: 100000, burst: 4}
  - {throttle_id: "files_@", entity_type: source, entity_id: "raw_@",
     metric: requests_per_minute, threshold: 600000, burst: 4}
  - {throttle_id: "bronze_@", entity_type: target, entity_id: "bronze_@",
     metric: records_per_second, threshold: 100000, burst: 4}
  - {throttle_id: "table_@", entity_type: source, entity_id: "bronze_@",
     metric: records_per_second, threshold: 100000, burst: 4}
  - {throttle_id: "silver_@", entity_type: target, entity_id: "silver_@",
     metric: records_per_second, threshold: 100000, burst: 4}
  - {throttle_id: "gold_@", entity_type: target, entity_id: "gold_@",
     metric: records_per_second, threshold: 100000, burst: 4}
  - {throttle_id: "lake_@", entity_type: group, entity_id: "s3://lake/",
     metric: GB_per_hour, threshold: 100000}
  - {throttle_id: "slots_@", entity_type: target, entity_id: "silver_@",
     metric: concurrent_stages, threshold: 1}
"""
AT = "2026-01-0{}T00:00:00"


@pytest.fixture
def reached(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each fault point was reached."""
    points: Counter[str] = Counter()
    reach = faults.reach

    def count(point: str) -> None:
        points[point] += 1
        reach(point)

    monkeypatch.setattr(faults, "reach", count)
    return points


@pytest.fixture(autouse=True)
def without_throttles(with_catalog: Runtime) -> Iterator[None]:
    """A group of one test would limit the datasets of the next."""
    yield
    with closing(PlainSql(with_catalog.settings.catalog.url)) as plain:
        plain.run("DELETE FROM throttles")


def bring(bench: Bench) -> None:
    """Files of the first run: three records each, one of which cannot be parsed."""
    for number in range(3):
        bench.bring(
            f"{number}.jsonl",
            *({"id": n, "amount": number * 10 + n, "at": AT.format(number + 1)} for n in (1, 2)),
            {"id": number + 10, "amount": None if number else 5, "at": AT.format(1)},
            *(['{"id": '] if number == 1 else []),
        )


def bring_more(bench: Bench) -> None:
    bench.bring("3.jsonl", {"id": 1, "amount": 99, "at": AT.format(8)})
    bench.bring("4.jsonl", {"id": 2, "amount": 98, "at": AT.format(1)}, {"id": 50, "amount": 1})


def gold(bench: Bench) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(bench.runtime.settings.warehouses["redshift"].path)) as warehouse:
        rows = warehouse.execute(f"SELECT * FROM gold.{bench.tag}").fetchall()
        left = warehouse.execute(
            "SELECT table_name FROM duckdb_tables() WHERE starts_with(table_name, 'load_')"
        ).fetchall()
    assert left == []
    # A version without a time starts when it was loaded.
    now = datetime.now(UTC).strftime("%Y-%m-%d")
    return sorted(tuple(str(v)[:10].replace(now, "today") for v in row) for row in rows)


def silver(bench: Bench) -> list[tuple[Any, ...]]:
    table = bench.spark.table(f"lake.silver.silver_{bench.tag}").drop("_valid_from", "_valid_to")
    return sorted(tuple(map(str, row)) for row in table.collect())


def snapshots(bench: Bench, layer: str) -> int:
    name = f"lake.{layer}.{layer}_{bench.tag}"
    return bench.spark.table(f"{name}.snapshots").count()


def used(bench: Bench, throttle: str) -> float:
    query = "SELECT sum(used) FROM throttle_usage WHERE throttle_id = ?"
    return float(bench.sql(query, f"{throttle}_{bench.tag}")[0][0] or 0)


@pytest.mark.parametrize("mode", ["append", "overwrite", "merge", "scd2"])
def test_rows_are_the_same_with_and_without_throttles(
    bench: Bench, mode: str, reached: Counter[str]
) -> None:
    free = Bench(runtime=bench.runtime, spark=bench.spark)
    for each in (free, bench):
        each.apply(PIPELINE.replace("MODE", mode))
        if each is bench:
            each.apply(THROTTLES)
        bring(each)
        each.run()
        bring_more(each)
        done = each.run()
        assert {stage.status for stage in done.values()} == {"succeeded"}
        if each is free:
            assert reached["micro-batch-read"] + reached["micro-batch-loaded"] == 0

    bronze = ("id", "amount", "at")
    assert bench.rows("bronze", "id") == free.rows("bronze", "id")
    assert silver(bench) == silver(free)
    assert gold(bench) == gold(free)
    assert bench.spark.table(f"lake.bronze.bronze_{bench.tag}").select(*bronze).count() == 12
    # Each publish is one snapshot, however many micro-batches were loaded.
    assert snapshots(bench, "bronze") == snapshots(free, "bronze")
    assert snapshots(bench, "silver") == snapshots(free, "silver")
    # Each raw file holds the budget or more; of bronze two rows at a time are read, twice.
    assert reached["micro-batch-read"] >= 5 + 2 * 5
    assert reached["micro-batch-loaded"] > 10
    # Settled with the actual numbers: the records of all files, also the malformed one.
    assert used(bench, "read") == 13
    assert used(bench, "files") == 5
    assert used(bench, "bronze") == 12
    assert used(bench, "table") == 24
    assert bench.sql("SELECT * FROM throttle_leases") == []
    assert bench.leftovers() == []


def test_a_changed_threshold_holds_from_the_next_micro_batch(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.apply(PIPELINE.replace("MODE", "append"))
    bench.apply(THROTTLES)
    bring(bench)
    sizes: list[int] = []
    reach = faults.reach

    def change(point: str) -> None:
        if point == "micro-batch-loaded":
            held = "SELECT tokens FROM throttle_leases WHERE throttle_id = 'bronze_@'"
            sizes.extend(int(row[0]) for row in bench.sql(held))
            bench.sql("UPDATE throttles SET burst = 8 WHERE throttle_id = 'bronze_@'")
        reach(point)

    monkeypatch.setattr(faults, "reach", change)
    bench.run(selection="bronze_@")
    assert sizes[0] == 2
    assert max(sizes[1:]) == 4
    assert sum(sizes) == 9


@on("sqlite", "postgresql")
def test_a_stage_that_waits_for_tokens_says_so_and_is_stopped(stopping: Stopping) -> None:
    bench = stopping.bench
    stopping.prepare()
    for name in "bcd":
        bench.bring(f"{name}.jsonl", {"id": ord(name), "amount": 1})
    bench.sql(
        "INSERT INTO throttles (throttle_id, entity_type, entity_id, metric, threshold, burst)"
        " VALUES ('slow_@', 'source', 'raw_@', 'records_per_minute', 0.5, 1)"
    )
    stopping.start()
    stopping.until(lambda: "waiting for throttle" in (stopping.step(1) or ""))

    assert "slow_@".replace("@", bench.tag) in str(stopping.step(1))
    waits = bench.sql("SELECT gate, because FROM waits WHERE pipeline_id = '@'")
    assert waits[0][0] == "throttle"
    assert waits[0][1].startswith(f"waiting for throttle slow_{bench.tag}, ")
    url = bench.runtime.settings.catalog.url
    assert "waiting for throttle slow_" in why(url, f"pipeline:{bench.tag}").because
    stopping.flag("pipeline", "@")
    stopping.let_go()
    stopping.is_clean()
    assert bench.rows("bronze", "id") == []
    assert bench.sql("SELECT * FROM waits WHERE pipeline_id = '@'") == []
    assert bench.sql("SELECT * FROM throttle_leases") == []


def test_a_row_that_is_no_rate_fails_the_stage_and_says_which(bench: Bench) -> None:
    bench.apply(PIPELINE.replace("MODE", "append"))
    bring(bench)
    bench.sql(
        "INSERT INTO throttles (throttle_id, entity_type, entity_id, metric, threshold, burst)"
        " VALUES ('bad_@', 'source', 'raw_@', 'records_per_minute', 10, 0)"
    )
    done = bench.run(selection="bronze_@")
    assert (done[1].status, done[1].error_code) == ("failed", "BadThrottle")
    assert f"bad_{bench.tag}" in str(done[1].error_message)


def test_a_retry_after_a_refusal_lowers_the_rate_once(bench: Bench) -> None:
    bench.apply(PIPELINE.replace("MODE", "append"))
    bench.apply(THROTTLES)
    bring(bench)
    retried = {"adjust": {f"{bench.tag}-1": {"lower_rate": "target", "at_once": 1}}}
    bench.run(selection="bronze_@", healing=retried)
    lowered = "SELECT throttle_id, refused_because FROM throttle_buckets WHERE effective < 1"
    because = f"stage {bench.tag}-1 was refused by its target"
    assert sorted(bench.sql(lowered)) == [
        (f"bronze_{bench.tag}", because),
        (f"lake_{bench.tag}", because),
    ]
